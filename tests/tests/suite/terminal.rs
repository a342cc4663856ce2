//! What an operator types in the first week: a firing that is watched, found again, read and paid for.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use crate::faults::{fire, fleet};

const WORKS: &str =
    "echo hello > hello.txt; git add .; git commit --quiet -m Hello; echo '[OK] hello'";

/// One firing, and all that is asked about it.
#[test]
fn a_firing_is_watched_kept_and_read_afterwards() {
    let fleet = fleet(WORKS, "");
    let ran = fleet.fire("hand");
    let row = ran.json();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let id = row["id"].as_str().unwrap();

    // It said what passed while it ran, beside its answer.
    for passed in [
        "work: #1 Work in widget",
        "  workspace",
        "  execute",
        "  teardown",
    ] {
        assert!(ran.stderr.contains(passed), "{passed}: {}", ran.stderr);
    }

    // Its log is kept, and is found by any part of its id; the followed one ends with the firing.
    let parts = [
        &id[19..],
        &id[9..18],
        &id[id.len() - 8..],
        &id[id.len() - 4..],
    ];
    for part in parts {
        let log = fleet.carson(&["logs", part]);
        assert!(log.stdout.contains("firing ended"), "{part}: {log:#?}");
    }
    let followed = fleet.carson(&["logs", "--follow", id]);
    assert!(followed.stdout.contains("firing ended"), "{followed:#?}");

    // What it was told, what it said, what it changed.
    let papers = fleet.carson(&["show", id, "--prompt", "--transcript", "--diff"]);
    for paper in [
        "== what 01-execute was told",
        "<<<DATA",
        "== 01-execute",
        "[OK] hello",
        "+hello",
    ] {
        assert!(papers.stdout.contains(paper), "{paper}: {papers:#?}");
    }
    assert!(fleet.carson(&["show", id]).stdout.contains("pull request:"));

    let listed = fleet.carson(&["firings", "--since", "1w"]);
    assert!(listed.stdout.contains("#1 Work"), "{listed:#?}");
    assert_eq!(
        fleet.ok(&["firings", "--since", "2020-01-01", "--json"])[0]["id"],
        id
    );
    let cost = fleet.ok(&["cost", "--since", "yesterday", "--json"]);
    assert_eq!(cost["roles"]["hand"]["ok"], 1, "{cost:#}");

    // Times are times, and a row of a terminal's table is one line.
    let status = fleet.ok(&["status", "--json"]);
    let last = &status["roles"][0]["last"];
    assert_eq!(last["outcome"], "OK", "{status:#}");
    assert!(chrono::DateTime::parse_from_rfc3339(last["at"].as_str().unwrap()).is_ok());
    let narrow = fleet
        .command(&["firings"])
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 80),
        "{narrow}"
    );
}

/// An issue that was given to people comes back with its attempts counted anew.
#[test]
fn an_issue_that_was_given_up_is_tried_again_at_a_word() {
    let fleet = fleet(
        "echo I am not sure how",
        "[limits]\nmax_work_attempts = 1\nfail_streak = 9\n",
    );
    let failed = fire(&fleet);
    let why = failed["reason"].as_str().unwrap();
    assert!(why.contains("said last: \"I am not sure how\""), "{why}");
    assert_eq!(fire(&fleet)["outcome"], "SILENT");
    assert!(fleet.labels(1).contains(&"needs:human".to_owned()));

    // A look ahead knows it, and why names the verb that ends it.
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]);
    assert!(ahead.stdout.contains("#1 waits for people"), "{ahead:#?}");
    let why = fleet.carson(&["why", "hand"]);
    assert!(why.stdout.contains("retry 1 --repo widget`"), "{why:#?}");

    let done = fleet.ok(&["retry", "1", "--json"]);
    assert_eq!(
        done["removed"],
        serde_json::json!(["needs:human"]),
        "{done:#}"
    );
    assert_eq!(fleet.labels(1), ["for:hand"]);
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]);
    for said in [
        "would fire now",
        "work: widget #1 Work",
        "tools: ",
        "at most: ",
        "prompt of the execute",
    ] {
        assert!(ahead.stdout.contains(said), "{said}: {ahead:#?}");
    }
    assert!(ahead.stdout.lines().count() < 30, "{ahead:#?}");
    assert_eq!(fire(&fleet)["outcome"], "FAILED");

    // What is not there is refused, by a look ahead too.
    let none = fleet.carson(&["fire", "hand", "--dry-run", "--work", "99"]);
    assert_eq!(none.code, Some(2), "{none:#?}");
    assert!(none.stderr.contains("no such issue"), "{none:#?}");
}

/// A look ahead asks what preflight asks.
#[test]
fn a_look_ahead_tells_what_preflight_would_say() {
    let fleet = fleet(WORKS, "");
    fs::remove_file(fleet.root().join("cli/agent")).unwrap();
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]);
    assert!(
        ahead.stdout.contains("would be skipped: preflight"),
        "{ahead:#?}"
    );
}

/// Whoever reads no further ends no verb with a panic.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let fleet = fleet(WORKS, "");
    let verbs: [&[&str]; 6] = [
        &["completions", "zsh"],
        &["--help"],
        &["status"],
        &["config", "show"],
        &["hook", "list"],
        &["version"],
    ];
    for verb in verbs {
        let mut child = fleet.command(verb);
        let mut child = child
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Nobody reads either of them.
        drop(child.stdout.take());
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let code = child.wait().unwrap().code();
        assert!(!said.contains("panicked"), "{verb:?}: {said}");
        assert_eq!(code, Some(0), "{verb:?}: {said}");
    }
    let version: Value = fleet.ok(&["version", "--json"]);
    assert!(version["version"].is_string());
    let roles = fleet.carson(&["roles", "list"]);
    assert!(roles.stdout.contains("hand"), "{roles:#?}");
}
