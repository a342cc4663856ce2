//! Wherever a session leaves what it made, it is its work, or it is kept and named.

use std::fs;

use crate::faults::{WAITS, Waiting, fire, fleet, nothing_lost};

#[test]
fn a_branch_of_its_own_is_the_work_and_caches_are_none() {
    let agent = "git checkout --quiet -b feature/x; echo work > work.txt; git add work.txt\n\
                 git commit --quiet -m Work; git checkout --quiet --detach; mkdir __pycache__ .pytest_cache\n\
                 echo x > __pycache__/a.pyc; echo x > .pytest_cache/x; echo '[OK] done'";
    let fleet = fleet(agent, "");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert_eq!(row["reason"], "1 commit, no check was run", "{row:#}");
    assert!(row["salvage_ref"].is_null(), "{row:#}");
    let branch = fleet.branches().join(" ");
    assert_eq!(
        fleet.git(&["show", &format!("{branch}:work.txt")]),
        "work\n"
    );
    let pulls = fleet.pulls();
    assert_eq!(pulls[0]["draft"], false, "{pulls:?}");
    nothing_lost(&fleet, &row, &["work\n"]);
}

/// Whoever reads the pull request sees what is not in it, and where that is.
#[test]
fn what_is_beside_finished_work_is_named_in_its_pull_request() {
    let agent = "echo work > work.txt; git add work.txt; git commit --quiet -m Work\n\
                 echo notes > notes.txt; echo '[OK] done'";
    let fleet = fleet(agent, "");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let kept = row["salvage_ref"].as_str().unwrap();
    let number = fleet.pulls()[0]["number"].as_u64().unwrap();
    let shown = fleet
        .ok(&["pr", "show", &number.to_string(), "--json"])
        .to_string();
    assert!(
        shown.contains("something was left uncommitted") && shown.contains(kept),
        "{kept}: {shown}"
    );
    nothing_lost(&fleet, &row, &["work\n", "notes\n"]);
}

/// Where a session ended on another branch than that of its work, nothing of the work is undone, and no check that saw the
/// work alone is said to have passed on both.
#[test]
fn a_branch_beside_the_work_undoes_nothing_of_it() {
    let agent = "echo work > work.txt; git add work.txt; git commit --quiet -m Work\n\
                 git checkout --quiet -b other HEAD~1; echo other > other.txt; git add other.txt\n\
                 git commit --quiet -m Other; echo '[OK] done'";
    let more = "stages = [\"execute\", \"verify\"]\n[promise]\nrun = \"test -f work.txt && ! test -f other.txt\"\ntimeout = \"1m\"\n";
    let fleet = fleet(agent, "");
    fleet.role("hand", "sh", more);
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    let branch = fleet.branches().join(" ");
    for file in ["work", "other"] {
        let shown = fleet.git(&["show", &format!("{branch}:{file}.txt")]);
        assert_eq!(shown, format!("{file}\n"));
    }
    let number = fleet.pulls()[0]["number"].as_u64().unwrap();
    let shown = fleet
        .ok(&["pr", "show", &number.to_string(), "--json"])
        .to_string();
    assert!(
        !shown.contains("- passed: ") && shown.contains("- passed, before"),
        "{shown}"
    );
    assert!(!shown.contains("has finished it"), "{shown}");
    nothing_lost(&fleet, &row, &["work\n", "other\n"]);
}

/// Who says that all is done and left nothing but what programs make again has changed nothing.
#[test]
fn caches_alone_are_no_work_that_was_forgotten() {
    let agent = "mkdir __pycache__; echo x > __pycache__/a.pyc; echo '[OK] done'";
    let fleet = fleet(agent, "");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "FAILED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains("changed nothing"), "{reason}");
    assert!(fleet.pulls().is_empty() && fleet.branches().is_empty());
    nothing_lost(&fleet, &row, &[]);
}

/// Git is told names of files a line each, and leaves out a carriage return before the line's end (macOS names the file
/// of a folder's picture so).
#[test]
fn a_name_that_git_cannot_be_told_costs_no_other_file() {
    let agent = "printf 'icon\n' > \"$(printf 'Icon\\r')\"; echo important > important.txt; echo '[OK] done'";
    let fleet = fleet(agent, "");
    let row = fire(&fleet);
    assert_eq!(fleet.pulls()[0]["draft"], true, "{row:#}");
    nothing_lost(&fleet, &row, &["icon\n", "important\n"]);
    assert!(fleet.benches().is_empty(), "{row:#}");
}

#[test]
fn branches_that_nobody_joined_are_a_draft_and_named() {
    let agent = "base=$(git rev-parse HEAD)\n\
                 for one in a b; do git checkout --quiet -b feature/$one $base; echo $one > $one.txt\n\
                 git add $one.txt; git commit --quiet -m $one; done; echo '[OK] done'";
    let fleet = fleet(agent, "");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.contains("what it committed on feature/a is kept under refs/carson/salvage/"),
        "{reason}"
    );
    assert_eq!(fleet.pulls()[0]["draft"], true);
    nothing_lost(&fleet, &row, &["a\n", "b\n"]);
}

/// Files in the place of a submodule, of a repository whose `.git` went, and behind an ignore rule of
/// the session's own: beside finished work all of them are kept.
#[test]
fn what_git_does_not_see_is_kept() {
    let agent = "echo work > work.txt; git add work.txt; git commit --quiet -m Work\n\
                 echo inside > dep/new.txt; mkdir lib; cd lib; git init --quiet; echo lib > a.txt\n\
                 git add .; git commit --quiet -m Lib; cd ..; git add lib; git commit --quiet -m Link\n\
                 rm -rf lib/.git; mkdir pkg; echo '*' > pkg/.gitignore; echo hidden > pkg/new.py\n\
                 echo '[OK] done'";
    let fleet = fleet(agent, "");
    fleet.link_on_main("dep");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.contains("ignore rules hide what it made (pkg/"),
        "{reason}"
    );
    let branch = fleet.branches().join(" ");
    let files = fleet.git(&["ls-tree", "-r", "--name-only", &branch]);
    assert!(
        !files.contains("pkg/") && !files.contains("dep/new"),
        "{files}"
    );
    nothing_lost(&fleet, &row, &["inside\n", "lib\n", "hidden\n"]);
}

/// Kept is said of what is kept, and of nothing else: what could not be put anywhere stays where it is.
#[test]
fn what_cannot_be_kept_stays_in_its_workspace_and_that_is_said() {
    let agent = format!(
        "{WAITS}\necho work > work.txt; git add work.txt; git commit --quiet -m Work\n\
         echo left > left.txt; echo '[OK] done'"
    );
    let fleet = fleet(&agent, "");
    let waiting = Waiting::of(&fleet);
    let id = fleet.ok(&["firings", "--json"])[0]["id"].clone();
    let id = id.as_str().unwrap();
    // Nobody takes this lock away, as if its disk could not be written.
    let lock = fleet.store().join(format!("refs/carson/salvage/{id}.lock"));
    fs::create_dir_all(lock.join("held")).unwrap();

    let row = waiting.goes_on();

    assert_eq!(row["outcome"], "OK", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.contains("not all of it is kept elsewhere, and its workspace stays"),
        "{reason}"
    );
    assert!(row["salvage_ref"].is_null(), "{row:#}");
    let [bench] = <[_; 1]>::try_from(fleet.benches()).unwrap();
    let files = carson_tests::fleet::tree(&bench);
    let left = files.iter().find(|(file, _)| file.ends_with("left.txt"));
    assert_eq!(left.map(|(_, text)| text.as_slice()), Some(&b"left\n"[..]));

    // Once it can be kept, it is, and its workspace goes.
    fs::remove_dir_all(&lock).unwrap();
    let pruned = fleet.carson(&["prune"]);
    assert_eq!(pruned.code, Some(0), "{pruned:#?}");
    nothing_lost(&fleet, &row, &["work\n", "left\n"]);
}
