//! A test file that nobody lists is never compiled, and passes for ever.

use std::fs;
use std::path::Path;

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
