use carson_tests::fleet::TestFleet;
use serde_json::Value;

use super::{age, crew, ends, fire, prompt, pull, reason};

/// A session that reviews what it was given so.
fn reviews(verdict: &str, body: &str) -> String {
    format!(
        "test \"$(git rev-parse HEAD)\" = \"$(git rev-parse HEAD)\"\n\
         printf '{{\"version\":1,\"effects\":[{{\"kind\":\"review\",\"pull\":%s,\"head\":\"%s\",\"verdict\":\"{verdict}\",\"body\":\"{body}\"}}]}}' \
         \"$CARSON_WORK\" \"$(git rev-parse HEAD)\" >\"$CARSON_OUTBOX\"\necho '[OK] reviewed'"
    )
}

fn shown(fleet: &TestFleet, number: u64) -> Value {
    fleet.ok(&["pr", "show", &number.to_string(), "--json"])
}

fn said(fleet: &TestFleet, number: u64) -> Vec<String> {
    let shown = fleet.ok(&["pr", "reviews", &number.to_string(), "--json"]);
    let all = shown["reviews"].as_array().unwrap().iter();
    all.map(|one| one["body"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn each_commit_is_reviewed_once_and_a_new_one_again() {
    let fleet = crew("reviewer", &reviews("approve", "## P0\\\\n\\\\nNone."), "");
    let number = pull(&fleet, 0);
    let young = ends(&fleet, "reviewer", "SILENT");
    assert!(
        reason(&young).contains("opened less than 5 minutes ago"),
        "{young:#}"
    );
    age(&fleet, number, 6);
    let row = ends(&fleet, "reviewer", "OK");
    assert_eq!(
        (row["work"].as_str(), reason(&row)),
        (Some("pull-2"), "1 review: ship-ready")
    );
    let told = prompt(&fleet, "reviewer");
    assert!(
        told.contains("+++ b/work.txt") && told.contains("pull 2"),
        "{told}"
    );
    let head = shown(&fleet, number)["commit"].clone();
    let review = said(&fleet, number);
    assert!(
        review.len() == 1 && review[0].contains("Ship-ready: yes"),
        "{review:?}"
    );
    assert!(
        review[0].contains(&format!("Reviewed-head-sha: {}", head.as_str().unwrap())),
        "{review:?}"
    );
    let again = ends(&fleet, "reviewer", "SILENT");
    assert!(reason(&again).contains("is reviewed"), "{again:#}");
    // A person pushes to it.
    let branch = shown(&fleet, number)["pull"]["head"]
        .as_str()
        .unwrap()
        .to_owned();
    let _ = fleet.git(&[
        "--git-dir",
        fleet.remote().to_str().unwrap(),
        "update-ref",
        &format!("refs/heads/{branch}"),
        &fleet.tip("main"),
    ]);
    let row = fire(&fleet, "reviewer");
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert_eq!(said(&fleet, number).len(), 2);
}

#[test]
fn a_person_who_pushes_is_reviewed_once_they_are_done() {
    let fleet = crew("reviewer", &reviews("approve", "Fine."), "");
    let number = pull(&fleet, 10);
    ends(&fleet, "reviewer", "OK");
    let branch = shown(&fleet, number)["pull"]["head"]
        .as_str()
        .unwrap()
        .to_owned();
    let tip = fleet.tip(&branch);
    let tree = format!("{tip}^{{tree}}");
    let new = fleet.git(&["commit-tree", &tree, "-p", &tip, "-m", "By a person"]);
    let name = format!("refs/heads/{branch}");
    let _ = fleet.git(&["update-ref", &name, new.trim()]);
    let waits = ends(&fleet, "reviewer", "SILENT");
    assert!(reason(&waits).contains("has to stand still"), "{waits:#}");
    let why = fleet.carson(&["why", "pr-2"]).stdout;
    assert!(
        why.contains("reviewer: not taken: it has to stand still first"),
        "{why}"
    );
    // Who names it does not wait.
    let args = ["fire", "reviewer", "--work", "2", "--json"];
    assert_eq!(fleet.carson(&args).json()["outcome"], "OK");
    assert_eq!(said(&fleet, number).len(), 2);
}

#[test]
fn what_is_urgent_is_no_yes_and_another_commit_is_not_judged() {
    let fleet = crew(
        "reviewer",
        &reviews("approve", "## P0\\\\n\\\\n- it loses data"),
        "",
    );
    let number = pull(&fleet, 10);
    assert_eq!(
        reason(&ends(&fleet, "reviewer", "OK")),
        "1 review: not ship-ready"
    );
    assert!(said(&fleet, number)[0].contains("Ship-ready: no"));

    let other = "printf '{\"version\":1,\"effects\":[{\"kind\":\"review\",\"pull\":2,\"head\":\"0123456789\",\"verdict\":\"approve\",\"body\":\"b\"}]}' >\"$CARSON_OUTBOX\"; echo '[OK] reviewed'";
    let fleet = crew("reviewer", other, "[limits]\nmax_attempts = 2\n");
    let number = pull(&fleet, 10);
    let row = ends(&fleet, "reviewer", "BLOCKED");
    assert!(reason(&row).contains("it judges the commit"), "{row:#}");
    assert_eq!(row["attempts"], 2, "{row:#}");
    assert!(said(&fleet, number).is_empty());
    assert!(prompt(&fleet, "reviewer").contains("pull 2"));
}

#[test]
fn what_nobody_reads_at_once_is_to_be_split_without_a_model() {
    let fleet = crew(
        "reviewer",
        "echo never; exit 9",
        "[limits]\nmax_diff_lines = 1\n",
    );
    fleet.commit_to_main(&[("work.txt", "a\nb\nc\n")]);
    let number = pull(&fleet, 10);
    let row = ends(&fleet, "reviewer", "OK");
    assert_eq!(
        (reason(&row), row["turns"].as_u64()),
        ("1 review: not ship-ready", Some(0))
    );
    assert!(
        row["transcripts"].as_array().is_none_or(Vec::is_empty),
        "{row:#}"
    );
    assert!(said(&fleet, number)[0].contains("Split it."));
    assert!(reason(&ends(&fleet, "reviewer", "SILENT")).contains("is reviewed"));
}

#[test]
fn another_vendor_than_the_author_s_reviews_where_there_is_one() {
    let fleet = crew("reviewer", &reviews("approve", "Fine."), "");
    let number = pull(&fleet, 10);
    // The implementer's engine is `command`, as the reviewer's first account.
    fleet.script("[[when]]\nstage = \"execute\"\ndo = [{ say = \"[BLOCKED] the other one\" }]\n");
    let role = fleet.home().join("roles/reviewer/role.toml");
    let text = std::fs::read_to_string(&role).unwrap();
    std::fs::write(
        &role,
        text.replace(
            "engines = [\"reviewer\"]",
            "engines = [\"reviewer\", \"play\"]",
        ),
    )
    .unwrap();
    let row = fire(&fleet, "reviewer");
    assert_eq!(
        (&row["account"], reason(&row)),
        (&"play".into(), "the session could not go on: the other one"),
        "{row:#}"
    );
    assert!(said(&fleet, number).is_empty());
}
