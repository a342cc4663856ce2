//! Faults of where work is left: every place of git's but the branch that is pushed.

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use super::{fire, fleet, nothing_lost};

/// What is done first in each case: the one file that is finished work.
const FINISHED: &str = "echo done > done.txt; git add done.txt; git commit --quiet -m Done";

/// A case of F43: where the session leaves `left` beside finished work.
const PLACES: [(&str, &str); 14] = [
    (
        "a stash",
        "echo left > left.txt; git add left.txt; git stash --quiet",
    ),
    (
        "a stash of what was not tracked",
        "echo left > left.txt; git stash --quiet --include-untracked",
    ),
    (
        "reset away",
        "echo left > left.txt; git add left.txt; git commit --quiet -m Left; git reset --quiet --hard HEAD~1",
    ),
    (
        "a second worktree",
        "git worktree add --quiet --detach \"$TMPDIR/second\"; cd \"$TMPDIR/second\"; echo left > left.txt\n\
         git add left.txt; git commit --quiet -m Left; cd \"$CARSON_WORKTREE\"",
    ),
    (
        "a second worktree, not committed",
        "git worktree add --quiet --detach \"$TMPDIR/second\"; echo left > \"$TMPDIR/second/left.txt\"",
    ),
    (
        "a second worktree in the home, staged",
        "git worktree add --quiet -b other \"$HOME/deep/second\"; cd \"$HOME/deep/second\"; echo left > left.txt\n\
         git add left.txt; rm left.txt; cd \"$CARSON_WORKTREE\"",
    ),
    (
        "a second worktree that was moved, on top of a commit of its own",
        "git worktree add --quiet --detach \"$TMPDIR/second\"; cd \"$TMPDIR/second\"; echo one > one.txt\n\
         git add one.txt; git commit --quiet -m One; echo left > one.txt; cd \"$CARSON_WORKTREE\"\n\
         git worktree move \"$TMPDIR/second\" \"$TMPDIR/third\"",
    ),
    (
        "a second worktree that was moved behind git's back",
        "git worktree add --quiet --detach \"$TMPDIR/second\"; mv \"$TMPDIR/second\" \"$TMPDIR/third\"; echo left > \"$TMPDIR/third/left.txt\"",
    ),
    (
        "a second worktree that is closed",
        "git worktree add --quiet --detach \"$TMPDIR/second\"; echo left > \"$TMPDIR/second/left.txt\"; chmod 000 \"$TMPDIR/second\"",
    ),
    (
        "a second worktree below a closed directory",
        "git worktree add --quiet --detach \"$TMPDIR/in/second\"; echo left > \"$TMPDIR/in/second/left.txt\"; chmod 000 \"$TMPDIR/in\"",
    ),
    (
        "a second worktree with rules of its own",
        "git worktree add --quiet --detach \"$TMPDIR/second\"; cd \"$TMPDIR/second\"; echo 'left*' > .gitignore; echo left > left.txt; cd \"$CARSON_WORKTREE\"",
    ),
    (
        "a second worktree without its link",
        "git worktree add --quiet --detach \"$TMPDIR/second\"; echo left > \"$TMPDIR/second/left.txt\"; rm \"$TMPDIR/second/.git\"",
    ),
    (
        "the log of a repository inside",
        "mkdir lib; cd lib; git init --quiet; echo one > one.txt; git add .; git commit --quiet -m One\n\
         echo left > left.txt; git add .; git commit --quiet -m Left; git reset --quiet --hard HEAD~1; cd ..",
    ),
    (
        "the directory of a module that went",
        "mkdir lib; cd lib; git init --quiet; echo left > left.txt; git add .; git commit --quiet -m Left; cd ..\n\
         mkdir -p \"$(git rev-parse --git-dir)/modules\"; mv lib/.git \"$(git rev-parse --git-dir)/modules/lib\"; rm -rf lib",
    ),
];

#[test]
fn f43_work_in_any_other_place_is_kept_and_named() {
    for (place, leaves) in PLACES {
        let agent = format!("{FINISHED}\n{leaves}\necho '[OK] done'");
        let fleet = fleet(&agent, "");
        let row = fire(&fleet);
        nothing_lost(&fleet, &row, &["done\n", "left\n"]);
        named(place, &fleet, &row);
    }
}

/// Somebody who reads the row or the issue finds the ref.
fn named(place: &str, fleet: &TestFleet, row: &Value) {
    let row = fleet.firing(row["id"].as_str().unwrap());
    let told = fleet.ok(&["issue", "show", "1", "--json"])["comments"].to_string();
    let reason = row["reason"].as_str().unwrap_or_default();
    for text in [&format!("{reason} {}", row["salvage_ref"]), &told] {
        assert!(
            text.contains("refs/carson/"),
            "{place}: nothing names where it is: {text}\n{row:#}"
        );
    }
}

#[test]
fn f42_files_behind_a_link_that_was_written_by_hand_are_kept() {
    let agent = "mkdir lib; echo left > lib/a.txt; echo done > done.txt; git add done.txt\n\
                 git update-index --add --cacheinfo \"160000,$(git rev-parse HEAD),lib\"\n\
                 git commit --quiet -m Link; echo '[OK] done'";
    let fleet = fleet(agent, "");
    let row = fire(&fleet);
    nothing_lost(&fleet, &row, &["done\n", "left\n"]);
    named("behind a link", &fleet, &row);
}
