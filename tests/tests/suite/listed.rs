//! A test file that nobody lists is never compiled, and passes for ever; an example in the
//! documentation that nobody runs, too.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_file_of_the_suite_is_a_module() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let main = fs::read_to_string(suite.join("main.rs")).unwrap();
    let mut missing = Vec::new();
    for entry in fs::read_dir(&suite).unwrap() {
        let name = entry
            .unwrap()
            .path()
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let is_module = !["main", "snapshots"].contains(&name.as_str());
        if is_module && !main.lines().any(|line| line == format!("mod {name};")) {
            missing.push(name);
        }
    }
    assert!(
        missing.is_empty(),
        "not listed in tests/suite/main.rs: {missing:?}"
    );
}

#[test]
fn no_example_in_the_documentation_is_taken_for_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut todo: Vec<PathBuf> = ["crates", "hooks"].map(|dir| root.join(dir)).into();
    let mut found = Vec::new();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|item| item.unwrap().path()),
            );
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let comment = |line: &str| {
                let line = line.trim_start();
                let said = line.strip_prefix("//!").or(line.strip_prefix("///"))?;
                Some(said.trim().to_owned())
            };
            let fences = text.lines().filter_map(comment);
            let fences = fences.filter(|line| line.starts_with("```"));
            // Each second one ends a block.
            found.extend(
                fences
                    .step_by(2)
                    .filter(|fence| fence != "```text")
                    .map(|_| path.clone()),
            );
        }
    }
    assert!(
        found.is_empty(),
        "`cargo xtask test` runs no examples of the documentation: make a test of it, or say \
         `text`: {found:?}"
    );
}
