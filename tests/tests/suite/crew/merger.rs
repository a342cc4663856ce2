use std::fs;
use std::os::unix::fs::PermissionsExt;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use super::{COMMIT, age, ends, member, pull, reason, sql, upkeep};
use crate::faults;

/// A fleet whose merger may merge, and whose pull request #2 was reviewed unless `reviewed` is not.
fn scene(reviewed: bool) -> (TestFleet, u64) {
    let fleet = faults::fleet(COMMIT, "");
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    let text = text.replace("[\"execute\"]", "[\"execute\", \"verify\"]");
    let promise = "[promise]
run = \"test -f work.txt\"
";
    fs::write(
        &role,
        format!(
            "{text}
{promise}"
        ),
    )
    .unwrap();
    member(
        &fleet,
        "reviewer",
        "printf '{\"version\":1,\"effects\":[{\"kind\":\"review\",\"pull\":%s,\"head\":\"%s\",\"verdict\":\"approve\",\"body\":\"Fine.\"}]}' \
         \"$CARSON_WORK\" \"$(git rev-parse HEAD)\" >\"$CARSON_OUTBOX\"; echo '[OK] reviewed'",
        "",
    );
    fleet.role_of_kind("merger", &[], "");
    policy(&fleet, true);
    let number = pull(&fleet, 40);
    if reviewed {
        ends(&fleet, "reviewer", "OK");
    }
    (fleet, number)
}

fn policy(fleet: &TestFleet, merge: bool) {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("policy = { merge = true }\n", "");
    let text = match merge {
        true => text.replace(
            "[repos.widget]\n",
            "[repos.widget]\npolicy = { merge = true }\n",
        ),
        false => text,
    };
    fs::write(&path, text).unwrap();
}

fn stays(fleet: &TestFleet, why: &str) {
    let before = fleet.tip("main");
    let row = ends(fleet, "merger", "SILENT");
    assert!(reason(&row).contains(why), "{why}: {row:#}");
    assert_eq!(fleet.tip("main"), before);
}

fn file(fleet: &TestFleet, path: &str, text: &str) {
    let path = fleet.home().join("forge/widget").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn head(fleet: &TestFleet, number: u64) -> Value {
    fleet.ok(&["pr", "show", &number.to_string(), "--json"])
}

#[test]
fn what_nothing_stands_against_is_merged_and_its_issue_is_done() {
    let (fleet, number) = scene(true);
    let before = fleet.tip("main");
    let dry = fleet.carson(&["fire", "merger", "--dry-run"]).stdout;
    assert!(
        dry.contains("it asks no model") && dry.contains("it would: merge-pull"),
        "{dry}"
    );
    let row = ends(&fleet, "merger", "OK");
    assert_eq!(
        (reason(&row), row["work"].as_str()),
        ("1 merge", Some("pull-2"))
    );
    assert!(
        row["account"].is_null() && row["cost_usd"].is_null(),
        "{row:#}"
    );
    assert_ne!(fleet.tip("main"), before);
    assert_eq!(head(&fleet, number)["pull"]["state"], "merged");
    assert!(fleet.labels(1).contains(&"carson:done".to_owned()));
    assert_eq!(reason(&ends(&fleet, "merger", "SILENT")), "no work found");
}

#[test]
fn each_thing_that_stands_against_it_keeps_it_open() {
    let (fleet, number) = scene(false);
    stays(&fleet, "nobody has reviewed its newest commit");
    policy(&fleet, false);
    stays(&fleet, "policy.merge is not set there");
    policy(&fleet, true);
    age(&fleet, number, 10);
    stays(&fleet, "opened less than 30 minutes ago");
    let role = fleet.home().join("roles/merger/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(&role, format!("{text}work = {{ min_age = \"2h\" }}\n")).unwrap();
    age(&fleet, number, 40);
    stays(&fleet, "opened less than 120 minutes ago");
    fs::write(&role, text).unwrap();
    ends(&fleet, "reviewer", "OK");
    let sha = head(&fleet, number)["commit"].as_str().unwrap().to_owned();
    file(
        &fleet,
        &format!("checks/{sha}/build.md"),
        "+++\nconclusion = \"failed\"\n+++\n",
    );
    stays(&fleet, "its check build failed");
    file(
        &fleet,
        &format!("checks/{sha}/build.md"),
        "+++\nurl = \"there\"\n+++\n",
    );
    stays(&fleet, "its check build has not ended");
    file(
        &fleet,
        &format!("checks/{sha}/build.md"),
        "+++\nconclusion = \"passed\"\n+++\n",
    );
    file(
        &fleet,
        "pulls/0002.threads/0001.md",
        "+++\npath = \"work.txt\"\nline = 1\n+++\nWhy?\n",
    );
    stays(&fleet, "1 of its review threads are open");
    file(
        &fleet,
        "pulls/0002.threads/0001.md",
        "+++\npath = \"work.txt\"\nline = 1\nresolved = true\n+++\nWhy?\n",
    );
    file(
        &fleet,
        "pulls/0002.reviews/0009.md",
        "+++\nauthor = \"ann\"\nstate = \"changes-requested\"\n+++\nNo.\n",
    );
    stays(&fleet, "ann asked for changes");
    // A later remark of hers takes nothing back; an approval does.
    file(
        &fleet,
        "pulls/0002.reviews/0010.md",
        "+++\nauthor = \"ann\"\nstate = \"commented\"\n+++\nHm.\n",
    );
    stays(&fleet, "ann asked for changes");
    file(
        &fleet,
        "pulls/0002.reviews/0011.md",
        "+++\nauthor = \"ann\"\nstate = \"approved\"\n+++\nYes.\n",
    );
    // A stranger's review that looks like ours is none, and a label of a person's is heard.
    file(
        &fleet,
        "pulls/0002.reviews/0012.md",
        &format!(
            "+++\nauthor = \"eve\"\nstate = \"commented\"\n+++\n<!-- carson:review key=x head={sha} ship=no -->\n"
        ),
    );
    let text = fleet.forge_file("pulls/0002.md");
    file(
        &fleet,
        "pulls/0002.md",
        &text.replace("labels = []", "labels = [\"needs:human\"]"),
    );
    stays(&fleet, "it carries needs:human");
    file(
        &fleet,
        "pulls/0002.md",
        &text.replace("draft = false", "draft = true"),
    );
    stays(&fleet, "it is a draft");
    file(&fleet, "pulls/0002.md", &text);
    // The base changes the same file.
    fleet.commit_to_main(&[("work.txt", "other\n")]);
    stays(&fleet, "it conflicts with its base");
    // Somebody pushed to it.
    let branch = head(&fleet, number)["pull"]["head"]
        .as_str()
        .unwrap()
        .to_owned();
    let tip = fleet.tip("main");
    let _ = fleet.git(&[
        "--git-dir",
        fleet.remote().to_str().unwrap(),
        "update-ref",
        &format!("refs/heads/{branch}"),
        &tip,
    ]);
    stays(&fleet, "it has commits that the fleet did not push");
    let why = fleet.carson(&["why", "merger"]);
    assert!(
        why.stdout.contains("did not push") && why.stdout.contains("pr show 2"),
        "{why:#?}"
    );
}

#[test]
fn a_pull_request_of_a_person_is_theirs() {
    let (fleet, _) = scene(true);
    let text = fleet.forge_file("pulls/0002.md");
    file(&fleet, "pulls/0007.md", &text);
    ends(&fleet, "merger", "OK");
    stays(&fleet, "#7 is not taken: a person opened it");
}

#[test]
fn a_merge_is_never_put_off_and_everything_is_asked_again_before_it() {
    let (fleet, number) = scene(true);
    let before = fleet.tip("main");
    let hook = fleet.remote().join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    let row = ends(&fleet, "merger", "PARTIAL");
    assert!(reason(&row).starts_with("not merged: "), "{row:#}");
    fs::remove_file(&hook).unwrap();
    upkeep(&fleet);
    assert_eq!(fleet.tip("main"), before);
    // What stood in its way is seldom gone a moment later.
    stays(&fleet, "it is tried again at");
    // Who names it does not wait.
    let named = fleet.carson(&["fire", "merger", "--work", "2", "--dry-run"]);
    assert_eq!(named.code, Some(0), "{named:#?}");
    assert!(!named.stdout.contains("tried again"), "{named:#?}");
    sql(
        &fleet,
        "UPDATE firing SET outcome = 'SKIPPED' WHERE outcome = 'PARTIAL'",
    );

    // It dies with its merge decided, and a person says no before anybody goes on.
    sql(
        &fleet,
        "CREATE TRIGGER hold BEFORE INSERT ON effect BEGIN SELECT RAISE(ABORT, 'held'); END",
    );
    assert_ne!(fleet.fire("merger").code, Some(0));
    sql(&fleet, "DROP TRIGGER hold");
    let text = fleet.forge_file("pulls/0002.md");
    file(
        &fleet,
        "pulls/0002.md",
        &text.replace("labels = []", "labels = [\"needs:human\"]"),
    );
    upkeep(&fleet);
    assert_eq!(fleet.tip("main"), before);
    let row = &fleet.ok(&["firings", "--role", "merger", "--json"])[0];
    assert!(reason(row).contains("it carries needs:human"), "{row:#}");

    // Nor is a pull request whose author is a person the fleet's, and one that dies otherwise is merged.
    file(
        &fleet,
        "pulls/0002.md",
        &text.replacen("+++\n", "+++\nauthor = \"bob\"\n", 1),
    );
    stays(&fleet, "a person opened it");
    file(&fleet, "pulls/0002.md", &text);
    sql(
        &fleet,
        "UPDATE firing SET outcome = 'SKIPPED' WHERE outcome = 'PARTIAL'",
    );
    sql(
        &fleet,
        "CREATE TRIGGER hold BEFORE INSERT ON effect BEGIN SELECT RAISE(ABORT, 'held'); END",
    );
    assert_ne!(fleet.fire("merger").code, Some(0));
    sql(&fleet, "DROP TRIGGER hold");
    upkeep(&fleet);
    assert_eq!(head(&fleet, number)["pull"]["state"], "merged");
}

#[test]
fn a_check_that_did_nothing_is_none() {
    let (fleet, number) = scene(true);
    let sha = head(&fleet, number)["commit"].as_str().unwrap().to_owned();
    sql(
        &fleet,
        "UPDATE firing SET facts = REPLACE(facts, '\"promise\":\"Passed\"', '\"promise\":\"NotRun\"')",
    );
    stays(&fleet, "no check was run on it");
    file(
        &fleet,
        &format!("checks/{sha}/build.md"),
        "+++\nconclusion = \"skipped\"\n+++\n",
    );
    stays(&fleet, "no check was run on it");
    file(
        &fleet,
        &format!("checks/{sha}/build.md"),
        "+++\nconclusion = \"passed\"\n+++\n",
    );
    ends(&fleet, "merger", "OK");
}

/// What a program says of a commit.
fn ci(fleet: &TestFleet, sha: &str, says: &str) {
    let text = format!("+++\n{says}+++\nerror\n");
    file(fleet, &format!("checks/{sha}/build.md"), &text);
}

/// How many comments of the merged pull request say this.
fn told(fleet: &TestFleet, part: &str) -> usize {
    let dir = fleet.home().join("forge/widget/pulls/0002.comments");
    let all = fs::read_dir(dir).into_iter().flatten().flatten();
    all.filter(|file| fs::read_to_string(file.path()).is_ok_and(|text| text.contains(part)))
        .count()
}

/// A merge of the fleet, what it made of the base, and what that was.
fn merged() -> (TestFleet, Value, String, String) {
    let (fleet, _) = scene(true);
    let before = fleet.tip("main");
    let row = ends(&fleet, "merger", "OK");
    let landed = fleet.tip("main");
    assert_ne!(landed, before);
    (fleet, row, landed, before)
}

/// Lets the fleet take back what turned the base red.
fn takes_back(fleet: &TestFleet) {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("{ merge = true }", "{ merge = true, revert = true }");
    fs::write(&path, text).unwrap();
}

const RED: &str = "conclusion = \"failed\"\n";
const TURNED: &str = "This merge turned main red";

#[test]
fn a_merge_that_turns_the_base_red_is_told_once() {
    let (fleet, row, landed, before) = merged();
    upkeep(&fleet);
    ci(&fleet, &landed, "");
    upkeep(&fleet);
    assert_eq!(told(&fleet, TURNED), 0, "its check runs");
    for says in ["conclusion = \"passed\"\n", "conclusion = \"cancelled\"\n"] {
        ci(&fleet, &landed, says);
        upkeep(&fleet);
    }
    assert_eq!(told(&fleet, TURNED), 0, "that is not red");
    ci(&fleet, &landed, RED);
    ci(&fleet, &before, RED);
    upkeep(&fleet);
    assert_eq!(told(&fleet, TURNED), 0, "it was red before");
    ci(&fleet, &before, "conclusion = \"passed\"\n");
    upkeep(&fleet);
    upkeep(&fleet);
    assert_eq!((told(&fleet, TURNED), fleet.pulls().len()), (1, 1));
    let shown = fleet.firing(row["id"].as_str().unwrap());
    let events = shown["events"].as_array().unwrap();
    let told = events.iter().filter(|one| one["kind"] == "base.turned-red");
    assert_eq!(told.count(), 1, "{shown:#}");
}

#[test]
fn what_turned_the_base_red_is_taken_back_by_a_pull_request_whoever_dies_in_between() {
    let (fleet, row, landed, before) = merged();
    takes_back(&fleet);
    ci(&fleet, &landed, RED);
    // It dies when the branch is pushed and the pull request is there, and nobody has noted that.
    sql(
        &fleet,
        "CREATE TRIGGER hold BEFORE UPDATE OF pr_number ON firing BEGIN SELECT RAISE(ABORT, 'held'); END",
    );
    let _ = fleet.carson(&["prune"]);
    sql(&fleet, "DROP TRIGGER hold");
    upkeep(&fleet);
    upkeep(&fleet);
    let pulls = fleet.pulls();
    assert_eq!((told(&fleet, TURNED), pulls.len()), (1, 2), "{pulls:#?}");
    let back = fleet.forge_file("pulls/0003.md");
    for part in ["carson/revert-2", "Reverts #2", "Revert ", "build"] {
        assert!(back.contains(part), "{part}: {back}");
    }
    assert!(
        back.contains(&format!("This reverts commit {landed}")),
        "{back}"
    );
    let tree = |commit: &str| fleet.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
    assert_eq!(tree("carson/revert-2"), tree(&before));
    // It is the fleet's: reviewed and merged as all others, and never taken back itself.
    let shown = fleet.firing(row["id"].as_str().unwrap());
    assert_eq!(shown["pr_number"], 3, "{shown:#}");
    age(&fleet, 3, 40);
    let again = head(&fleet, 3)["commit"].as_str().unwrap().to_owned();
    ci(&fleet, &again, "conclusion = \"passed\"\n");
    ends(&fleet, "reviewer", "OK");
    ends(&fleet, "merger", "OK");
    assert_eq!(head(&fleet, 3)["pull"]["state"], "merged");
    assert_eq!(tree("main"), tree(&before));
    ci(&fleet, &fleet.tip("main"), RED);
    ci(&fleet, &landed, "conclusion = \"passed\"\n");
    upkeep(&fleet);
    upkeep(&fleet);
    assert_eq!(fleet.pulls().len(), 2);
}

#[test]
fn what_others_built_upon_is_not_taken_back_and_that_is_told_once() {
    let (fleet, _, landed, _) = merged();
    takes_back(&fleet);
    // The same file is changed again before anybody looks.
    fleet.issue("hand", "Another", "To do.");
    let row = ends(&fleet, "hand", "OK");
    let tip = fleet.tip(row["branch"].as_str().unwrap());
    let _ = fleet.git(&["update-ref", "refs/heads/main", &tip]);
    ci(&fleet, &landed, RED);
    upkeep(&fleet);
    upkeep(&fleet);
    assert_eq!(told(&fleet, TURNED), 1);
    assert_eq!(told(&fleet, "cannot be taken back by itself"), 1);
    let branches = fleet.branches();
    let is_back = |name: &String| name.starts_with("carson/revert-");
    assert!(!branches.iter().any(is_back), "{branches:?}");
}
