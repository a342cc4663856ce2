use carson_tests::fleet::{REPO, TestFleet};

use super::{asks, comments, crew, ends, prompt, reason, says, sql, upkeep};

const TWO: &str = r#"{"kind": "issue", "title": "The parser reads dates", "body": "See src/date.rs:1. Closes #1 @all"},
{"kind": "issue", "title": "The page shows dates", "body": "After the first."}"#;

const APPROVED: &str = "plan-approved";
const PENDING: &str = "plan-pending-approval";

fn planned(fleet: &TestFleet) -> u64 {
    let args = [
        "issue",
        "create",
        "Dates",
        "--body",
        "All of them.",
        "--label",
        "carson:plan",
        "--json",
    ];
    fleet.ok(&args)["number"].as_u64().unwrap()
}

/// The line that approves the plan on an issue.
fn words(fleet: &TestFleet, issue: u64) -> String {
    let all = comments(fleet, issue);
    let plan = all
        .iter()
        .find(|one| one.contains("/carson approve"))
        .unwrap();
    let line = plan
        .lines()
        .find(|line| line.starts_with("/carson approve"));
    line.unwrap().to_owned()
}

fn issues(fleet: &TestFleet) -> usize {
    fleet
        .ok(&["issue", "list", "--json"])
        .as_array()
        .unwrap()
        .len()
}

#[test]
fn a_plan_is_filed_once_a_person_approves_exactly_it() {
    let fleet = crew("planner", &asks(TWO), "");
    let spec = planned(&fleet);
    let row = ends(&fleet, "planner", "OK");
    assert_eq!(reason(&row), "2 new issues");
    assert!(prompt(&fleet, "planner").contains("5 new issues (20 in 24 hours)"));
    assert_eq!(
        (issues(&fleet), fleet.labels(spec)),
        (2, vec!["plan-pending-approval".to_owned()])
    );
    // Neither another hash, nor the words in the middle of a text, nor the fleet's own comment.
    let words = words(&fleet, spec);
    says(
        &fleet,
        spec,
        "wrong.md",
        "/carson approve 0123456789abcdef0123456789abcdef01234567\n",
    );
    says(&fleet, spec, "talk.md", &format!("Shall I say\n{words}\n"));
    upkeep_later(&fleet);
    assert_eq!(issues(&fleet), 2);
    says(&fleet, spec, "yes.md", &format!("{words}\n"));
    says(&fleet, spec, "yes-again.md", &format!("{words}\n"));
    upkeep_later(&fleet);
    upkeep_later(&fleet);
    assert_eq!(issues(&fleet), 4);
    assert_eq!(fleet.labels(spec), ["carson:planned"]);
    let first = fleet.ok(&["issue", "show", "3", "--json"]);
    assert_eq!(
        first["issue"]["labels"],
        serde_json::json!(["carson:ready"]),
        "{first:#}"
    );
    let body = first["issue"]["body"].as_str().unwrap();
    assert!(
        body.contains(&format!("Part of #{spec}")) && body.contains("@\u{2060}all"),
        "{body}"
    );
    assert!(
        comments(&fleet, spec)
            .iter()
            .any(|one| one.contains("Filed: #3 #4"))
    );
}

/// What is owed is looked at once a minute: as if one had passed.
pub(crate) fn upkeep_later(fleet: &TestFleet) {
    let later = "UPDATE effect SET next_at = '2020-01-01T00:00:00+00:00' WHERE next_at IS NOT NULL";
    sql(fleet, later);
    upkeep(fleet);
}

#[test]
fn without_an_approval_within_a_day_nothing_is_filed_and_a_closed_issue_drops_its_plan() {
    let fleet = crew("planner", &asks(TWO), "");
    let (late, closed) = (planned(&fleet), planned(&fleet));
    ends(&fleet, "planner", "OK");
    ends(&fleet, "planner", "OK");
    let _ = fleet.ok(&["issue", "close", &closed.to_string(), "--json"]);
    let words = words(&fleet, late);
    sql(
        &fleet,
        "UPDATE effect SET body = REPLACE(body, '\"until\":\"20', '\"until\":\"19') WHERE body LIKE '%await-approval%'",
    );
    upkeep_later(&fleet);
    assert_eq!(fleet.labels(late), ["needs:human"]);
    assert!(
        comments(&fleet, late)
            .iter()
            .any(|one| one.contains("Nobody approved this plan"))
    );
    // What comes too late is not heard.
    says(&fleet, late, "late.md", &format!("{words}\n"));
    upkeep_later(&fleet);
    let list = fleet.ok(&["issue", "list", "--json"]);
    assert_eq!(list.as_array().unwrap().len(), 2, "{list:#}");
}

/// A person's label.
fn label(fleet: &TestFleet, issue: u64) {
    let number = issue.to_string();
    let args = ["issue", "label", &number, "--add", APPROVED, "--json"];
    let _ = fleet.ok(&args);
}

/// How many comments of an issue say this.
fn told(fleet: &TestFleet, issue: u64, part: &str) -> usize {
    let all = comments(fleet, issue);
    all.iter().filter(|one| one.contains(part)).count()
}

#[test]
fn a_label_approves_the_plan_that_stands_there_and_none_that_comes_later() {
    let fleet = crew("planner", &asks(TWO), "");
    let spec = planned(&fleet);
    label(&fleet, spec);
    ends(&fleet, "planner", "OK");
    upkeep_later(&fleet);
    assert_eq!(fleet.labels(spec), ["plan-pending-approval"]);
    assert_eq!(
        (issues(&fleet), told(&fleet, spec, "before this plan")),
        (2, 1)
    );
    // By label and by comment: one effect.
    label(&fleet, spec);
    let words = words(&fleet, spec);
    says(&fleet, spec, "yes.md", &format!("{words}\n"));
    upkeep_later(&fleet);
    upkeep_later(&fleet);
    assert_eq!(issues(&fleet), 4);
    assert_eq!(fleet.labels(spec), ["carson:planned"]);
    assert_eq!(told(&fleet, spec, "Filed: #3 #4"), 1);

    // The label alone; who sets it may take the other one away.
    let alone = planned(&fleet);
    ends(&fleet, "planner", "OK");
    let number = alone.to_string();
    label(&fleet, alone);
    let away = ["issue", "label", &number, "--remove", PENDING, "--json"];
    let _ = fleet.ok(&away);
    upkeep_later(&fleet);
    assert_eq!((issues(&fleet), fleet.labels(alone).len()), (7, 1));
    assert_eq!(fleet.labels(alone), ["carson:planned"]);
}

#[test]
fn a_label_by_somebody_whose_word_does_not_count_is_taken_off_and_one_that_is_late_too() {
    let fleet = crew("planner", &asks(TWO), "");
    let (spec, late) = (planned(&fleet), planned(&fleet));
    ends(&fleet, "planner", "OK");
    ends(&fleet, "planner", "OK");
    let file = fleet.home().join("carson.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let section = format!("[repos.{REPO}]\n");
    assert!(text.contains(&section), "{text}");
    let narrow = text.replace(&section, &format!("{section}trusted = [\"member\"]\n"));
    std::fs::write(&file, narrow).unwrap();
    for _ in 0..2 {
        label(&fleet, spec);
        upkeep_later(&fleet);
        assert_eq!(fleet.labels(spec), [PENDING]);
    }
    assert_eq!(told(&fleet, spec, "approval counts here"), 1);
    std::fs::write(&file, text).unwrap();
    label(&fleet, late);
    sql(
        &fleet,
        "UPDATE effect SET body = REPLACE(body, '\"until\":\"20', '\"until\":\"19') WHERE body LIKE '%await-approval%'",
    );
    upkeep_later(&fleet);
    assert_eq!(fleet.labels(late), ["needs:human"]);
    assert_eq!(issues(&fleet), 3);
}

#[test]
fn an_operator_approves_from_the_terminal_and_a_question_waits_for_an_answer() {
    let fleet = crew("planner", &asks(TWO), "");
    let spec = planned(&fleet);
    ends(&fleet, "planner", "OK");
    let number = spec.to_string();
    let done = fleet.ok(&["approve", &number, "--json"]);
    assert_eq!(done["filed"], serde_json::json!([3, 4]), "{done:#}");
    assert_eq!(issues(&fleet), 4);
    let again = fleet.carson(&["approve", &number]);
    assert!(
        again.code != Some(0) && again.stderr.contains("no plan waits"),
        "{again:#?}"
    );

    let fleet = crew(
        "planner",
        &asks(r#"{"kind": "comment", "issue": 2, "body": "question: which zone?"}"#),
        "",
    );
    let spec = planned(&fleet);
    let row = ends(&fleet, "planner", "OK");
    assert_eq!(reason(&row), "1 comment");
    assert_eq!(fleet.labels(spec), ["carson:plan", "needs:human"]);
    assert!(
        comments(&fleet, spec)
            .iter()
            .any(|one| one.contains("question: which zone?"))
    );
}

#[test]
fn a_plan_that_is_not_approved_first_is_filed_at_once_within_its_bounds() {
    let grant = "[grant]\nissues = 1\nissues_per_day = 2\nissue_label = \"for:hand\"\n";
    let fleet = crew(
        "planner",
        &asks(TWO),
        &format!("[limits]\nmax_attempts = 1\n{grant}"),
    );
    for (round, count) in [(1, 3), (2, 5)] {
        planned(&fleet);
        let row = ends(&fleet, "planner", "OK");
        assert!(
            reason(&row).contains("issue of its outbox was refused: the role"),
            "{round}: {row:#}"
        );
        assert_eq!(issues(&fleet), count);
    }
    planned(&fleet);
    let full = ends(&fleet, "planner", "BLOCKED");
    assert!(
        reason(&full).contains("the role files at most 2 issues in 24 hours"),
        "{full:#}"
    );
    assert_eq!(issues(&fleet), 6);
    // What was refused is not done when the rest is: the first one stays open for it.
    assert_eq!(
        told(&fleet, 2, "and refused: 1. So this issue stays open"),
        1
    );
    let _ = fleet.ok(&["issue", "close", "3", "--json"]);
    upkeep_later(&fleet);
    assert_eq!(fleet.labels(2), ["carson:planned"]);
}

#[test]
fn of_two_plans_the_newer_counts_and_what_is_taken_back_is_dropped() {
    let fleet = crew("planner", &asks(TWO), "");
    let spec = planned(&fleet);
    let number = spec.to_string();
    ends(&fleet, "planner", "OK");
    let told = fleet.carson(&["why", &format!("issue-{spec}")]).stdout;
    assert!(
        told.contains("its plan waits") && told.contains("approve 2"),
        "{told}"
    );
    let status = fleet.carson(&["status"]).stdout;
    assert!(
        status.contains("WAITS until a person approves the plan on #2"),
        "{status}"
    );
    // The label goes without a word to Carson, and the issue is planned anew.
    let args = [
        "issue",
        "label",
        &number,
        "--remove",
        "plan-pending-approval",
        "--add",
        "carson:plan",
        "--json",
    ];
    let _ = fleet.ok(&args);
    ends(&fleet, "planner", "OK");
    assert_eq!(
        fleet.ok(&["approve", &number, "--json"])["filed"],
        serde_json::json!([3, 4])
    );
    upkeep_later(&fleet);
    assert_eq!(issues(&fleet), 4, "the older plan is dropped");
    assert_ne!(fleet.carson(&["approve", &number]).code, Some(0));

    // `carson retry` drops what waits, and a closed issue has no plan.
    let again = planned(&fleet);
    let number = again.to_string();
    ends(&fleet, "planner", "OK");
    let args = ["issue", "label", &number, "--add", "carson:plan", "--json"];
    let _ = fleet.ok(&args);
    assert_eq!(fleet.ok(&["retry", &number, "--json"])["dropped_plans"], 1);
    assert_ne!(fleet.carson(&["approve", &number]).code, Some(0));
    ends(&fleet, "planner", "OK");
    let _ = fleet.ok(&["issue", "close", &number, "--json"]);
    let closed = fleet.carson(&["approve", &number]);
    assert!(
        closed.code != Some(0) && closed.stderr.contains("it is closed"),
        "{closed:#?}"
    );
    upkeep_later(&fleet);
    assert_eq!(issues(&fleet), 4);
    // What was planned carries its role's label no more, and is given back to that role.
    assert_eq!(fleet.labels(spec), ["carson:planned"]);
    let anew = fleet.ok(&["retry", &spec.to_string(), "--json"]);
    assert_eq!(anew["added"], "carson:plan", "{anew:#}");
}

#[test]
fn people_who_approve_a_plan_read_what_was_refused_of_it() {
    let fleet = crew(
        "planner",
        &asks(TWO),
        "[limits]\nmax_attempts = 1\n[grant]\nissues = 1\nissues_per_day = 20\nissue_label = \"for:hand\"\napproval = true\n",
    );
    let spec = planned(&fleet);
    ends(&fleet, "planner", "OK");
    let all = comments(&fleet, spec);
    let plan = all
        .iter()
        .find(|one| one.contains("/carson approve"))
        .unwrap();
    assert!(
        plan.contains("the issue stays open for it") && plan.contains("at most 1 new issue"),
        "{plan}"
    );
}

#[test]
fn an_issue_without_a_label_is_for_who_makes_changes() {
    let fleet = crew("planner", &asks(TWO), "");
    let made = fleet.ok(&["issue", "create", "A change", "--json"]);
    assert_eq!(made["labels"], serde_json::json!(["for:hand"]), "{made:#}");
}

#[test]
fn who_approves_waits_for_another_process_that_carries_effects_out() {
    let fleet = crew("planner", &asks(TWO), "");
    let spec = planned(&fleet);
    ends(&fleet, "planner", "OK");
    let others = std::fs::File::create(fleet.home().join("state/recover.lock")).unwrap();
    others.lock().unwrap();
    let number = spec.to_string();
    let mut approve = fleet.command(&["approve", &number]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!((approve.try_wait().unwrap(), issues(&fleet)), (None, 2));
    drop(others);
    assert!(approve.wait().unwrap().success());
    assert_eq!(issues(&fleet), 4);
}
