//! The person of the household: merges, closes, answers, gives up; by day.

use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

/// An hour of the day at which the person looks.
pub(super) const AT_WORK: u64 = 11;

/// Every third hour of the day.
fn is_here(hour: u64) -> bool {
    (8..=20).contains(&hour) && hour % 3 == AT_WORK % 3
}

/// Whether the person closes what this firing offered: one in nine is not what was wanted.
pub(super) fn refuses(firing: &Value) -> bool {
    firing["pr_number"]
        .as_u64()
        .is_some_and(|number| number % 9 == 0)
}

/// What the person does at an hour of the day.
pub(super) fn look(fleet: &TestFleet, hour: u64) {
    if !is_here(hour) {
        return;
    }
    let pulls = fleet.ok(&["pr", "list", "--json"]);
    for pull in pulls.as_array().unwrap() {
        let number = pull["number"].as_u64().unwrap();
        let shown = number.to_string();
        if pull["draft"] == true {
            continue;
        }
        let end: &[&str] = match number % 9 {
            0 => &[
                "pr",
                "close",
                &shown,
                "--comment",
                "Not like this.",
                "--json",
            ],
            _ => &["pr", "merge", &shown, "--yes", "--json"],
        };
        let _ = fleet.ok(end);
    }
    let issues = fleet.ok(&["issue", "list", "--label", "needs:human", "--json"]);
    for issue in issues.as_array().unwrap() {
        answer(fleet, issue);
    }
}

/// Answers the question of an issue once, and closes what was given up.
fn answer(fleet: &TestFleet, issue: &Value) {
    let number = issue["number"].as_u64().unwrap();
    let comments = format!("forge/widget/issues/{number:04}.comments");
    let own = fleet.home().join(comments).join("answer.md");
    let asked = issue["body"].to_string().contains("an-answer");
    let shown = number.to_string();
    if asked && !own.exists() {
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        fs::write(own, "The answer is blue.\n").unwrap();
        let _ = fleet.ok(&[
            "issue",
            "label",
            &shown,
            "--remove",
            "needs:human",
            "--json",
        ]);
    } else {
        let _ = fleet.ok(&["issue", "close", &shown, "--json"]);
    }
}
