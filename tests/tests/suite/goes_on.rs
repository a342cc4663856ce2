//! The next attempt goes on with the draft of the one before: one issue, one branch, one pull request.

use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use crate::limits::{Script, commits, gives_up};

const ROLE: &str = "implementer";

/// The number of the run that this is.
const RUN: &str = "n=$(wc -l < \"${0%.sh}.log\")\n";

fn scene(script: &str) -> Script {
    Script::new(&[("codex", format!("{RUN}{script}"))], "")
}

fn commit(what: &str) -> String {
    format!("echo {what} > {what}.txt; git add .; git commit --quiet -m {what}\n")
}

fn said_ok() -> String {
    let all = commits();
    all.split_once('\n').unwrap().1.to_owned()
}

fn pull(fleet: &TestFleet) -> Value {
    let pulls = fleet.pulls();
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    pulls[0].clone()
}

fn files(fleet: &TestFleet, branch: &str) -> Vec<String> {
    let listed = fleet.git(&["ls-tree", "-r", "--name-only", branch]);
    listed.lines().map(str::to_owned).collect()
}

/// A person's commit of `person.txt` on top of what is checked out.
pub(crate) fn person_commits(fleet: &TestFleet, how: &[&str], at: &str) -> String {
    let dir = fleet.root().join("theirs");
    let theirs = dir.to_str().unwrap();
    let add = [&["worktree", "add", "--quiet"], how, &[theirs, at]].concat();
    let _ = fleet.git(&add);
    fs::write(dir.join("person.txt"), "mine\n").unwrap();
    let ann = [
        "-C",
        theirs,
        "-c",
        "user.name=ann",
        "-c",
        "user.email=a@b.c",
    ];
    let person = |args: &[&str]| fleet.git(&[&ann, args].concat());
    let _ = person(&["add", "person.txt"]);
    let _ = person(&["commit", "--quiet", "-m", "Mine"]);
    let tip = person(&["rev-parse", "HEAD"]).trim().to_owned();
    let _ = fleet.git(&["worktree", "remove", theirs]);
    tip
}

#[test]
fn attempts_go_on_in_one_pull_request_until_it_is_merged() {
    let script = format!(
        "if [ $n = 1 ]; then {}{}fi\n\
         if [ $n = 2 ]; then [ -e one.txt ] && [ -e base.txt ] && [ -e person.txt ] || exit 4; {}{}fi\n\
         [ -e two.txt ] || exit 5; {}{}",
        commit("one"),
        gives_up(),
        commit("two"),
        gives_up(),
        commit("three"),
        said_ok()
    );
    let scene = scene(&script);
    let fleet = &scene.fleet;
    let first = scene.fire();
    assert_eq!(first["outcome"], "FAILED", "{first:#}");
    let draft = pull(fleet);
    assert_eq!(
        (&draft["state"], &draft["draft"]),
        (&"open".into(), &true.into())
    );
    let branch = draft["head"].as_str().unwrap().to_owned();
    let one = fleet.tip(&branch);

    // The base moves, and a person pushes to the draft.
    fleet.commit_to_main(&[("base.txt", "moved\n")]);
    let by_person = person_commits(fleet, &[], &branch);

    let second = scene.fire();
    assert_eq!(second["outcome"], "FAILED", "{second:#}");
    assert_eq!(second["goes_on"], branch.as_str(), "{second:#}");
    let draft = pull(fleet);
    assert_eq!(
        (&draft["head"], &draft["draft"]),
        (&branch.as_str().into(), &true.into())
    );
    let told = fleet.carson(&["firings", second["id"].as_str().unwrap()]);
    assert!(
        told.stdout.contains(&format!("branch: {branch}\n")),
        "{told:#?}"
    );
    let two = fleet.tip(&branch);
    for earlier in [&one, &by_person] {
        let _ = fleet.git(&["merge-base", "--is-ancestor", earlier, &two]);
    }

    let third = scene.fire();
    assert_eq!(third["outcome"], "OK", "{third:#}");
    let ready = pull(fleet);
    assert_eq!(
        (&ready["head"], &ready["draft"]),
        (&branch.as_str().into(), &false.into())
    );
    let all = files(fleet, &branch);
    for file in ["base.txt", "one.txt", "person.txt", "two.txt", "three.txt"] {
        assert!(all.contains(&file.to_owned()), "{file}: {all:?}");
    }
    assert_eq!(fleet.branches(), [branch.as_str()]);
    assert_eq!(fleet.labels(1), ["carson:pr-open"]);
    let number = ready["number"].to_string();
    let _ = fleet.ok(&["pr", "merge", &number, "--yes", "--json"]);
    assert_eq!(fleet.labels(1), ["carson:done"]);
}

/// A person writes the draft's history anew: theirs is what counts, and nobody writes it over.
#[test]
fn a_branch_that_a_person_wrote_anew_is_gone_on_with_as_it_is() {
    let script = format!(
        "if [ $n = 1 ]; then {}{}fi\n[ ! -e one.txt ] && [ -e person.txt ] || exit 4\n{}{}",
        commit("one"),
        gives_up(),
        commit("two"),
        said_ok()
    );
    let scene = scene(&script);
    let fleet = &scene.fleet;
    assert_eq!(scene.fire()["outcome"], "FAILED");
    let draft = pull(fleet);
    let branch = draft["head"].as_str().unwrap();
    let theirs = person_commits(fleet, &["--detach"], "main");
    let _ = fleet.git(&["update-ref", &format!("refs/heads/{branch}"), &theirs]);

    let second = scene.fire();

    assert_eq!(second["outcome"], "OK", "{second:#}");
    assert_eq!(second["goes_on"], branch, "{second:#}");
    let _ = fleet.git(&["merge-base", "--is-ancestor", &theirs, branch]);
    let all = files(fleet, branch);
    assert!(!all.contains(&"one.txt".to_owned()), "{all:?}");
    assert_eq!(pull(fleet)["draft"], false);
}

#[test]
fn a_cli_that_never_answered_leaves_the_draft_for_the_next() {
    let script = format!(
        "if [ $n = 1 ]; then {}{}fi\nif [ $n = 2 ]; then exit 3; fi\n{}{}",
        commit("one"),
        gives_up(),
        commit("two"),
        said_ok()
    );
    let scene = scene(&script);
    let fleet = &scene.fleet;
    assert_eq!(scene.fire()["outcome"], "FAILED");
    let branch = pull(fleet)["head"].as_str().unwrap().to_owned();
    let one = fleet.tip(&branch);
    // A CLI that never answered: no attempt, no push, and the draft as it was.
    let second = scene.fire();
    assert_eq!(second["outcome"], "FAILED", "{second:#}");
    assert!(second["pushed_sha"].is_null(), "{second:#}");
    assert_eq!(fleet.tip(&branch), one);
    assert_eq!(fleet.labels(1), [format!("for:{ROLE}")]);
    let third = scene.fire();
    assert_eq!(third["outcome"], "OK", "{third:#}");
    assert_eq!(pull(fleet)["draft"], false);
    let _ = fleet.git(&["merge-base", "--is-ancestor", &one, &branch]);
}

/// The commit that joins the draft with the base is Carson's own, and nothing to keep.
#[test]
fn an_attempt_that_adds_nothing_leaves_the_draft_as_it_is_and_no_bench() {
    let script = format!("[ $n = 1 ] || exit 5\n{}{}", commit("one"), gives_up());
    let scene = scene(&script);
    let fleet = &scene.fleet;
    assert_eq!(scene.fire()["outcome"], "FAILED");
    let branch = pull(fleet)["head"].as_str().unwrap().to_owned();
    let tip = fleet.tip(&branch);
    fleet.commit_to_main(&[("base.txt", "moved\n")]);
    let second = scene.fire();
    assert_eq!(second["outcome"], "FAILED", "{second:#}");
    assert!(!second["goes_on"].is_null(), "{second:#}");
    let reason = second["reason"].as_str().unwrap();
    assert!(!reason.contains("kept"), "{reason}");
    assert_eq!(
        (fleet.tip(&branch), pull(fleet)["draft"].clone()),
        (tip, true.into())
    );
    assert_eq!(fleet.benches(), Vec::<std::path::PathBuf>::new());
}

/// The commits of the draft, and Carson's own that joins it with the base, are nothing that the dead one left.
#[test]
fn who_died_with_a_draft_of_somebody_else_left_nothing_behind() {
    let script = format!(
        "if [ $n = 1 ]; then {}{}fi\ntouch ready; sleep 600",
        commit("one"),
        gives_up()
    );
    let scene = scene(&script);
    let fleet = &scene.fleet;
    let first = scene.fire();
    assert_eq!(first["outcome"], "FAILED", "{first:#}");
    fleet.commit_to_main(&[("base.txt", "moved\n")]);
    let mut command = fleet.command(&["fire", ROLE, "--json"]);
    let command = command.stdout(std::process::Stdio::null());
    let mut firing = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    carson_tests::until("the session to begin", || {
        let bench = fs::read_dir(fleet.benches().into_iter().next()?).ok()?;
        let mut dirs = bench.flatten().map(|item| item.path());
        dirs.find(|dir| dir.join("ready").exists())
    });
    firing.kill().unwrap();
    firing.wait().unwrap();
    let _ = fleet.ok(&["prune", "--json"]);
    let all = fleet.ok(&["firings", "--json"]);
    let row = fleet.firing(all[0]["id"].as_str().unwrap());
    assert_eq!(row["outcome"], "CRASHED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("; left behind: uncommitted changes"),
        "{reason}"
    );
    assert_eq!(fleet.branches().len(), 1, "the draft is kept as it was");
}

/// As a first attempt that does the same.
#[test]
fn who_adds_to_a_draft_and_commits_nothing_has_committed_nothing() {
    let script = format!(
        "if [ $n = 1 ]; then {}{}fi\necho two > two.txt\n{}",
        commit("one"),
        gives_up(),
        said_ok()
    );
    let scene = scene(&script);
    let first = scene.fire();
    assert_eq!(first["outcome"], "FAILED", "{first:#}");
    let second = scene.fire();
    assert_eq!(second["outcome"], "NO_COMMIT", "{second:#}");
    let branch = pull(&scene.fleet)["head"].as_str().unwrap().to_owned();
    assert!(files(&scene.fleet, &branch).contains(&"two.txt".to_owned()));
}

/// One word finishes nothing: what was left unfinished has to be judged, or changed.
#[test]
fn a_draft_is_not_finished_by_a_word() {
    let agent = "[ -e half.txt ] || { echo half > half.txt; git add .; git commit --quiet -m Half; echo '[PARTIAL] half'; exit; }\n\
                 echo '[OK] done'";
    let fleet = crate::faults::fleet(agent, "");
    assert_eq!(crate::faults::fire(&fleet)["outcome"], "PARTIAL");
    let row = crate::faults::fire(&fleet);
    assert_eq!(row["outcome"], "FAILED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains("added nothing to the draft"), "{reason}");
    assert_eq!(pull(&fleet)["draft"], true);
}

/// Finished work that waits to be read is not made again, whoever names its issue and whatever its labels say;
/// nor is a draft that a person took for finished.
#[test]
fn what_waits_to_be_read_is_not_made_again_by_name() {
    let agent = "date +%N > work.txt; git add .; git commit --quiet -m Work; cat says";
    let fleet = crate::faults::fleet(agent, "");
    let end = |says: &str| fleet.commit_to_main(&[("says", says)]);
    end("[OK] done\n");
    assert_eq!(crate::faults::fire(&fleet)["outcome"], "OK");
    let labels = [
        "issue",
        "label",
        "1",
        "--add",
        "for:hand",
        "--remove",
        "carson:pr-open",
    ];
    let _ = fleet.carson(&labels);
    let again = fleet
        .carson(&["fire", "hand", "--work", "1", "--json"])
        .json();
    assert_eq!(again["outcome"], "SILENT", "{again:#}");
    assert_eq!(fleet.pulls().len(), 1);

    end("[PARTIAL] half\n");
    let other = fleet.issue("hand", "Other", "").to_string();
    assert_eq!(crate::faults::fire(&fleet)["outcome"], "PARTIAL");
    let draft = fleet.pulls().into_iter().find(|pull| pull["draft"] == true);
    let draft = draft.unwrap()["number"].to_string();
    let _ = fleet.ok(&["pr", "ready", &draft, "--json"]);
    let again = fleet
        .carson(&["fire", "hand", "--work", &other, "--json"])
        .json();
    assert_eq!(again["outcome"], "SILENT", "{again:#}");
    assert_eq!(fleet.pulls().len(), 2);
}
