//! The table of docs/FAULTS.md against the sources: no row can lose its test without a word.

use std::fs;
use std::path::{Path, PathBuf};

/// How many rows there are.
const ROWS: usize = 54;

/// A row: its number, and the tests that it names.
struct Row<'d> {
    number: &'d str,
    tests: Vec<&'d str>,
}

fn rows(document: &str) -> Vec<Row<'_>> {
    let lines = document.lines().filter(|line| line.starts_with("| F"));
    let row = |line| -> Row<'_> {
        let cells: Vec<&str> = str::split(line, '|').map(str::trim).collect();
        let quoted = cells[4].split('`').skip(1).step_by(2);
        Row {
            number: cells[1],
            tests: quoted.filter(|name| name.contains("::")).collect(),
        }
    };
    lines.map(row).collect()
}

/// Where the tests of what stands before the first `::` lie.
fn sources(first: &str, root: &Path) -> PathBuf {
    match first {
        "suite" | "machine" => root.join("tests/tests").join(first),
        "store" => root.join("crates/carson-store/tests/store"),
        "upkeep" => root.join("crates/carson-firing/tests"),
        "program" => root.join("hooks/pre-tool-use/tests"),
        of_crate => root
            .join("crates")
            .join(of_crate.replace('_', "-"))
            .join("src"),
    }
}

/// Whether there is a test of this name: in the file of its module, or of one that its module stands in.
fn exists(name: &str, root: &Path) -> bool {
    let words: Vec<&str> = name.split("::").collect();
    let [first, modules @ .., test] = words.as_slice() else {
        return false;
    };
    let dir = sources(first, root);
    let modules = match *first {
        // Each is a file of its own, not a directory.
        "upkeep" | "program" => &words[..1],
        _ => modules,
    };
    let forms = [format!("fn {test}("), format!(" {test}: ")];
    (1..=modules.len()).any(|deep| {
        let path = dir.join(modules[..deep].join("/"));
        let files = [path.with_extension("rs"), path.join("mod.rs")];
        files.iter().any(|file| {
            let source = fs::read_to_string(file).unwrap_or_default();
            forms.iter().any(|form| source.contains(form))
        })
    })
}

#[test]
fn every_row_has_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let document = fs::read_to_string(root.join("docs/FAULTS.md")).unwrap();
    let rows = rows(&document);
    let numbers: Vec<&str> = rows.iter().map(|row| row.number).collect();
    let wanted: Vec<String> = (1..=ROWS).map(|number| format!("F{number}")).collect();
    assert_eq!(numbers, wanted);
    let named = rows.iter().flat_map(|row| {
        let of_row = row.tests.iter();
        of_row.map(|test| (row.number, *test))
    });
    let missing: Vec<_> = named.filter(|(_, test)| !exists(test, root)).collect();
    assert!(missing.is_empty(), "no such test: {missing:#?}");
    let open = rows.iter().filter(|row| row.tests.is_empty());
    let open: Vec<&str> = open.map(|row| row.number).collect();
    assert!(open.is_empty(), "no test holds {open:?}");
}

#[test]
fn a_test_that_is_not_there_is_missed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    assert!(exists(
        "suite::faults::table::every_row_has_its_tests",
        root
    ));
    assert!(!exists(
        "suite::faults::table::every_row_has_no_tests",
        root
    ));
    assert!(!exists(
        "suite::faults::chair::every_row_has_its_tests",
        root
    ));
}
