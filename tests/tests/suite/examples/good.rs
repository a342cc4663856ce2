//! What must follow of an example, held against the forge and the remote.

use carson_tests::fleet::{REPO, TestFleet};
use serde_json::Value;

use super::form::Good;
use super::scene::Played;
use crate::crew::comments;
use crate::crew::fixer::head;

/// Holds all of it, and says of which example it does not hold.
pub(super) fn holds(name: &str, played: &Played, good: &Good) {
    let Played { fleet, row, .. } = played;
    assert_eq!(row["outcome"], good.outcome.as_str(), "{name}: {row:#}");
    if let Some(words) = &good.reason {
        let reason = row["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(words), "{name}: {reason}");
    }
    of_issue(name, played, good);
    if let Some(number) = played.pull {
        of_pull(name, (fleet, number), good);
    }
    if let Some(wanted) = &good.comments {
        has_comments(name, &said(played), wanted);
    }
    if let Some(wanted) = &good.issues {
        approve(played);
        assert_eq!(titles(played, REPO), *wanted, "{name}");
    }
    for (repo, wanted) in &good.others {
        assert_eq!(titles(played, repo), *wanted, "{name}: {repo}");
    }
    for (path, words) in &good.files {
        let number = row["pr_number"].as_u64().unwrap();
        let pushed = format!("{}:{path}", head(fleet, number));
        let text = fleet.git(&["show", &pushed]);
        assert!(text.contains(words), "{name}: {path}: {text}");
    }
}

fn of_issue(name: &str, played: &Played, good: &Good) {
    let (fleet, issue) = (&played.fleet, played.issue);
    if let Some(wanted) = &good.labels {
        let mut labels = fleet.labels(issue);
        labels.sort();
        assert_eq!(labels, *wanted, "{name}");
    }
    if let Some(closed) = good.closed {
        let number = issue.to_string();
        let shown = fleet.ok(&["issue", "show", &number, "--repo", REPO, "--json"]);
        assert_eq!(shown["issue"]["state"] == "closed", closed, "{name}");
    }
}

fn of_pull(name: &str, (fleet, number): (&TestFleet, u64), good: &Good) {
    let shown = |verb: &str| fleet.ok(&["pr", verb, &number.to_string(), "--json"]);
    if let Some(merged) = good.merged {
        let state = shown("show")["pull"]["state"].clone();
        assert_eq!(state == "merged", merged, "{name}: {state}");
    }
    if let Some(ready) = good.ship_ready {
        let reviews = shown("reviews");
        let body = reviews["reviews"][0]["body"].as_str().unwrap_or_default();
        let says = if ready { "yes" } else { "no" };
        let says = format!("Ship-ready: {says}\n");
        assert!(body.contains(&says), "{name}: {body}");
        let head = format!("Reviewed-head-sha: {}\n", head(fleet, number));
        assert!(body.contains(&head), "{name}: {body}");
        for words in &good.reviews {
            assert!(body.contains(words), "{name}: {words}: {body}");
        }
    }
    for words in &good.threads {
        let answer = format!("pulls/{number:04}.threads/0001.comments/0002.md");
        let answer = fleet.forge_file(&answer);
        assert!(answer.contains(words), "{name}: {words}: {answer}");
    }
}

/// What was said on the work.
fn said(played: &Played) -> Vec<String> {
    let fleet = &played.fleet;
    let Some(number) = played.pull else {
        return comments(fleet, played.issue);
    };
    let shown = fleet.ok(&["pr", "show", &number.to_string(), "--json"]);
    let all = shown["comments"].as_array().unwrap().iter();
    all.map(|one| one["body"].as_str().unwrap().to_owned())
        .collect()
}

fn has_comments(name: &str, said: &[String], wanted: &[String]) {
    assert!(!wanted.is_empty() || said.is_empty(), "{name}: {said:?}");
    for words in wanted {
        let mut said_so = said.iter().filter(|one| one.contains(words));
        assert!(said_so.next().is_some(), "{name}: {words}: {said:?}");
    }
}

/// Says yes to a plan, where it waits for that.
fn approve(played: &Played) {
    let (fleet, issue) = (&played.fleet, played.issue);
    let waits = |label: &String| label == "plan-pending-approval";
    if fleet.labels(issue).iter().any(waits) {
        let number = issue.to_string();
        let _ = fleet.ok(&["approve", &number, "--repo", REPO, "--json"]);
    }
}

/// The titles of a repository's issues, but for that of the work.
fn titles(played: &Played, repo: &str) -> Vec<String> {
    let list = played
        .fleet
        .ok(&["issue", "list", "--repo", repo, "--json"]);
    let all = list.as_array().unwrap().iter();
    let others = all.filter(|one| repo != REPO || one["number"] != played.issue);
    let title = |one: &Value| one["title"].as_str().unwrap().to_owned();
    others.map(title).collect()
}
