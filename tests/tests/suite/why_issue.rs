//! `carson why` of one issue, and what it says of the issues that a role does not take.

use std::fs;
use std::process::Stdio;

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use serde_json::Value;

use crate::faults::{WAITS, fire, fleet};

const COMMIT: &str = "date +%N > work.txt; git add .; git commit --quiet -m Work; echo '[OK] done'";

fn why(fleet: &TestFleet, what: &str) -> Value {
    fleet.ok(&["why", what, "--json"])
}

/// What the only role says of an issue.
fn stands(fleet: &TestFleet, number: u64) -> String {
    let told = why(fleet, &format!("issue-{number}"));
    let roles = told["roles"].as_array().unwrap();
    assert_eq!(roles.len(), 1, "{told:#}");
    roles[0]["stands"].as_str().unwrap().to_owned()
}

fn facts(fleet: &TestFleet, number: u64) -> String {
    let told = why(fleet, &format!("#{number}"));
    let facts = told["facts"].as_array().unwrap().iter();
    let facts: Vec<&str> = facts.map(|fact| fact.as_str().unwrap()).collect();
    facts.join("; ")
}

fn label(fleet: &TestFleet, number: u64, change: &str, label: &str) {
    let number = number.to_string();
    let _ = fleet.ok(&["issue", "label", &number, change, label, "--json"]);
}

#[test]
fn an_issue_is_told_from_ready_to_merged() {
    let waits = format!("{COMMIT}\n{WAITS}").replace("$HOME", "${0%/cli/agent}/shared");
    let fleet = fleet(&waits, "");
    fleet.issue("hand", "Second", "Depends on: #1");
    fleet.issue("hand", "Third", "");
    fleet.issue("nobody", "Fourth", "");
    assert_eq!(stands(&fleet, 1), "ready: its next firing takes it");
    assert_eq!(stands(&fleet, 2), "held: it waits for #1, which is open");
    assert_eq!(stands(&fleet, 3), "ready: it takes 1 issue before");
    let told = why(&fleet, "widget#4");
    assert_eq!(told["roles"], Value::Array(Vec::new()), "{told:#}");
    assert!(
        told["change"]
            .as_str()
            .unwrap()
            .contains("issue label 4 --add for:hand")
    );
    let shown = fleet.carson(&["why", "issue-2"]).stdout;
    println!("{shown}");
    for line in [
        "#2 of widget: Second",
        "hand: held: it waits for #1",
        "to change it: read `carson",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }

    let mut firing = fleet.command(&["fire", "hand", "--json"]);
    let firing = firing.stdout(Stdio::piped()).spawn().unwrap();
    let begun = fleet.shared().join("begun");
    until("its session runs", || begun.exists().then_some(()));
    let said = facts(&fleet, 1);
    assert!(said.contains("of hand works on it since "), "{said}");
    assert!(stands(&fleet, 1).contains("carson:in-flight"));
    fs::write(fleet.shared().join("go"), "").unwrap();
    assert!(firing.wait_with_output().unwrap().status.success());
    let said = facts(&fleet, 1);
    assert!(
        said.contains("ended as OK") && said.contains("is open and waits to be read"),
        "{said}"
    );
    let pull = fleet.pulls()[0]["number"].to_string();
    let _ = fleet.ok(&["pr", "merge", &pull, "--yes", "--json"]);
    let ready = fleet.carson(&["pr", "ready", &pull]);
    assert_eq!(ready.code, Some(2), "{ready:#?}");
    assert!(ready.stderr.contains("was merged"), "{ready:#?}");
    assert_eq!(why(&fleet, "issue-widget#1")["number"], 1);
    let said = facts(&fleet, 1);
    assert!(
        said.contains("it is closed") && said.contains("was merged"),
        "{said}"
    );
    assert_eq!(stands(&fleet, 2), "ready: its next firing takes it");

    label(&fleet, 2, "--add", "needs:human");
    let told = why(&fleet, "issue-2");
    assert_eq!(
        stands(&fleet, 2),
        "held: it waits for a person: it carries needs:human"
    );
    assert!(
        told["roles"][0]["change"]
            .as_str()
            .unwrap()
            .contains("retry 2"),
        "{told:#}"
    );
    let gone = fleet.carson(&["why", "issue-99"]);
    assert_ne!(gone.code, Some(0), "{gone:#?}");
    let unknown = fleet.carson(&["why", "gadget#1"]);
    assert_eq!(unknown.code, Some(2), "{unknown:#?}");
    assert!(unknown.stderr.contains("gadget"), "{unknown:#?}");
}

#[test]
fn one_that_failed_says_when_it_is_tried_again_and_one_that_was_given_up_that_people_get_it() {
    let fleet = fleet(
        "echo '[OK] done'",
        "[limits]\nmax_work_attempts = 2\nfail_streak = 1\n",
    );
    assert_eq!(fire(&fleet)["outcome"], "FAILED");
    let told = why(&fleet, "issue-1");
    let role = &told["roles"][0];
    let stands = role["stands"].as_str().unwrap();
    assert!(
        stands.starts_with("held: it failed a moment ago and is tried again at "),
        "{told:#}"
    );
    assert!(
        role["stopped"].as_str().unwrap().contains("breaker"),
        "{told:#}"
    );
    assert!(role["next"].is_string(), "{told:#}");
    let _ = fleet.carson(&["breaker", "reset", "hand"]);
    let _ = fire(&fleet);
    let told = why(&fleet, "issue-1");
    let stands = told["roles"][0]["stands"].as_str().unwrap();
    assert!(
        stands.contains("people get it next: 2 firings took it"),
        "{told:#}"
    );
}

/// `queue` and `why` say the same of work that its next firing hands to people.
#[test]
fn what_people_get_next_is_not_ready_in_the_queue_either() {
    let fleet = fleet(COMMIT, "");
    assert_eq!(fire(&fleet)["outcome"], "OK");
    fleet.issue("hand", "Second", "");
    let pull = fleet.pulls()[0]["number"].to_string();
    let _ = fleet.ok(&["pr", "close", &pull, "--json"]);
    assert!(stands(&fleet, 1).starts_with("people get it next: its pull request"));
    let queue = fleet.ok(&["queue", "hand", "--json"]);
    let ready = queue[0]["ready"].as_array().unwrap();
    assert_eq!(ready.len(), 1, "{queue:#}");
    assert_eq!(ready[0]["title"], "Second", "{queue:#}");
    let held = queue[0]["held"].to_string();
    assert!(
        held.contains("#1 of widget: people get it next"),
        "{queue:#}"
    );
}

/// What is held is listed beside a stop, and beside work that is ready; the verdict is that of the role.
#[test]
fn held_issues_are_always_listed_and_keep_nobody_from_the_others() {
    let fleet = fleet(COMMIT, "");
    fleet.issue("hand", "Second", "Depends on: #1");
    let held = |fleet: &TestFleet| {
        let told = why(fleet, "hand");
        let stops = told["stops"].as_array().unwrap().iter();
        let held: Vec<Value> = stops
            .filter(|stop| stop["stop"] == "held-issue")
            .cloned()
            .collect();
        (told["verdict"].as_str().unwrap().to_owned(), held)
    };
    let (verdict, found) = held(&fleet);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(verdict, "it does not fire: no daemon was ever here");
    let paused = fleet.carson(&["pause", "--reason", "lunch"]);
    assert_eq!(paused.code, Some(0), "{paused:#?}");
    let (verdict, found) = held(&fleet);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(verdict.contains("lunch"), "{verdict}");
    let resumed = fleet.carson(&["resume"]);
    assert_eq!(resumed.code, Some(0), "{resumed:#?}");

    // All is held: a firing says how many, and where each is told.
    fleet.issue("hand", "Third", "> Requires: #9\n\n### DEPENDS ON : #0");
    let file = fleet.home().join("forge/widget/issues/0001.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.replace("+++\ntitle", "+++\nassignees = [\"ann\"]\ntitle"),
    )
    .unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("ann"), "{text}");
    let ran = fleet.carson(&["fire", "hand"]);
    let said = "no work found: 3 issues of its queue are held; `carson why hand` says by what";
    assert!(ran.stdout.contains(said), "{ran:#?}");
    let (verdict, found) = held(&fleet);
    assert_eq!(found.len(), 3, "{found:#?}");
    let odd = "#3 of widget: it waits for #0, which cannot be read: no issue has that number";
    assert_eq!(found[2]["why"], odd, "{found:#?}");
    assert!(
        verdict.starts_with(
            "it does not fire (no daemon was ever here), and would find nothing to do"
        ),
        "{verdict}"
    );
}

/// `do-not-pickup` is a person's own word: nothing of Carson's takes it away, or says that it would.
#[test]
fn what_a_person_keeps_agents_from_stays_so_whatever_is_retried() {
    let fleet = fleet(COMMIT, "");
    label(&fleet, 1, "--add", "Do-Not-Pickup");
    label(&fleet, 1, "--add", "needs:human");
    assert!(
        fire(&fleet)["reason"]
            .as_str()
            .unwrap()
            .contains("waits for a person")
    );
    for what in ["hand", "issue-1"] {
        let shown = fleet.carson(&["why", what]).stdout;
        assert!(shown.contains("it carries do-not-pickup"), "{shown}");
        assert!(
            shown.contains("only a person takes it away") && !shown.contains("retry"),
            "{shown}"
        );
    }
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]).stdout;
    assert!(
        ahead.contains("do-not-pickup") && !ahead.contains("retry"),
        "{ahead}"
    );
    let ran = fleet.carson(&["retry", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.contains("removed: needs:human"), "{ran:#?}");
    assert!(
        ran.stdout
            .contains("it keeps do-not-pickup, a person's own word"),
        "{ran:#?}"
    );
    assert!(!ran.stdout.contains("fire hand"), "{ran:#?}");
    let labels = fleet.labels(1);
    assert!(labels.contains(&"Do-Not-Pickup".to_owned()), "{labels:?}");
    assert!(!labels.contains(&"needs:human".to_owned()), "{labels:?}");
    label(&fleet, 1, "--remove", "do-not-pickup");
    assert_eq!(fire(&fleet)["work"], "issue-1");
}

#[test]
fn an_issue_that_cannot_be_read_says_so_to_who_asks_for_it() {
    let fleet = fleet(COMMIT, "");
    let file = fleet.home().join("forge/widget/issues/0001.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("state = \"open\"", "state = \"opne\"")).unwrap();
    for args in [
        &["fire", "hand", "--work", "1"][..],
        &["fire", "hand", "--work", "1", "--dry-run"],
        &["why", "issue-1"],
    ] {
        let ran = fleet.carson(args);
        assert_ne!(ran.code, Some(0), "{ran:#?}");
        for part in ["0001.md", "opne", "mend the file"] {
            assert!(ran.stderr.contains(part), "{part}: {ran:#?}");
        }
    }
}
