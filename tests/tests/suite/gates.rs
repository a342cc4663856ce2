//! What Carson itself looks at before work is offered to people.

use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use crate::faults::{fire, fleet, nothing_lost};

fn commit(shell: &str) -> String {
    format!("{shell}; git add .; git commit --quiet -m Work; echo '[OK] done'")
}

fn the_pull(fleet: &TestFleet) -> Value {
    let pulls = fleet.pulls();
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    let number = pulls[0]["number"].to_string();
    fleet.ok(&["pr", "show", &number, "--json"])["pull"].clone()
}

#[test]
fn what_nobody_reads_at_once_is_a_draft_that_asks_to_be_split() {
    let large = fleet(&commit("seq 1501 > large.txt"), "");
    let row = fire(&large);
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.contains("1501 lines") && reason.contains("split it"),
        "{reason}"
    );
    let draft = the_pull(&large);
    assert_eq!(draft["draft"], true, "{draft:#}");
    let body = draft["body"].as_str().unwrap();
    assert!(body.starts_with("Issue: #1\n"), "{body}");
    assert_eq!(large.labels(1), ["for:hand"]);

    // Nobody reads lock files line by line.
    let script = commit("seq 1500 > fits.txt; mkdir sub; seq 9000 > sub/package-lock.json");
    let fits = fleet(&script, "");
    let row = fire(&fits);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let body = the_pull(&fits)["body"].as_str().unwrap().to_owned();
    assert!(body.starts_with("Closes #1\n"), "{body}");
}

#[test]
fn a_name_that_is_not_to_leave_does_not_leave() {
    let fleet = fleet(&commit("echo 'as INITECH wants it' > notes.txt"), "");
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let text = text.replacen(
        "[repos.widget]\n",
        "[repos.widget]\nscrub = [\"Initech\"]\n",
        1,
    );
    fs::write(&settings, text).unwrap();
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "BLOCKED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.contains("scrub") && reason.contains("the file notes.txt"),
        "{reason}"
    );
    assert!(fleet.branches().is_empty() && fleet.pulls().is_empty());
    nothing_lost(&fleet, &row, &["as INITECH wants it\n"]);
}
