//! docs/PROMISES.md against the sources: no promise can lose its test without a word.

use std::fs;
use std::path::{Path, PathBuf};

use super::{document, root};

/// Where the tests of what stands before the first `::` lie.
fn sources(first: &str, root: &Path) -> PathBuf {
    match first {
        "suite" | "machine" => root.join("tests/tests").join(first),
        "store" => root.join("crates/carson-store/tests/store"),
        "program" => root.join("hooks/pre-tool-use/tests"),
        of_crate => root
            .join("crates")
            .join(of_crate.replace('_', "-"))
            .join("src"),
    }
}

/// Whether there is a test of this name: in the file of its module, or of one that its module stands in.
fn exists(name: &str) -> bool {
    let words: Vec<&str> = name.split("::").collect();
    let [first, modules @ .., test] = words.as_slice() else {
        return false;
    };
    let dir = sources(first, &root());
    let forms = [
        format!("fn {test}("),
        format!(" {test}: "),
        format!("    {test},"),
    ];
    (1..=modules.len()).any(|deep| {
        let path = dir.join(modules[..deep].join("/"));
        let files = [path.with_extension("rs"), path.join("mod.rs")];
        files.iter().any(|file| {
            let source = fs::read_to_string(file).unwrap_or_default();
            forms.iter().any(|form| source.contains(form))
        })
    })
}

/// What stands between backticks and has a `::` in it and no `…`.
fn named(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter(|name| name.contains("::") && !name.contains('…') && !name.ends_with("::"))
        .collect()
}

#[test]
fn every_promise_has_tests_and_each_of_them_exists() {
    let page = document("docs/PROMISES.md");
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| P"))
        .collect();
    for (n, row) in rows.iter().enumerate() {
        assert!(row.starts_with(&format!("| P{} ", n + 1)), "{row}");
        assert!(named(row).len() >= 3, "too few tests: {row}");
    }
    assert_eq!(rows.len(), 11);
    let missing: Vec<&str> = named(&page)
        .into_iter()
        .filter(|name| !exists(name))
        .collect();
    assert!(missing.is_empty(), "no such test: {missing:#?}");
}

#[test]
fn a_test_that_is_not_there_is_missed() {
    let here = "carson_cli::documents::promises::";
    assert!(exists(&format!("{here}a_test_that_is_not_there_is_missed")));
    assert!(!exists(&format!("{here}a_test_that_is_there_is_missed")));
    assert!(!exists(
        "carson_cli::nowhere::a_test_that_is_not_there_is_missed"
    ));
}
