use std::fs;

use carson_tests::fleet::TestFleet;

use super::{COMMIT, asks, crew, ends, large_issue, member, pull, reason, sql, sql_text, upkeep};
use crate::faults;

/// A fleet with a steward, and a chat that does not answer: what it is told waits in the outbox.
fn household(session: &str) -> TestFleet {
    let fleet = faults::fleet(session, "");
    let role = "kind = \"steward\"\ntitle = \"Brief\"\n";
    let dir = fleet.home().join("roles/steward");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("role.toml"), role).unwrap();
    let settings = fleet.home().join("carson.toml");
    let token = fleet.home().join("slack.token");
    fs::write(&token, "xoxb-not-a-real-one\n").unwrap();
    fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let text = fs::read_to_string(&settings).unwrap();
    let slack = "[slack]\napi_base = \"http://127.0.0.1:9\"\nchannel = \"#fleet\"\ntoken_file = \"slack.token\"\n";
    fs::write(&settings, format!("{text}\n{slack}")).unwrap();
    fleet
}

fn posts(fleet: &TestFleet) -> i64 {
    fleet.ok(&["status", "--json"])["outbox"].as_i64().unwrap()
}

#[test]
fn what_happened_is_told_once_and_nothing_when_nothing_did() {
    let fleet = household(COMMIT);
    assert_eq!(
        reason(&ends(&fleet, "steward", "SILENT")),
        "nothing happened"
    );
    assert_eq!(posts(&fleet), 0);
    let number = pull(&fleet, 0);
    let before = posts(&fleet);
    assert_eq!(
        reason(&ends(&fleet, "steward", "SILENT")),
        "told of 1 firing"
    );
    assert_eq!(posts(&fleet), before + 1);
    let told = fleet.carson(&["brief"]).stdout;
    assert!(
        told.contains(&format!(
            "Ready to read:\n• pull request #{number} of widget, \"Work\""
        )),
        "{told}"
    );
    let only = "Needs you:\n• no daemon runs: nothing fires (carson daemon)\n\n";
    assert!(told.contains(only), "{told}");
    // It was told.
    assert_eq!(
        reason(&ends(&fleet, "steward", "SILENT")),
        "nothing happened"
    );
    assert_eq!(posts(&fleet), before + 1);
    let json = fleet.ok(&["brief", "--since", "1h", "--json"]);
    assert_eq!(
        (&json["sums"]["firings"], &json["sums"]["silent"]),
        (&1.into(), &3.into()),
        "{json:#}"
    );
}

#[test]
fn what_waits_for_a_person_comes_first() {
    let fleet = crew(
        "planner",
        &asks(r#"{"kind": "issue", "title": "Part", "body": "One."}"#),
        "[grant]\nissues = 1\nissues_per_day = 5\napproval = true\n",
    );
    member(
        &fleet,
        "triager",
        "echo '[BLOCKED] the @door is locked'",
        "",
    );
    let spec = large_issue(&fleet);
    ends(&fleet, "planner", "OK");
    ends(&fleet, "triager", "BLOCKED");
    upkeep(&fleet);
    let told = fleet.carson(&["brief"]).stdout;
    assert!(told.starts_with("Needs you:"), "{told}");
    let approve = format!("carson approve {spec} --repo widget");
    assert!(
        told.contains(&approve) && told.contains("the session could not go on"),
        "{told}"
    );
    assert_eq!(fleet.carson(&["approve", &spec.to_string()]).code, Some(0));
    assert!(!fleet.carson(&["brief"]).stdout.contains(&approve));
}

#[test]
fn a_role_that_fails_again_and_again_is_one_line() {
    let fleet = household("echo no; exit 9");
    for _ in 0..3 {
        assert_eq!(fleet.fire("hand").code, Some(13));
    }
    let told = fleet.carson(&["brief", "--since", "today"]).stdout;
    assert_eq!(told.matches("• hand on widget#1 ").count(), 1, "{told}");
    assert!(told.contains("3 firings, the last one FAILED"), "{told}");
    assert!(told.contains("carson show"), "{told}");
}

#[test]
fn the_first_of_a_week_tells_of_the_last_one() {
    let fleet = household(COMMIT);
    pull(&fleet, 0);
    let told = || {
        ends(&fleet, "steward", "SILENT");
        let told = sql_text(&fleet, "SELECT body FROM outbox ORDER BY seq DESC LIMIT 1");
        told.contains("The last 7 days: 1 firing")
    };
    // The first ever has no week behind it, and nothing of a week is told twice.
    assert!(!told());
    sql(
        &fleet,
        "UPDATE firing SET claimed_at = strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now', '-8 days') WHERE role = 'steward'",
    );
    assert!(told());
    assert_eq!(
        reason(&ends(&fleet, "steward", "SILENT")),
        "nothing happened"
    );
}

/// What needs a person is what stands now: not what somebody dealt with, nothing twice, and every stop.
#[test]
fn what_was_dealt_with_needs_nobody_and_what_stops_the_fleet_does() {
    let fleet = household("test -e /nowhere || echo '[BLOCKED] no database'");
    assert_eq!(fleet.fire("hand").code, Some(11));
    let told = fleet.carson(&["brief"]).stdout;
    let carries = "widget#1 \"Work\" carries needs:human (hand: ";
    assert_eq!(told.matches("widget#1").count(), 1, "{told}");
    assert!(told.contains(carries), "{told}");
    assert_eq!(fleet.carson(&["retry", "1"]).code, Some(0));
    let told = fleet.carson(&["brief"]).stdout;
    assert!(!told.contains("widget#1"), "{told}");
    assert_eq!(
        fleet.carson(&["pause", "--reason", "holiday"]).code,
        Some(0)
    );
    let told = fleet.carson(&["brief"]).stdout;
    assert!(
        told.contains("• the fleet is paused: holiday (carson resume)"),
        "{told}"
    );
}
