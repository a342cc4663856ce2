//! What must survive what: one fault a test, against the real binary, and the same oracle after
//! each of them.
//!
//! The rows are numbered F1 to F38. The table in `table.rs` says which promises (P1 to P10, DESIGN §1) a row is
//! about and which tests hold it; a test below holds it against the sources, so that no row
//! can lose its test without a word.

mod agent;
mod clock;
mod place;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use table::{OPEN, TABLE};

/// An account whose CLI is this shell script, and a role that only executes.
pub(crate) fn fleet(agent: &str, more: &str) -> TestFleet {
    use std::os::unix::fs::PermissionsExt;
    let fleet = TestFleet::new();
    let program = fleet.root().join("cli/agent");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let script = format!("#!/bin/bash\nset -e\ncat >/dev/null\n{agent}\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    fleet.account("sh", &format!("engine = \"command\"\nbinary = {program:?}"));
    fleet.role("hand", "sh", &format!("stages = [\"execute\"]\n{more}"));
    assert_eq!(fleet.issue("hand", "Work", "To do."), 1);
    fleet
}

/// Fires once, to its row.
pub(crate) fn fire(fleet: &TestFleet) -> Value {
    let ran = fleet.fire("hand");
    let row = ran.json();
    assert!(
        ran.code.is_some(),
        "the firing itself was ended by a signal: {ran:#?}"
    );
    row
}

/// What holds after every fault: an end, every byte reachable, no process, no bench, no claim, at
/// most one pull request.
pub(crate) fn nothing_lost(fleet: &TestFleet, row: &Value, contents: &[&str]) {
    let row = fleet.firing(row["id"].as_str().unwrap());
    assert!(!row["ended_at"].is_null(), "(i) it has no end: {row:#}");
    let kept = fleet.kept();
    for content in contents {
        let file = fleet.root().join("content");
        fs::write(&file, content).unwrap();
        assert!(
            kept.contains(&fleet.blob(&file)),
            "(ii) {content:?} is lost: {row:#}"
        );
    }
    assert_eq!(fleet.descendants(), Vec::<i32>::new(), "(iii)");
    assert_eq!(fleet.benches(), Vec::<PathBuf>::new(), "(iv)");
    assert!(fleet.pulls().len() <= 1, "(vii) {:#?}", fleet.pulls());
    let labels = fleet.labels(1);
    assert!(
        !labels.contains(&"carson:in-flight".to_owned()),
        "the claim is still there: {labels:?}"
    );
}

#[test]
fn every_row_has_its_tests() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut missing = Vec::new();
    for fault in TABLE {
        assert!(fault.promises.starts_with('P'), "{}", fault.row);
        for holder in fault.held_by {
            let (file, test) = holder.rsplit_once("::").unwrap();
            let path = if file.ends_with(".rs") {
                root.join(file)
            } else {
                suite.join(format!("{}.rs", file.replace("::", "/")))
            };
            let source = fs::read_to_string(&path).unwrap_or_default();
            let names = [format!("fn {test}("), format!(" {test}: ")];
            if !names.iter().any(|name| source.contains(name)) {
                missing.push(format!("{}: {holder}", fault.row));
            }
        }
    }
    assert!(missing.is_empty(), "no such test: {missing:#?}");
    let rows: BTreeSet<&str> = TABLE.iter().map(|fault| fault.row).collect();
    let wanted: Vec<String> = (1..=38).map(|number| format!("F{number}")).collect();
    let left_out: Vec<_> = wanted
        .iter()
        .filter(|row| !rows.contains(row.as_str()))
        .collect();
    assert!(left_out.is_empty(), "rows without a line: {left_out:?}");
    let open: Vec<_> = TABLE
        .iter()
        .filter(|fault| fault.held_by.is_empty())
        .map(|fault| fault.row)
        .collect();
    assert_eq!(open, OPEN, "rows that no test holds yet");
}
