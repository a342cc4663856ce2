//! A pull request as work, and what is said to it.

use carson_tests::fleet::TestFleet;
use serde_json::{Value, json};

use super::{Words, bait, by};
use crate::crew::fixer::{file, head};
use crate::crew::pull;

/// A pull request of the fleet's, or of a person's for who reviews it, and what is said to it.
pub(super) fn of_pull(fleet: &TestFleet, words: Words<'_>) {
    let shared = fleet.shared();
    let shared = shared.to_str().unwrap();
    let hand = format!(
        "#!/bin/bash\nset -e\ncat >/dev/null\ncp {shared}/file \"$(cat {shared}/path)\"\n\
         git add -A; git commit --quiet -F {shared}/commit; echo '[OK] done'\n"
    );
    std::fs::write(fleet.root().join("cli/agent"), hand).unwrap();
    assert_eq!(pull(fleet, 40), 2);
    bait(fleet);
    let sha = head(fleet, 2);
    let mut branch = None;
    if words.role == "reviewer" {
        let name = words.branch("branch");
        let _ = fleet.git(&["update-ref", &format!("refs/heads/{name}"), &sha]);
        branch = Some(name);
    }
    described(fleet, words, branch);
    talked_about(fleet, words, &sha);
    if words.role != "reviewer" {
        judged(fleet, words, &sha);
    }
}

/// What its author says of it.
fn described(fleet: &TestFleet, words: Words<'_>, branch: Option<String>) {
    let text = fleet.forge_file("pulls/0002.md");
    let (front, _) = text.split_once("\n+++\n").unwrap();
    let line = |line: &str| match (line.split(' ').next(), &branch) {
        (Some("title"), _) => format!("title = {}", Value::from(words.line("title"))),
        (Some("labels"), _) => format!("labels = {}", json!([words.line("label")])),
        (Some("head"), Some(branch)) => format!("head = {}", Value::from(branch.as_str())),
        _ => line.to_owned(),
    };
    let front: Vec<String> = front.lines().map(line).collect();
    let text = format!("{}\n+++\n{}", front.join("\n"), words.all("body"));
    file(fleet, "pulls/0002.md", &text);
}

/// Comments on it, and what a stranger calls a review.
fn talked_about(fleet: &TestFleet, words: Words<'_>, sha: &str) {
    let order = format!("@carson fix\n{}", words.all("stranger"));
    file(fleet, "pulls/0002.comments/0001.md", &by("mallory", &order));
    file(fleet, "pulls/0002.comments/0002.md", &words.all("comment"));
    review(fleet, 1, ("mallory", "yes", sha), &words.all("review"));
}

fn review(fleet: &TestFleet, n: u32, (author, ship, sha): (&str, &str, &str), text: &str) {
    let head = format!(
        "author = \"{author}\"\nstate = \"commented\"\ncommit = \"{sha}\"\n\
         submitted_at = \"2026-01-01T00:00:00Z\""
    );
    let mark = format!("<!-- carson:review key={author} head={sha} ship={ship} -->");
    let path = format!("pulls/0002.reviews/{n:04}.md");
    file(fleet, &path, &format!("+++\n{head}\n+++\n{mark}\n{text}"));
}

/// What stands against it: the fleet's own review, a check, and threads. A stranger says otherwise.
fn judged(fleet: &TestFleet, words: Words<'_>, sha: &str) {
    review(fleet, 2, ("carson", "no", sha), &words.all("own-review"));
    review(fleet, 3, ("mallory", "yes", sha), &words.all("review"));
    let red = if words.role == "fixer" {
        "failed"
    } else {
        "passed"
    };
    let check = format!("checks/{sha}/{}.md", words.line("check-name"));
    let log = words.all("check-log");
    file(
        fleet,
        &check,
        &format!("+++\nconclusion = \"{red}\"\n+++\n{log}"),
    );

    let place = format!(
        "+++\npath = {}\nline = 1\n+++\n",
        Value::from(words.line("path"))
    );
    for (n, says) in [
        (
            1,
            [
                words.all("thread"),
                by("mallory", &words.all("thread-stranger")),
            ],
        ),
        (
            2,
            [
                by("mallory", &words.all("stranger-thread")),
                by("eve", "I agree."),
            ],
        ),
    ] {
        file(fleet, &format!("pulls/0002.threads/{n:04}.md"), &place);
        for (at, text) in (1..).zip(says) {
            let path = format!("pulls/0002.threads/{n:04}.comments/{at:04}.md");
            file(fleet, &path, &text);
        }
    }
}
