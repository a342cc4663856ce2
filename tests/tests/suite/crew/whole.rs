//! All of them together, and what dies between two effects.

use std::fs;

use carson_tests::fleet::TestFleet;

use super::{
    COMMIT, age, asks, comments, crew, ends, fire, large_issue, member, pull, reason, sql, upkeep,
};
use crate::faults;

/// A review that says no until somebody mended it.
pub(crate) const REVIEWS: &str = "if test -f mended.txt; then verdict=approve; else verdict=changes; fi\n\
    printf '{\"version\":1,\"effects\":[{\"kind\":\"review\",\"pull\":%s,\"head\":\"%s\",\"verdict\":\"%s\",\"body\":\"## P1\\\\n\\\\n- it lacks mended.txt\"}]}' \
    \"$CARSON_WORK\" \"$(git rev-parse HEAD)\" $verdict >\"$CARSON_OUTBOX\"; echo '[OK] reviewed'";
const MENDS: &str = "grep -q 'it lacks mended.txt' \"$CARSON_TMP/prompt\"\n\
    date +%N >mended.txt; git add .; git commit --quiet -m Mend; echo '[OK] mended'";

#[test]
fn a_plan_becomes_a_merged_pull_request_without_a_person_but_for_the_approval() {
    let fleet = faults::fleet(COMMIT, "");
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    let text = text.replace("[\"execute\"]", "[\"execute\", \"verify\"]");
    fs::write(
        &role,
        format!("{text}\n[promise]\nrun = \"test -f work.txt\"\n"),
    )
    .unwrap();
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace(
        "[repos.widget]\n",
        "[repos.widget]\npolicy = { merge = true }\n",
    );
    fs::write(&path, text).unwrap();
    let one = r#"{"kind": "issue", "title": "The first part", "body": "To do."}"#;
    let grant =
        "[grant]\nissues = 5\nissues_per_day = 20\nissue_label = \"for:hand\"\napproval = true\n";
    member(&fleet, "planner", &asks(one), grant);
    member(&fleet, "reviewer", REVIEWS, "");
    let stages = "stages = [\"execute\", \"verify\"]\n[promise]\nrun = \"test -f work.txt\"\n";
    member(&fleet, "fixer", MENDS, stages);
    fleet.role_of_kind("merger", &[], "");
    let _ = fleet.ok(&["issue", "close", "1", "--json"]);
    let spec = [
        "issue",
        "create",
        "All of it",
        "--body",
        "Much.",
        "--label",
        "carson:plan",
        "--json",
    ];
    assert_eq!(fleet.ok(&spec)["number"], 2);
    ends(&fleet, "planner", "OK");
    assert_eq!(
        fleet.ok(&["approve", "2", "--json"])["filed"],
        serde_json::json!([3])
    );
    let made = ends(&fleet, "hand", "OK");
    assert_eq!(
        (made["work"].as_str(), made["pr_number"].as_u64()),
        (Some("issue-3"), Some(4))
    );
    age(&fleet, 4, 40);
    assert_eq!(
        reason(&ends(&fleet, "reviewer", "OK")),
        "1 review: not ship-ready"
    );
    let no = ends(&fleet, "merger", "SILENT");
    assert!(
        reason(&no).contains("its review says that it is not ship-ready"),
        "{no:#}"
    );
    let why = fleet.carson(&["why", "pr-4"]).stdout;
    assert!(
        why.contains("fixer: ready: its next firing takes it"),
        "{why}"
    );
    assert!(why.contains("merger: not taken: its review says"), "{why}");
    assert_eq!(ends(&fleet, "fixer", "OK")["pr_number"], 4);
    let no = ends(&fleet, "merger", "SILENT");
    assert!(
        reason(&no).contains("nobody has reviewed its newest commit"),
        "{no:#}"
    );
    assert_eq!(
        reason(&ends(&fleet, "reviewer", "OK")),
        "1 review: ship-ready"
    );
    assert_eq!(reason(&ends(&fleet, "merger", "OK")), "1 merge");
    assert!(fleet.labels(3).contains(&"carson:done".to_owned()));
    for (role, outcome) in [
        ("planner", "SILENT"),
        ("hand", "SILENT"),
        ("reviewer", "SILENT"),
        ("fixer", "SILENT"),
        ("merger", "SILENT"),
    ] {
        ends(&fleet, role, outcome);
    }
    let ledger = fleet.ok(&["outcomes", "--json"]);
    assert_eq!(ledger["pulls"][0]["end"], "untouched", "{ledger:#}");
    assert_eq!(ledger["pulls"][0]["firings"], 4, "{ledger:#}");
}

/// What is on the forge: issues, comments and reviews, without what differs each time.
fn count(fleet: &TestFleet, text: &str) -> usize {
    fn files(dir: &std::path::Path, text: &str) -> usize {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        let count = |path: std::path::PathBuf| match path.is_dir() {
            true => files(&path, text),
            false => usize::from(fs::read_to_string(&path).is_ok_and(|file| file.contains(text))),
        };
        entries.map(|entry| count(entry.path())).sum()
    }
    files(&fleet.home().join("forge/widget"), text)
}

#[test]
fn who_dies_between_two_effects_does_each_of_them_once() {
    let two = r#"{"kind": "issue", "title": "Part one", "body": "First of them."}, {"kind": "issue", "title": "Part two", "body": "Second of them."}"#;
    let grant = "[grant]\nissues = 5\nissues_per_day = 20\nissue_label = \"for:hand\"\n";
    // The forge has it, and the row does not say so: the write that would is refused.
    for hold in [
        "CREATE TRIGGER hold BEFORE UPDATE ON effect WHEN NEW.n = 0 BEGIN SELECT RAISE(ABORT, 'held'); END",
        "CREATE TRIGGER hold BEFORE UPDATE ON effect WHEN NEW.n = 1 BEGIN SELECT RAISE(ABORT, 'held'); END",
        "CREATE TRIGGER hold BEFORE UPDATE ON effect WHEN NEW.n = 2 BEGIN SELECT RAISE(ABORT, 'held'); END",
        "CREATE TRIGGER hold BEFORE UPDATE ON effect WHEN NEW.n = 3 BEGIN SELECT RAISE(ABORT, 'held'); END",
        "CREATE TRIGGER hold BEFORE INSERT ON effect BEGIN SELECT RAISE(ABORT, 'held'); END",
    ] {
        let fleet = crew("planner", &asks(two), grant);
        let spec = large_issue(&fleet);
        sql(&fleet, hold);
        let ran = fleet.fire("planner");
        assert_ne!(ran.code, Some(0), "{hold}: {ran:#?}");
        sql(&fleet, "DROP TRIGGER hold");
        upkeep(&fleet);
        assert_eq!(count(&fleet, "First of them."), 1, "{hold}: {ran:#?}");
        assert_eq!(count(&fleet, "Second of them."), 1, "{hold}: {ran:#?}");
        let told = comments(&fleet, spec);
        let filed = told.iter().filter(|one| one.contains("Filed: #3 #4"));
        assert_eq!(filed.count(), 1, "{hold}: {told:?}");
    }
}

#[test]
fn a_pull_request_is_kept_by_nobody_twice() {
    let (fleet, number) = {
        let fleet = crew("reviewer", REVIEWS, "");
        let number = pull(&fleet, 10);
        (fleet, number)
    };
    // Two firings of one role at once: one has it, and one finds nothing to do or is skipped.
    let mut other = fleet
        .command(&["fire", "reviewer", "--json"])
        .spawn()
        .unwrap();
    let row = fire(&fleet, "reviewer");
    other.wait().unwrap();
    assert!(
        ["OK", "SILENT", "SKIPPED"].contains(&row["outcome"].as_str().unwrap_or("SKIPPED")),
        "{row:#}"
    );
    assert_eq!(count(&fleet, "Ship-ready:"), 1);
    let reviews = fleet.ok(&["pr", "reviews", &number.to_string(), "--json"]);
    assert_eq!(reviews["reviews"].as_array().unwrap().len(), 1);
}

#[test]
fn each_shipped_role_is_added_to_a_home_whose_repository_has_tests() {
    let fleet = faults::fleet(COMMIT, "");
    fleet.commit_to_main(&[("Makefile", "test:\n\ttrue\n")]);
    for role in [
        "planner",
        "architect",
        "triager",
        "reviewer",
        "fixer",
        "merger",
    ] {
        let made = fleet.carson(&["init", "--role", role]);
        assert_eq!(made.code, Some(0), "{role}: {made:#?}");
        let file = fleet.home().join(format!("roles/{role}/role.toml"));
        let checks = fs::read_to_string(file).unwrap().contains("\n[promise]");
        assert_eq!(checks, role == "fixer", "{role}");
        let wrong = fleet.carson(&["fire", role, "--work", "77"]);
        assert_eq!(wrong.code, Some(2), "{role}: {wrong:#?}");
    }
    let checked = fleet.carson(&["config", "check"]);
    assert!(
        checked
            .stdout
            .contains("none of its repositories lets the fleet merge"),
        "{checked:#?}"
    );
    // What cannot be added leaves nothing.
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(
        &settings,
        format!(
            "{text}\n[repos.other]\nurl = \"{}\"\n",
            fleet.remote().display()
        ),
    )
    .unwrap();
    fs::remove_dir_all(fleet.home().join("roles/planner")).unwrap();
    let which = fleet.carson(&["init", "--role", "planner"]);
    assert_ne!(which.code, Some(0), "{which:#?}");
    assert!(!fleet.home().join("roles/planner").exists());
    assert_eq!(fleet.carson(&["status"]).code, Some(0));
}
