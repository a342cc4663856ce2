//! Files with tests that a change adds or alters, how they are run, and how they are laid over a checkout of
//! another commit: whoever sees them fail there and pass here knows what the change is good for.

mod owner;
mod rust;

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

use carson_core::untrusted::is_hidden;
use git2::{Blob, Oid, Repository, Tree};
use serde::{Deserialize, Serialize};

use super::diff::content;
use super::objects::Objects;
use super::tree_diff::{Changed, changed};
use crate::paths::path_of;

/// Files that are looked at.
const FILES: usize = 2_000;
/// Letters of a path.
const PATH: usize = 500;
/// Directories whose files are tests, or what these need.
const DIRECTORIES: [&str; 8] = [
    "tests",
    "test",
    "__tests__",
    "__snapshots__",
    "testdata",
    "fixtures",
    "spec",
    "specs",
];
/// How the name of a file ends that nobody writes tests in.
const NO_CODE: [&str; 6] = ["md", "txt", "json", "snap", "toml", "lock"];

/// A file of a change that has tests, or that tests need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedTest {
    /// Its path.
    pub path: String,
    /// How much of it is laid over another commit.
    pub part: TestPart,
    /// Whether it has tests itself.
    pub is_test: bool,
    /// How these are run; `None` where nobody knows.
    pub run: Option<TestRun>,
}

/// How much of a file is tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TestPart {
    /// All of it.
    File,
    /// The `#[cfg(test)]` modules of Rust code.
    Modules,
}

/// How tests of a file are run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRun {
    /// By whom.
    pub runner: TestRunner,
    /// In which directory; empty is the repository's own.
    pub dir: String,
    /// What that is asked for: a path in the directory, or arguments that name a target.
    pub asks: Vec<String>,
}

/// Who runs tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TestRunner {
    /// `cargo test`.
    Cargo,
    /// pytest.
    Pytest,
    /// Jest.
    Jest,
    /// Vitest.
    Vitest,
    /// `go test`.
    Go,
}

/// The tests that the change from one tree to another adds or alters, and the files that these may need;
/// none where there is too much to look at.
pub(super) fn changed_tests(objects: &Objects, old: Oid, new: Oid) -> Vec<ChangedTest> {
    let all = changed(objects, new, &[old]).unwrap_or_default();
    let Ok(tree) = objects.tree(new) else {
        return Vec::new();
    };
    let files = all.iter().filter(|one| is_file(one));
    files
        .filter_map(|one| test_of(objects, &tree, one))
        .take(FILES)
        .collect()
}

fn is_file(one: &Changed) -> bool {
    let mode = one.new.map(|(_, mode)| mode);
    matches!(mode, Some(0o100_644 | 0o100_755))
}

fn test_of(objects: &Objects, tree: &Tree<'_>, one: &Changed) -> Option<ChangedTest> {
    let path = std::str::from_utf8(&one.path).ok()?;
    if !is_plain(path) {
        return None;
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let of = |part, is_test, run| {
        Some(ChangedTest {
            path: path.to_owned(),
            part,
            is_test,
            run,
        })
    };
    let whole = |run: Option<TestRun>| of(TestPart::File, true, run);
    match ending {
        "rs" => {
            let (old, new) = (content(objects, one.old), content(objects, one.new));
            let texts = (old.ok()?, new.ok()?);
            let is_declared = owner::declares(objects, tree, path);
            let part = rust::part(path, is_declared, (&texts.0, &texts.1))?;
            let run = owner::cargo(objects, tree, path);
            // Without a target of its own it is what others share.
            of(part, run.is_some() || part == TestPart::Modules, run)
        }
        "py" if stem.starts_with("test_") || stem.ends_with("_test") => {
            whole(Some(owner::pytest(tree, path)))
        }
        "go" if stem.ends_with("_test") => whole(Some(owner::go(tree, path))),
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts"
            if is_script_test(path, stem) =>
        {
            whole(owner::script(objects, tree, path))
        }
        ending if !NO_CODE.contains(&ending) && is_named_as_test(stem) => whole(None),
        _ => {
            let above = path.rsplit_once('/').map_or("", |(above, _)| above);
            let is_needed = above.split('/').any(|dir| DIRECTORIES.contains(&dir));
            (is_needed || name == "conftest.py")
                .then(|| of(TestPart::File, false, None))
                .flatten()
        }
    }
}

fn is_script_test(path: &str, stem: &str) -> bool {
    let is_named = stem.ends_with(".test") || stem.ends_with(".spec");
    is_named || path.split('/').any(|dir| dir == "__tests__")
}

/// As tests are called in other languages.
fn is_named_as_test(stem: &str) -> bool {
    let ends = ["_test", "_spec", "Test", "Tests", "Spec"];
    stem.starts_with("test_") || ends.iter().any(|end| stem.ends_with(end))
}

/// Whether nothing in the path is more than the name of a file or directory.
fn is_plain(path: &str) -> bool {
    let plain = |part: Component<'_>| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    };
    path.len() <= PATH
        && Path::new(path).components().all(plain)
        && !path.chars().any(|c| c.is_control() || is_hidden(c))
}

/// Lays tests of one commit over the files of another, in a worktree of a repository that has both.
pub(super) fn lay_over(
    repository: &Path,
    tree: &Path,
    (onto, from): (Oid, Oid),
    tests: &[ChangedTest],
) -> Result<(), String> {
    let fail = |error: git2::Error| error.message().to_owned();
    let repo = Repository::open_bare(repository).map_err(fail)?;
    let tree_of = |commit| repo.find_commit(commit).and_then(|commit| commit.tree());
    let (older, newer) = (tree_of(onto).map_err(fail)?, tree_of(from).map_err(fail)?);
    let lossy = |blob: &Blob<'_>| String::from_utf8_lossy(blob.content()).into_owned();
    for test in tests.iter().filter(|test| is_plain(&test.path)) {
        let path = path_of(test.path.as_bytes());
        let entry = newer.get_path(&path).map_err(fail)?;
        let blob = repo.find_blob(entry.id()).map_err(fail)?;
        let written = match test.part {
            TestPart::File => write(tree, &path, blob.content(), entry.filemode()),
            TestPart::Modules => {
                let older = older.get_path(&path).ok();
                let older = older.and_then(|entry| repo.find_blob(entry.id()).ok());
                // Else what they test is not there.
                let Some(older) = older else { continue };
                let laid = rust::with_modules(&lossy(&older), &lossy(&blob));
                write(tree, &path, laid.as_bytes(), 0o100_644)
            }
        };
        written.map_err(|error| format!("{}: {error}", test.path))?;
    }
    Ok(())
}

/// Writes a file below a directory. What stands in its way there, a link too, goes: nothing is followed.
fn write(top: &Path, path: &Path, bytes: &[u8], mode: i32) -> std::io::Result<()> {
    let mut at = top.to_path_buf();
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        at.push(part);
        let is_file = parts.peek().is_none();
        match at.symlink_metadata() {
            Ok(found) if found.is_dir() && !is_file => {}
            Ok(found) => {
                match found.is_dir() {
                    true => fs::remove_dir_all(&at)?,
                    false => fs::remove_file(&at)?,
                }
                make(&at, is_file)?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => make(&at, is_file)?,
            Err(error) => return Err(error),
        }
    }
    fs::write(&at, bytes)?;
    let mode = if mode == 0o100_755 { 0o755 } else { 0o644 };
    fs::set_permissions(&at, fs::Permissions::from_mode(mode))
}

fn make(at: &Path, is_file: bool) -> std::io::Result<()> {
    match is_file {
        true => Ok(()),
        false => fs::create_dir(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_elsewhere_is_no_test() {
        for path in [
            "../tests/a.rs",
            "/tests/a.rs",
            ".git/tests/a.rs",
            "a/.GIT/x",
            "tests/a\nb.rs",
            "tests/\u{202e}b",
        ] {
            assert!(!is_plain(path), "{path}");
        }
        assert!(is_plain("tests/ä b.rs"));
    }
}
