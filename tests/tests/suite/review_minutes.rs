//! People's reading time is the budget: while the fleet's pull requests of a repository take as many
//! minutes as people have there in a day, nothing new is begun.

use std::fs;

use carson_core::Clock;
use carson_tests::fleet::TestFleet;
use chrono::TimeDelta;
use serde_json::Value;

use crate::faults::{fire, fleet};

/// Sixty lines in a file of its own: twelve minutes. The first firing does half.
const AGENT: &str = "seq 60 > \"$RANDOM$RANDOM.txt\"; git add .; git commit --quiet -m Work\n\
     grep -q 'do half' \"$CARSON_TMP/prompt\" && [ ! -e \"${0%/cli/agent}/shared/half\" ] \
     && { touch \"${0%/cli/agent}/shared/half\"; echo '[PARTIAL] half'; exit; }\necho '[OK] done'";

const BOUND: &str = "review_minutes_per_day";

fn settings(fleet: &TestFleet, change: impl FnOnce(String) -> String) {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, change(text)).unwrap();
}

fn bounded(minutes: u32) -> TestFleet {
    let fleet = fleet(AGENT, "[limits]\nmax_open_prs = 100\n");
    let section = format!("[repos.widget]\n{BOUND} = {minutes}\n");
    settings(&fleet, |text| {
        text.replacen("[repos.widget]\n", &section, 1)
    });
    fleet
}

fn took(fleet: &TestFleet) -> String {
    let row = fire(fleet);
    match row["work"].as_str() {
        Some(work) => format!("{work}: {}", row["outcome"].as_str().unwrap()),
        None => format!(
            "{}: {}",
            row["skip"].as_str().unwrap_or_default(),
            row["reason"].as_str().unwrap()
        ),
    }
}

/// What `carson why` says of it, if it stands.
fn stop(fleet: &TestFleet) -> Option<(String, String)> {
    let why = fleet.ok(&["why", "hand", "--json"]);
    let mut stops = why["stops"].as_array().unwrap().iter();
    let stop = stops.find(|stop| stop["stop"] == "review-minutes")?;
    let text = |key: &str| stop[key].as_str().unwrap().to_owned();
    Some((text("why"), text("change")))
}

fn ready(fleet: &TestFleet) -> Vec<u64> {
    let pulls = fleet.pulls().into_iter();
    let ready = pulls.filter(|pull| pull["state"] == "open" && pull["draft"] == false);
    ready.map(|pull| pull["number"].as_u64().unwrap()).collect()
}

fn merge(fleet: &TestFleet, number: u64) {
    let number = number.to_string();
    let _ = fleet.ok(&["pr", "merge", &number, "--yes", "--json"]);
}

/// As if it had been opened earlier.
fn opened_earlier(fleet: &TestFleet, pull: u64, hours: i64) {
    let path = fleet
        .home()
        .join(format!("forge/widget/pulls/{pull:04}.md"));
    let text = fs::read_to_string(&path).unwrap();
    let at = (Clock::system().now() - TimeDelta::hours(hours)).to_rfc3339();
    let lines: Vec<String> = text
        .lines()
        .map(|line| match line.starts_with("created_at") {
            true => format!("created_at = \"{at}\""),
            false => line.to_owned(),
        })
        .collect();
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn who_has_enough_to_read_is_given_no_more_until_some_of_it_is_merged() {
    let fleet = bounded(30);
    fleet.issue("hand", "Second", "To do.");
    fleet.issue("hand", "Third", "To do.");
    assert_eq!([took(&fleet), took(&fleet)], ["issue-1: OK", "issue-2: OK"]);
    assert_eq!(stop(&fleet), None, "24 of 30 minutes");
    assert_eq!(took(&fleet), "issue-3: OK");
    let last = fleet.issue("hand", "Fourth", "To do.");
    let all = ready(&fleet);
    assert_eq!(all.len(), 3);
    let expected = format!(
        "people have 36 minutes of open pull requests to read in widget, and {BOUND} is 30: {}",
        all.iter()
            .map(|number| format!("#{number} (60 lines, 12 minutes)"))
            .collect::<Vec<_>>()
            .join(", ")
    );
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
    assert_eq!(
        (&row["skip"], &row["sessions"]),
        (&"review-minutes".into(), &0.into())
    );
    assert_eq!(row["reason"], *expected, "{row:#}");
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]).stdout;
    assert!(
        ahead.contains(&format!("would be skipped: {expected}")),
        "{ahead}"
    );
    let (why, change) = stop(&fleet).unwrap();
    println!("{}", fleet.carson(&["why", "hand"]).stdout);
    assert_eq!(why, expected);
    assert!(
        change.contains("pr list")
            && change.contains(&format!("repos.widget.{BOUND} in carson.toml")),
        "{change}"
    );
    let status = fleet.carson(&["status"]).stdout;
    assert!(status.contains("36 minutes"), "{status}");

    merge(&fleet, all[0]);
    assert_eq!(stop(&fleet), None);
    assert_eq!(took(&fleet), format!("issue-{last}: OK"));
}

/// Another fleet's pull request counts by the forge's own lines, another person's does not.
#[test]
fn what_this_database_does_not_know_is_measured_by_the_forge() {
    let fleet = bounded(15);
    let (tree, lines) = (fleet.root().join("tree"), "line\n".repeat(80));
    let remote = fleet.remote().display().to_string();
    let _ = fleet.git(&["clone", "--quiet", &remote, tree.to_str().unwrap()]);
    fs::write(tree.join("long.txt"), lines).unwrap();
    let tree = tree.to_str().unwrap();
    for args in [
        &["add", "."][..],
        &["commit", "--quiet", "-m", "Long"],
        &[
            "push",
            "--quiet",
            "origin",
            "HEAD:carson/other/1",
            "HEAD:ann/1",
        ],
    ] {
        let _ = fleet.git(&[&["-C", tree], args].concat());
    }
    let offer = |number: u64, head: &str| {
        let dir = fleet.home().join("forge/widget/pulls");
        fs::create_dir_all(&dir).unwrap();
        let text = format!(
            "+++\ntitle = \"T\"\nstate = \"open\"\ndraft = false\nhead = {head:?}\nbase = \"main\"\n\
             created_at = \"2026-01-01T00:00:00Z\"\n+++\n"
        );
        fs::write(dir.join(format!("{number:04}.md")), text).unwrap();
    };
    offer(50, "ann/1");
    assert_eq!(stop(&fleet), None);
    offer(51, "carson/other/1");
    let (why, _) = stop(&fleet).unwrap();
    assert!(
        why.contains("16 minutes") && why.ends_with("#51 (80 lines, 16 minutes)"),
        "{why}"
    );
    assert!(took(&fleet).starts_with("review-minutes: "));
    // A branch that is gone cannot be measured: the smallest change.
    offer(51, "carson/other/gone");
    assert_eq!(took(&fleet), "issue-1: OK");
}

#[test]
fn a_draft_is_gone_on_with_and_slow_merges_make_each_minute_count_more() {
    let fleet = bounded(24);
    let half = fleet.issue("hand", "Half", "Please do half.");
    let fired = |number: u64| {
        let number = number.to_string();
        fleet
            .carson(&["fire", "hand", "--work", &number, "--json"])
            .json()
    };
    let row: Value = fired(half);
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    assert_eq!(ready(&fleet), [0; 0]);
    assert_eq!(fired(1)["outcome"], "OK");
    let second = fleet.issue("hand", "Second", "To do.");
    assert_eq!(fired(second)["outcome"], "OK");
    // Full, and an issue that is older than the draft's would come first.
    let row = fired(fleet.issue("hand", "Third", "To do."));
    assert_eq!(row["skip"], "review-minutes", "{row:#}");
    assert_eq!(took(&fleet), format!("issue-{half}: OK"));
    let all = ready(&fleet);
    assert_eq!(all.len(), 3);
    let (why, _) = stop(&fleet).unwrap();
    assert!(why.contains("people have 48 minutes"), "{why}");
    assert!(
        why.contains("(120 lines, 24 minutes)"),
        "the whole of it: {why}"
    );

    // One is left: twelve minutes, or three times as many.
    let (first, rest) = all.split_first().unwrap();
    let (slow, merged) = rest.split_last().unwrap();
    merge(&fleet, *first);
    merge(&fleet, merged[0]);
    let left = fleet.pulls();
    let left = left.iter().find(|pull| pull["number"] == *slow).unwrap();
    let (why_before, hours) = (stop(&fleet), 36);
    for number in [*first, merged[0]] {
        opened_earlier(&fleet, number, hours);
    }
    let why = stop(&fleet);
    assert_eq!(left["state"], "open");
    assert_eq!(why_before, None, "12 of 24 minutes");
    assert_eq!(why, None, "18 of 24 minutes");
    for number in [*first, merged[0]] {
        opened_earlier(&fleet, number, 90);
    }
    let (why, _) = stop(&fleet).unwrap();
    assert!(
        why.contains("people have 36 minutes") && why.contains("each minute counts 3 times"),
        "{why}"
    );
    settings(&fleet, |text| {
        text.replace(&format!("{BOUND} = 24"), &format!("{BOUND} = 37"))
    });
    assert_eq!(stop(&fleet), None);
}
