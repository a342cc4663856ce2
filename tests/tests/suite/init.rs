//! `carson init`: what it finds out by itself, and what it refuses before anything is there.
#![expect(clippy::disallowed_methods, reason = "git sets the scene")]

use std::fs;
use std::process::Command;

use carson_tests::fleet::{Ran, TestFleet};

/// A CLI that is never asked.
fn fleet() -> TestFleet {
    TestFleet::new().with_program("claude", "")
}

/// A checkout of a repository of its own, on a branch of this name.
fn checkout(fleet: &TestFleet, name: &str, branch: &str, files: &[(&str, &str)]) {
    let dir = fleet.root().join(name);
    fs::create_dir_all(dir.join("src")).unwrap();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        let git = git.args(["-c", "user.name=x", "-c", "user.email=x@localhost"]);
        let done = git.args(args).current_dir(&dir).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet", &format!("--initial-branch={branch}")]);
    if files.is_empty() {
        return;
    }
    for (file, text) in files {
        fs::write(dir.join(file), text).unwrap();
    }
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--no-gpg-sign", "--message", "One"]);
}

#[test]
fn it_takes_the_repository_that_it_stands_in_with_its_branch_and_its_tests() {
    let fleet = fleet();
    let package = "{\"scripts\": {\"test\": \"jest\"}}";
    checkout(&fleet, "widget", "master", &[("package.json", package)]);
    let home = fleet.root().join("new");
    let mut init = fleet.command(&["--home", home.to_str().unwrap(), "init"]);
    init.current_dir(fleet.root().join("widget/src"));
    let made: Ran = init.output().unwrap().into();
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(made.stdout.contains("work starts from master"), "{made:#?}");
    assert!(made.stdout.contains("check: `npm test`"), "{made:#?}");

    let checked = fleet.carson(&["--home", "new", "config", "check"]);
    assert_eq!(checked.stdout, "no findings: 1 role, 1 repository\n");
    let shown = fleet.ok(&["--home", "new", "roles", "show", "implementer", "--json"]);
    assert_eq!(shown["promise"], "npm test");
    let shown = fleet.carson(&["--home", "new", "roles", "show", "implementer"]);
    assert!(!shown.stdout.contains("without a bound"), "{shown:#?}");
    assert!(shown.stdout.contains("$40.00"), "{shown:#?}");

    // What is only somewhere else is looked at there.
    let bare = fleet.root().join("widget").join(".git");
    let url = format!("file://{}", bare.display());
    let made = fleet.ok(&["--home", "far", "init", "--repo", &url, "--json"]);
    assert_eq!(
        (&made["base"], &made["check"]),
        (&"master".into(), &"npm test".into())
    );

    // Without a command that tests it, that is said.
    let made = fleet.carson(&["--home", "bare", "init", "--repo", "remote.git"]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(made.stdout.contains("no check is run before"), "{made:#?}");
    let checked = fleet.carson(&["--home", "bare", "config", "check"]);
    assert!(
        checked.stdout.contains("\"verify\" has nothing to run"),
        "{checked:#?}"
    );
    assert_eq!(checked.code, Some(0));
}

#[test]
fn what_no_firing_could_work_with_is_refused_at_once() {
    let fleet = fleet().with_program("gh", "exit 1");
    checkout(&fleet, "empty", "main", &[]);
    checkout(&fleet, "alone", "main", &[("a", "a")]);
    let github = ["--forge", "github", "--slug", "acme/widget"];
    for (args, code, says) in [
        (
            &["--repo", "file:///nowhere/at-all"][..],
            1,
            "git ls-remote file:///nowhere/at-all",
        ),
        (&["--repo", "empty"], 1, "make a first commit"),
        (
            &["--repo", "remote.git", "--base", "trunk"],
            2,
            "the repository has: main",
        ),
        (
            &[&["--repo", "alone"], &github[..]].concat(),
            2,
            "no remote \"origin\"",
        ),
        (
            &[&["--repo", "remote.git"], &github[..]].concat(),
            1,
            "gh auth",
        ),
        (
            &["--repo", "remote.git", "--engine", "codex"],
            1,
            "accounts.codex.binary",
        ),
    ] {
        let fleet_args = [&["--home", "new", "init"], args].concat();
        let mut init = fleet.command(&fleet_args);
        if args.contains(&"codex") {
            // Whatever is installed on this machine.
            init.env("CARSON_ACCOUNTS__CODEX__BINARY", "no-such-program");
        }
        let refused: Ran = init.output().unwrap().into();
        assert_eq!(refused.code, Some(code), "{args:?}: {refused:#?}");
        assert!(refused.stderr.contains("hint: "), "{args:?}: {refused:#?}");
        assert!(refused.stderr.contains(says), "{args:?}: {refused:#?}");
        assert!(
            !fleet.root().join("new").exists(),
            "{args:?}: half a home was left"
        );
    }
}
