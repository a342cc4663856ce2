//! Faults of the place: the worktree, git's own files in it, the remote.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use serde_json::Value;

use super::{fire, fleet, nothing_lost};

const COMMIT: &str = "printf 'committed\\n' > committed.txt; git add .; git diff --cached --quiet || git commit --quiet -m Half";

#[test]
fn f22_a_worktree_that_is_deleted_keeps_its_commits() {
    let agent = format!(
        "{COMMIT}\ncd /; rm -rf \"$CARSON_WORKTREE\" || rm -rf \"$CARSON_WORKTREE\"/* \"$CARSON_WORKTREE\"/.git || :\n\
         echo '[OK] done'"
    );
    let fleet = fleet(&agent, "");
    let row = fire(&fleet);
    assert_ne!(row["outcome"], "CRASHED", "{row:#}");
    nothing_lost(&fleet, &row, &["committed\n"]);
}

#[test]
fn f22_a_session_without_its_worktree_is_stopped() {
    let agent = format!("{COMMIT}\ntouch ready; sleep 605");
    let fleet = fleet(&agent, "[limits]\nwall_clock = \"5m\"\n");
    let mut command = fleet.command(&["fire", "hand", "--json"]);
    let firing = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let firing = firing.unwrap();
    let tree = until("the session to work", || {
        let bench = fleet.benches().into_iter().next()?;
        let mut inside = fs::read_dir(bench)
            .ok()?
            .filter_map(|item| Some(item.ok()?.path()));
        inside.find(|path| path.join("ready").exists())
    });
    fs::rename(&tree, fleet.root().join("away")).unwrap();
    let output = firing.wait_with_output().unwrap();
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(row["outcome"], "FAILED", "{row:#}");
    assert!(
        row["reason"].as_str().unwrap().contains("worktree"),
        "{row:#}"
    );
    nothing_lost(&fleet, &row, &["committed\n"]);
}

#[test]
fn f22_a_head_that_moved_keeps_every_commit() {
    let agent = format!(
        "{COMMIT}\ngit checkout --quiet --detach HEAD~1; printf 'strayed\\n' > strayed.txt; git add .; \
         git commit --quiet -m Strayed; git checkout --quiet -b elsewhere; printf 'more\\n' > more.txt; git add .; \
         git commit --quiet -m More; echo '[OK] done'"
    );
    let fleet = fleet(&agent, "");
    let row = fire(&fleet);
    nothing_lost(&fleet, &row, &["committed\n", "strayed\n", "more\n"]);
}

#[test]
fn f23_locks_that_are_left_behind_keep_nothing_from_being_saved() {
    let agent = format!(
        "{COMMIT}\nprintf 'staged\\n' > staged.txt; git add staged.txt; printf 'loose\\n' > loose.txt\n\
         own=$(git rev-parse --git-dir); shared=$(git rev-parse --git-common-dir)\n\
         for lock in \"$own/index.lock\" \"$own/HEAD.lock\" \"$shared/packed-refs.lock\" \"$shared/config.lock\" \
         \"$shared/shallow.lock\" \"$shared/$(git symbolic-ref HEAD).lock\"; do touch \"$lock\" || :; done\n\
         echo '[PARTIAL] half'"
    );
    let fleet = fleet(&agent, "");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    nothing_lost(&fleet, &row, &["committed\n", "staged\n", "loose\n"]);
    // And the next firing is not kept from its work.
    assert_eq!(fire(&fleet)["outcome"], "PARTIAL");
}

#[test]
fn f24_a_push_that_is_refused_keeps_the_work_here() {
    let fleet = fleet(&format!("{COMMIT}\necho '[OK] done'"), "");
    let hook = fleet.remote().join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\necho 'no: policy' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    let row = fire(&fleet);
    assert_eq!(fleet.branches(), Vec::<String>::new());
    nothing_lost(&fleet, &row, &["committed\n"]);
    let reference = row["salvage_ref"].as_str().unwrap_or_default();
    assert!(reference.starts_with("refs/carson/salvage/"), "{row:#}");
}

#[test]
fn f24_a_branch_that_somebody_took_is_never_overwritten() {
    let fleet = fleet(
        &format!(
            "{COMMIT}\ngit for-each-ref --format='%(refname:short)' refs/heads/carson > branch.txt\necho '[OK] done'"
        ),
        "",
    );
    // Every push of a new branch meets somebody else's commit under the same name.
    let hook = fleet.remote().join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let racing = "#!/bin/sh\nread -r old new ref\n\
        unset GIT_QUARANTINE_PATH\n\
        [ -e raced ] || { touch raced; git update-ref \"$ref\" refs/heads/main; }\nexit 0\n";
    fs::write(&hook, racing).unwrap();
    fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    let row = fire(&fleet);
    nothing_lost(&fleet, &row, &["committed\n"]);
    let taken = fleet.branches();
    assert!(
        taken
            .iter()
            .any(|branch| fleet.tip(branch) == fleet.tip("main")),
        "somebody's branch was overwritten: {taken:?} {row:#}"
    );
}

#[test]
fn f51_a_broken_head_of_carsons_clone_stops_nothing() {
    let agent = format!("{COMMIT}\necho '[OK] done'");
    let fleet = fleet(&agent, "[limits]\nmax_open_prs = 9\n");
    assert_eq!(fire(&fleet)["outcome"], "OK");
    for head in ["", "no head at all\n", "ref: refs/heads/nowhere\n"] {
        fs::write(fleet.mirror().join("HEAD"), head).unwrap();
        fleet.issue("hand", "More work", "To do.");
        let row = fire(&fleet);
        assert_eq!(row["outcome"], "OK", "{head:?}: {row:#}");
    }
}

#[test]
fn f51_a_home_whose_path_has_a_line_break_is_refused_with_the_reason() {
    let place = tempfile::tempdir().unwrap();
    let odd = place.path().join("two\nlines");
    fs::create_dir(&odd).unwrap();
    let refused = TestFleet::below(&odd).carson(&["status"]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.stderr.contains("line break"), "{refused:#?}");
    assert!(refused.stderr.contains("--home"), "{refused:#?}");
}
