//! Held against bash.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use carson_proc::{Command, Limits, capture, find_on_path};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;

fn covers(patterns: &[&str], path: &str) -> bool {
    let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
    ShellCase::new(&patterns).covers(Path::new(path))
}

/// The cases that SEEDS.md names of ralph-loop's scope.
#[test]
fn scope_as_ralph_loop_has_it() {
    let cases: &[(&[&str], &str, bool)] = &[
        (&["src/*"], "src/a/b", true),
        (&["docs/**"], "docs/allowed.md", true),
        (&["docs/**"], "docs/a/b/c", true),
        (&["docs/**"], "src/outside.txt", false),
        (&["docs/**"], "docs", false),
        (&["**/*"], "README.md", true),
        (&["**/*"], "a/b", true),
        (&["**/*.md"], "README.md", true),
        (&["**/*.md"], "docs/a.md", true),
        (&["a/**/b"], "a/b", false),
        (&["a/**/b"], "a/x/b", true),
        (&["a/**/b"], "a/x/y/b", true),
        (&["**/*", "!**/*.tmp"], "cache.tmp", false),
        (&["**/*", "!**/*.tmp", "keep.tmp"], "keep.tmp", true),
        (&["!**/*.tmp", "**/*"], "cache.tmp", true),
        (&["!src/*"], "docs/a", false),
        (&["./src/*"], "src/a", true),
        (&["././src/*"], "src/a", false),
        (&["!./src/*", "**/*", "!./src/*"], "src/a", false),
        (&["*"], ".env", true),
        (&["*"], "a/.env", true),
        (&["src/?.rs"], "src/a.rs", true),
        (&["src/?.rs"], "src/ab.rs", false),
        (&["src?a"], "src/a", true),
        (&["[ab]/*"], "a/x", true),
        (&["[!ab]/*"], "a/x", false),
        (&["Src/*"], "src/a", false),
        (&["**/"], "a/", true),
        (&["**/"], "a", false),
        (&[], "a", false),
    ];
    for (patterns, path, right) in cases {
        assert_eq!(covers(patterns, path), *right, "{patterns:?} on {path}");
    }
}

#[test]
fn a_pattern_of_stars_takes_no_time() {
    let pattern = "*a".repeat(200) + "b";
    assert!(!case_matches(&pattern, "a".repeat(4000).as_bytes()));
}

/// What bash says of pairs of a pattern and a text.
fn bash(pairs: &[(String, Vec<u8>)]) -> Option<Vec<bool>> {
    const SCRIPT: &str = r#"
while IFS= read -r -d '' pattern && IFS= read -r -d '' text; do
  case "$text" in $pattern) echo 1 ;; *) echo 0 ;; esac
done"#;
    let bash = find_on_path(Path::new("bash"), std::env::var_os("PATH").as_deref())?;
    let mut input = Vec::new();
    for (pattern, text) in pairs {
        input.extend([pattern.as_bytes(), b"\0", text, b"\0"].concat());
    }
    let command = Command::new(bash, "/")
        .args(["-c", SCRIPT])
        .env("LC_ALL", "C.UTF-8")
        .stdin_bytes(input);
    let limits = Limits::within(std::time::Duration::from_secs(60));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let done = runtime
        .unwrap()
        .block_on(capture(&command, &limits))
        .unwrap();
    let said = done.stdout.text();
    Some(said.lines().map(|line| line == "1").collect())
}

#[test]
fn bash_says_the_same() {
    let pattern = prop_oneof![
        6 => "[ab/.*?]{0,8}",
        6 => r"[ab/*?\[\]!^\-\\]{0,10}",
        2 => r"(\[[!^]?[a-c\]]([a-c]|-|\\|é){0,3}\]?|[*?a-c]){1,4}",
        2 => r"(\[[!^]?(\[:(alpha|digit|punct|upper|nope):\]|[=.a\[]){0,3}\]|a|\*){1,3}",
    ];
    let text = prop_oneof![
        4 => "[ab/.]{0,8}".prop_map(String::into_bytes),
        3 => r"[abc/*?\[\]!^\-\\1Aé]{0,8}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(prop_oneof![Just(b'a'), Just(0xff), Just(b'/')], 0..5),
    ];
    let mut runner = TestRunner::deterministic();
    let mut pairs = Vec::new();
    for _ in 0..6_000 {
        pairs.push((
            pattern.new_tree(&mut runner).unwrap().current(),
            text.new_tree(&mut runner).unwrap().current(),
        ));
    }
    let Some(right) = bash(&pairs) else {
        // Without bash nobody has a ralph.sh; the table above stands.
        return;
    };
    assert_eq!(right.len(), pairs.len());
    assert!(
        right.iter().filter(|one| **one).count() > 300,
        "too few match to say much"
    );
    let wrong: Vec<_> = pairs
        .iter()
        .zip(right)
        .filter(|((pattern, text), right)| case_matches(pattern, text) != *right)
        .map(|((pattern, text), right)| (pattern, OsString::from_vec(text.clone()), right))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} differ: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(30)]
    );
}
