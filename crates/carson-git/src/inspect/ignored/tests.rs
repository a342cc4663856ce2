//! The rules are git's own: it is asked the same.

use std::fs;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::fixture::{git, write};

/// What `.gitignore` files are made of.
fn pattern() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("a"),
        Just("b"),
        Just("ab"),
        Just("*"),
        Just("**"),
        Just("a*"),
        Just("*.b"),
        Just("?"),
        Just("[ab]"),
        Just("[!a]"),
        Just("\\a"),
        Just("a b"),
        Just(".hid"),
    ];
    let body = prop::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"));
    let ends = (
        prop_oneof![4 => Just(""), 1 => Just("!")],
        prop_oneof![2 => Just(""), 1 => Just("/")],
    );
    let tail = prop_oneof![3 => Just(""), 2 => Just("/"), 1 => Just(" "), 1 => Just("\\ ")];
    (ends, body, tail).prop_map(|((bang, root), body, tail)| format!("{bang}{root}{body}{tail}"))
}

fn file() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(pattern(), 0..5)
}

const FILES: [&str; 14] = [
    "a", "b", "ab", "x.b", "d/a", "d/b", "d/ab", "d/a.b", "d/.hid", "d/e/a", "d/e/ab", "d/e/f/a",
    "a b", "a ",
];

#[test]
fn the_library_and_git_agree() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path();
    git(top, ["init", "--quiet"]);
    for file in FILES {
        let path = top.join(file);
        if !path.exists() {
            write(&path, "x");
        }
    }
    let cases = std::env::var("PROPTEST_CASES").map_or(48, |cases| cases.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let agreed = TestRunner::new(config).run(&(file(), file(), file()), |(one, two, three)| {
        for (dir, lines) in [("", &one), ("d", &two), ("d/e", &three)] {
            write(&top.join(dir).join(".gitignore"), lines.join("\n"));
        }
        let list = git(top, ["ls-files", "-z", "--others", "--exclude-standard"]);
        let mut theirs: Vec<&str> = list
            .split('\0')
            .filter(|name| !name.ends_with(".gitignore") && !name.is_empty())
            .collect();
        theirs.sort_unstable();
        let mut ours = Vec::new();
        walk(top, "", &Rules::default(), &mut ours);
        ours.retain(|name| !name.ends_with(".gitignore"));
        ours.sort_unstable();
        prop_assert_eq!(ours, theirs, "{:?} {:?} {:?}", one, two, three);
        Ok(())
    });
    agreed.unwrap();
}

/// Everything that is not ignored, as `files.rs` walks.
fn walk(top: &Path, dir: &str, rules: &Rules, found: &mut Vec<String>) {
    let rules = rules.below(dir.as_bytes(), &top.join(dir).join(".gitignore"));
    for item in fs::read_dir(top.join(dir)).unwrap() {
        let item = item.unwrap();
        let name = item.file_name().into_string().unwrap();
        let path = if dir.is_empty() {
            name.clone()
        } else {
            format!("{dir}/{name}")
        };
        let is_dir = item.file_type().unwrap().is_dir();
        if name == ".git" || rules.ignore(path.as_bytes(), is_dir) {
            continue;
        }
        match is_dir {
            true => walk(top, &path, &rules, found),
            false => found.push(path),
        }
    }
}
