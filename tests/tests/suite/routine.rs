//! A role that works without an issue, at every slot: its task is its own.

use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

/// A fleet whose role `keeper` has no work but its task, and plays this.
fn keeper(play: &str, more: &str) -> TestFleet {
    let fleet = TestFleet::new();
    fleet.script(play).role("keeper", "play", more);
    let file = fleet.home().join("roles/keeper/role.toml");
    let text = fs::read_to_string(&file).unwrap();
    let own = "work = { from = \"none\", task = \"Bring the notes up to date.\" }";
    let text = text.replace("work = { from = \"issues\", label = \"for:keeper\" }", own);
    assert!(text.contains(own));
    fs::write(file, text).unwrap();
    fleet
}

fn fire(fleet: &TestFleet) -> Value {
    let row = fleet.fire("keeper").json();
    fleet.firing(row["id"].as_str().unwrap())
}

#[test]
fn its_commits_become_a_pull_request_and_no_issue_is_needed() {
    let play = "[[when]]\nstage = \"execute\"\ndo = [\n    { edit = { path = \"NOTES.md\", content = \"up to date\\n\" } },\n    \
                { commit = \"Bring the notes up to date\" },\n    { say = \"[OK] they are\" },\n]\n";
    let fleet = keeper(play, "stages = [\"execute\"]\n");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert_eq!(row["work"], Value::Null);
    let pulls = fleet.pulls();
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    assert_eq!(pulls[0]["draft"], false);
    let branch = row["branch"].as_str().unwrap();
    assert_eq!(pulls[0]["head"], branch);
    assert!(branch.starts_with("carson/keeper/"), "{branch}");
    let [effect] = row["effects"].as_array().unwrap().as_slice() else {
        panic!("{row:#}");
    };
    assert_eq!(
        (&effect["kind"], &effect["state"]),
        (&"open-pull".into(), &"done".into())
    );
    // The next slot is the next time.
    let again = fire(&fleet);
    assert_eq!(again["outcome"], "OK", "{again:#}");
    assert_eq!(fleet.pulls().len(), 2);
}

#[test]
fn one_that_only_reads_is_done_when_it_has_said_what_it_found() {
    let play =
        "[[when]]\nstage = \"plan\"\ndo = [{ say = \"Two links are dead.\\n[OK] looked\" }]\n";
    let fleet = keeper(play, "stages = [\"plan\"]\n");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert_eq!(row["reason"], "it said what it found");
    assert_eq!(fleet.pulls(), Vec::<Value>::new());
    assert_eq!(fleet.branches(), Vec::<String>::new());
}

#[test]
fn nothing_to_change_is_silent() {
    let play = "[[when]]\nstage = \"execute\"\ndo = [{ say = \"[SILENT]\" }]\n";
    let fleet = keeper(play, "stages = [\"execute\"]\n");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "SILENT", "{row:#}");
    assert_eq!(fleet.pulls(), Vec::<Value>::new());
}

#[test]
fn unfinished_work_is_a_draft_as_always() {
    let play = "[[when]]\nstage = \"execute\"\ndo = [\n    { edit = { path = \"NOTES.md\", content = \"half\\n\" } },\n    \
                { say = \"[PARTIAL] half of it\" },\n]\n";
    let fleet = keeper(play, "stages = [\"execute\"]\n");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    let pulls = fleet.pulls();
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    assert_eq!(pulls[0]["draft"], true);
}
