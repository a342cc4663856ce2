//! Whose tests a file has: the nearest package above it, and what its runner is asked for there.

use git2::{ObjectType, Tree};

use super::{TestRun, TestRunner, rust};
use crate::inspect::diff::content;
use crate::inspect::objects::Objects;
use crate::paths::path_of;

/// Files that say where a Python project is.
const PYTHON: [&str; 6] = [
    "pyproject.toml",
    "pytest.ini",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "requirements.txt",
];

/// The package of Cargo, and the target in it; `None` where the file is part of no target.
pub(super) fn cargo(objects: &Objects, tree: &Tree<'_>, path: &str) -> Option<TestRun> {
    let dir = nearest(path, |dir| {
        let manifest = text_at(objects, tree, &join(dir, "Cargo.toml"));
        manifest.is_some_and(|text| text.contains("[package]"))
    })?;
    let inside = below(dir, path);
    let asks = match inside.split_once('/') {
        Some(("tests", rest)) => {
            let name = match rest.split_once('/') {
                None => rest.strip_suffix(".rs")?,
                Some((name, _)) => {
                    let main = join(dir, &format!("tests/{name}/main.rs"));
                    is_there(tree, &main).then_some(name)?
                }
            };
            (!name.starts_with('-')).then(|| vec!["--test".to_owned(), name.to_owned()])?
        }
        Some(("src", rest)) => {
            let of_program = rest == "main.rs" || rest.starts_with("bin/");
            let has_library = is_there(tree, &join(dir, "src/lib.rs"));
            let target = if of_program || !has_library {
                "--bins"
            } else {
                "--lib"
            };
            vec![target.to_owned()]
        }
        _ => return None,
    };
    Some(run(TestRunner::Cargo, dir, asks))
}

/// Whether the module above a file of Rust calls it one of tests.
pub(super) fn declares(objects: &Objects, tree: &Tree<'_>, path: &str) -> bool {
    let Some((above, name)) = path
        .strip_suffix(".rs")
        .and_then(|path| path.rsplit_once('/'))
    else {
        return false;
    };
    let (above, name) = match (name, above.rsplit_once('/')) {
        ("mod", Some((further, name))) => (further, name),
        _ => (above, name),
    };
    let parents = [
        format!("{above}/lib.rs"),
        format!("{above}/main.rs"),
        format!("{above}/mod.rs"),
        format!("{above}.rs"),
    ];
    let mut texts = parents
        .iter()
        .filter_map(|parent| text_at(objects, tree, parent));
    texts.any(|text| rust::declares(&text, name))
}

/// The project of Python, and the file in it.
pub(super) fn pytest(tree: &Tree<'_>, path: &str) -> TestRun {
    let is_project = |dir: &str| PYTHON.iter().any(|name| is_there(tree, &join(dir, name)));
    let dir = nearest(path, is_project).unwrap_or_default();
    run(TestRunner::Pytest, dir, vec![here(below(dir, path))])
}

/// The module of Go, and the package in it.
pub(super) fn go(tree: &Tree<'_>, path: &str) -> TestRun {
    let dir = nearest(path, |dir| is_there(tree, &join(dir, "go.mod"))).unwrap_or_default();
    let package = below(dir, path);
    let package = package.rsplit_once('/').map_or(".", |(above, _)| above);
    run(TestRunner::Go, dir, vec![here(package)])
}

/// The package of npm that names a runner, and the file in it.
pub(super) fn script(objects: &Objects, tree: &Tree<'_>, path: &str) -> Option<TestRun> {
    let runner_of = |dir: &str| {
        let manifest = text_at(objects, tree, &join(dir, "package.json"))?;
        let manifest: serde_json::Value = serde_json::from_str(&manifest).ok()?;
        let asks_for = |name: &str| {
            let tables = ["devDependencies", "dependencies"];
            tables
                .iter()
                .any(|table| manifest[table].get(name).is_some())
        };
        let known = [("vitest", TestRunner::Vitest), ("jest", TestRunner::Jest)];
        known
            .into_iter()
            .find_map(|(name, runner)| asks_for(name).then_some(runner))
    };
    let dir = nearest(path, |dir| runner_of(dir).is_some())?;
    Some(run(runner_of(dir)?, dir, vec![here(below(dir, path))]))
}

fn run(runner: TestRunner, dir: &str, asks: Vec<String>) -> TestRun {
    TestRun {
        runner,
        dir: dir.to_owned(),
        asks,
    }
}

/// The nearest directory above a file of which something is so.
fn nearest(path: &str, mut is_it: impl FnMut(&str) -> bool) -> Option<&str> {
    let mut dir = path;
    loop {
        dir = dir.rsplit_once('/').map_or("", |(above, _)| above);
        if is_it(dir) {
            return Some(dir);
        }
        if dir.is_empty() {
            return None;
        }
    }
}

fn join(dir: &str, name: &str) -> String {
    match dir {
        "" => name.to_owned(),
        dir => format!("{dir}/{name}"),
    }
}

/// A path as a directory above has it.
fn below<'p>(dir: &str, path: &'p str) -> &'p str {
    let rest = path.strip_prefix(dir).unwrap_or(path);
    rest.trim_start_matches('/')
}

/// A path that nobody takes for an option.
fn here(path: &str) -> String {
    format!("./{path}")
}

fn is_there(tree: &Tree<'_>, path: &str) -> bool {
    tree.get_path(&path_of(path.as_bytes())).is_ok()
}

fn text_at(objects: &Objects, tree: &Tree<'_>, path: &str) -> Option<String> {
    let entry = tree.get_path(&path_of(path.as_bytes())).ok()?;
    (entry.kind() == Some(ObjectType::Blob))
        .then(|| content(objects, Some((entry.id(), entry.filemode()))).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_directory_is_found_up_to_the_repository_s_own() {
        assert_eq!(nearest("a/b/c.rs", |dir| dir == "a"), Some("a"));
        assert_eq!(nearest("a/b/c.rs", str::is_empty), Some(""));
        assert_eq!(nearest("c.rs", |_| false), None);
        assert_eq!(below("a", "a/b/c.rs"), "b/c.rs");
        assert_eq!(below("", "b/c.rs"), "b/c.rs");
        assert_eq!(here("-x"), "./-x");
    }
}
