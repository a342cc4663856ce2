//! A feature becomes issues of two repositories, in their order; an issue that was divided is done when its parts are.

use std::fs;

use carson_tests::fleet::{REPO, TestFleet};
use serde_json::{Value, json};

use super::{asks, comments, crew, ends, fire, prompt, reason, sql, upkeep};

/// The other repository.
const OTHER: &str = "gears";
const GRANT: &str =
    "[grant]\ncomments = 1\nissues = 10\nissues_per_day = 20\nissue_label = \"for:hand\"\n";
/// The fence hides nothing of what Carson says.
const THREE: &str = r#"{"kind": "issue", "title": "The form", "body": "What passes."},
{"kind": "issue", "title": "The server", "body": "Takes it.\n```\nno end", "repo": "gears", "after": [1]},
{"kind": "issue", "title": "The page", "body": "Shows it.", "repo": "widget", "after": [2, 1]}"#;

/// A fleet of two repositories with this role and an implementer in both, whose only issue is number 2.
fn of_two(kind: &str, entries: &str, more: &str) -> TestFleet {
    let fleet = crew(kind, &asks(entries), more);
    let _ = fleet.ok(&["issue", "close", "1", "--json"]);
    let label = match kind {
        "planner" => "carson:plan",
        _ => "carson:architect",
    };
    let args = [
        "issue",
        "create",
        "Feature",
        "--body",
        "All of it.",
        "--label",
        label,
        "--json",
    ];
    assert_eq!(fleet.ok(&args)["number"], 2);
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let other = format!("\n[repos.{OTHER}]\nurl = {:?}\n", fleet.remote());
    fs::write(settings, text + &other).unwrap();
    for role in [kind, "hand"] {
        let file = fleet.home().join(format!("roles/{role}/role.toml"));
        let text = fs::read_to_string(&file).unwrap();
        let both = format!("repos = [{REPO:?}, {OTHER:?}]");
        fs::write(file, text.replace("repos = [\"widget\"]", &both)).unwrap();
    }
    fleet
}

/// An issue of a repository.
fn issue(fleet: &TestFleet, repo: &str, number: u64) -> Value {
    let number = number.to_string();
    let shown = fleet.ok(&["issue", "show", &number, "--repo", repo, "--json"]);
    shown["issue"].clone()
}

/// The texts of a repository's open issues.
fn texts(fleet: &TestFleet, repo: &str) -> Vec<String> {
    let list = fleet.ok(&["issue", "list", "--repo", repo, "--json"]);
    let all = list.as_array().unwrap().iter();
    all.map(|one| one["body"].as_str().unwrap().to_owned())
        .collect()
}

/// What a person does to an issue.
fn does(fleet: &TestFleet, verb: &str, (repo, number): (&str, u64), more: &[&str]) {
    let number = number.to_string();
    let args = ["issue", verb, &number, "--repo", repo, "--json"];
    let _ = fleet.ok(&[&args[..], more].concat());
}

/// The three issues name each other as their repositories read it.
fn refer_to_each_other(fleet: &TestFleet) {
    for (repo, number, begins, part_of) in [
        (REPO, 3, "What passes.", "Part of #2, planned by architect"),
        (
            OTHER,
            1,
            "Depends on: local/widget#3\n\nTakes it.",
            "Part of local/widget#2, planned",
        ),
        (
            REPO,
            4,
            "Depends on: #3, local/gears#1\n\nShows it.",
            "Part of #2, planned",
        ),
    ] {
        let found = issue(fleet, repo, number);
        let body = found["body"].as_str().unwrap();
        // Before it stands what it is found by.
        let (_, text) = body.split_once("-->\n").unwrap();
        assert!(text.starts_with(begins), "{repo}#{number}: {body}");
        assert!(body.contains(part_of), "{repo}#{number}: {body}");
        assert_eq!(found["labels"], json!(["for:hand"]), "{found:#}");
    }
}

#[test]
fn a_feature_becomes_issues_of_two_repositories_that_are_done_in_their_order() {
    let grant = format!("{GRANT}approval = true\n");
    let fleet = of_two("architect", THREE, &grant);
    let row = ends(&fleet, "architect", "OK");
    assert_eq!(reason(&row), "3 new issues");
    let told = prompt(&fleet, "architect");
    for words in [
        "is filed in another repository: `gears`; without it in `widget`",
        "10 new issues (20 in 24 hours)",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert_eq!(fleet.labels(2), ["plan-pending-approval"]);
    upkeep(&fleet);
    assert_eq!(
        (texts(&fleet, REPO).len(), texts(&fleet, OTHER).len()),
        (1, 0)
    );
    let plan = comments(&fleet, 2);
    let plan = plan.iter().find(|one| one.contains("/carson approve"));
    let plan = plan.unwrap();
    for words in [
        "1. The form\n\nIn the repository widget.\n\nWhat",
        "2. The server\n\nIn the repository gears.\n\nAfter 1.\n\nTakes",
        "3. The page\n\nIn the repository widget.\n\nAfter 1, 2.\n\nShows",
    ] {
        assert!(plan.contains(words), "{words}: {plan}");
    }

    let done = fleet.ok(&["approve", "2", "--repo", REPO, "--json"]);
    assert_eq!(done["filed"], json!([3, 4]), "{done:#}");
    assert_eq!(done["elsewhere"], json!(["gears#1"]), "{done:#}");
    refer_to_each_other(&fleet);
    assert_eq!(fleet.labels(2), ["carson:planned"]);
    let said = comments(&fleet, 2);
    assert!(
        said.iter()
            .any(|one| one.contains("Filed: #3 local/gears#1 #4")),
        "{said:?}"
    );
    assert!(fire(&fleet, "architect")["work"].is_null());

    let why = fleet.carson(&["why", "hand"]).stdout;
    for held in [
        "#4 of widget: it waits for #3, which is open",
        "#1 of gears: it waits for local/widget#3, which is open",
    ] {
        assert!(why.contains(held), "{held}: {why}");
    }
    let work = |row: &Value| (row["repo"].clone(), row["work"].clone());
    assert_eq!(
        work(&ends(&fleet, "hand", "OK")),
        (json!(REPO), json!("issue-3"))
    );
    assert!(fire(&fleet, "hand")["work"].is_null());
    does(&fleet, "close", (REPO, 3), &[]);
    assert_eq!(
        work(&ends(&fleet, "hand", "OK")),
        (json!(OTHER), json!("issue-1"))
    );
    assert!(fire(&fleet, "hand")["work"].is_null());
}

#[test]
fn who_dies_between_two_of_its_issues_files_each_once_with_its_references() {
    // The forge has it, and the row does not say so: the write that would is refused.
    for hold in [
        "CREATE TRIGGER hold BEFORE UPDATE ON effect WHEN NEW.n = 0 BEGIN SELECT RAISE(ABORT, 'held'); END",
        "CREATE TRIGGER hold BEFORE UPDATE ON effect WHEN NEW.n = 1 BEGIN SELECT RAISE(ABORT, 'held'); END",
        "CREATE TRIGGER hold BEFORE UPDATE ON effect WHEN NEW.n = 2 BEGIN SELECT RAISE(ABORT, 'held'); END",
        "CREATE TRIGGER hold BEFORE UPDATE ON effect WHEN NEW.n = 3 BEGIN SELECT RAISE(ABORT, 'held'); END",
        "CREATE TRIGGER hold BEFORE UPDATE ON effect WHEN NEW.n = 4 BEGIN SELECT RAISE(ABORT, 'held'); END",
        "CREATE TRIGGER hold BEFORE INSERT ON effect BEGIN SELECT RAISE(ABORT, 'held'); END",
    ] {
        let fleet = of_two("architect", THREE, GRANT);
        sql(&fleet, hold);
        let ran = fleet.fire("architect");
        assert_ne!(ran.code, Some(0), "{hold}: {ran:#?}");
        sql(&fleet, "DROP TRIGGER hold");
        upkeep(&fleet);
        assert_eq!(texts(&fleet, REPO).len(), 3, "{hold}");
        assert_eq!(texts(&fleet, OTHER).len(), 1, "{hold}");
        refer_to_each_other(&fleet);
        let told = comments(&fleet, 2);
        let filed = told.iter().filter(|one| one.contains("Filed:"));
        let filed: Vec<&String> = filed.collect();
        assert_eq!(filed.len(), 1, "{hold}: {told:?}");
        assert!(filed[0].contains("#3 local/gears#1 #4"), "{hold}: {told:?}");
        assert_eq!(fleet.labels(2), ["carson:planned"], "{hold}");
    }
}

#[test]
fn foreign_repositories_a_wrong_order_and_too_many_are_refused() {
    let once = format!("[limits]\nmax_attempts = 1\n{GRANT}");
    let one = r#"{"kind": "issue", "title": "T", "body": "B"}"#;
    let many = [one; 11].join(",");
    let here = r#", {"kind": "issue", "title": "T", "body": "B", "after": [2]}"#;
    let there = r#", {"kind": "issue", "title": "T", "body": "B", "repo": "gears"}"#;
    let foreign = there.replace("gears", "other");
    for (kind, entries, why) in [
        (
            "architect",
            format!("{one}{foreign}"),
            "1 new issue; issue of its outbox was refused: the role files no issues in a repository \"other\"",
        ),
        (
            "planner",
            format!("{one}{there}"),
            "1 new issue; issue of its outbox was refused: the role files no issues in a repository \"gears\"",
        ),
        (
            "architect",
            format!("{one}{here}"),
            "1 new issue; issue of its outbox was refused: it comes after entry 2, and only entries before it count",
        ),
        (
            "architect",
            many,
            "10 new issues; issue of its outbox was refused: the role may make at most 10 new issues in one firing",
        ),
    ] {
        let fleet = of_two(kind, &entries, &once);
        let row = ends(&fleet, kind, "OK");
        assert!(reason(&row).contains(why), "{why}: {row:#}");
        assert_eq!(texts(&fleet, OTHER).len(), 0, "{why}");
    }
}

#[test]
fn an_issue_that_was_divided_is_closed_once_when_all_of_its_parts_are_done() {
    let here = r#"{"kind": "issue", "title": "One", "body": "B"}, {"kind": "issue", "title": "Two", "body": "B"}"#;
    let there = r#"{"kind": "issue", "title": "One", "body": "B"}, {"kind": "issue", "title": "Two", "body": "B", "repo": "gears"}"#;
    for (kind, entries, second, parts) in [
        ("planner", here, (REPO, 4), "#3 #4"),
        ("architect", there, (OTHER, 1), "#3 local/gears#1"),
    ] {
        let fleet = of_two(kind, entries, GRANT);
        ends(&fleet, kind, "OK");
        let said = format!("All of its parts are done: {parts}");
        let stands = |closed: bool, label: &[&str], times: usize| {
            upkeep(&fleet);
            let state = if closed { "closed" } else { "open" };
            let found = issue(&fleet, REPO, 2);
            assert_eq!(found["state"], state, "{kind}: {found:#}");
            assert_eq!(fleet.labels(2), label, "{kind}");
            let all = comments(&fleet, 2);
            let told = all.iter().filter(|one| one.contains(&said));
            assert_eq!(told.count(), times, "{kind}: {all:?}");
        };
        stands(false, &["carson:planned"], 0);
        does(&fleet, "close", (REPO, 3), &[]);
        stands(false, &["carson:planned"], 0);
        // Whoever closes it like that has given it up.
        does(&fleet, "label", second, &["--add", "needs:human"]);
        does(&fleet, "close", second, &[]);
        stands(false, &["carson:planned"], 0);
        does(&fleet, "label", second, &["--remove", "needs:human"]);
        stands(true, &["carson:done"], 1);
        stands(true, &["carson:done"], 1);
        // As if it had died before it was closed.
        does(&fleet, "reopen", (REPO, 2), &[]);
        let as_before = ["--add", "carson:planned", "--remove", "carson:done"];
        does(&fleet, "label", (REPO, 2), &as_before);
        stands(true, &["carson:done"], 1);
        // A person wants it open.
        does(&fleet, "reopen", (REPO, 2), &[]);
        stands(false, &["carson:done"], 1);
        // Its label alone closes nothing that was told long ago.
        let path = format!("issues/0002.comments/{:04}.md", comments(&fleet, 2).len());
        let text = fleet.forge_file(&path);
        assert!(text.contains(&said), "{kind}: {text}");
        let (head, rest) = text.split_once("created_at = \"20").unwrap();
        let text = format!("{head}created_at = \"19{rest}");
        fs::write(fleet.home().join("forge/widget").join(path), text).unwrap();
        does(&fleet, "label", (REPO, 2), &as_before);
        stands(false, &[], 1);
    }
}
