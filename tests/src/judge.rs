//! What every answer to bad input must be like, and a fleet to spoil.

#![expect(
    clippy::unwrap_used,
    reason = "support of tests: it may panic when the machine does not do what was asked"
)]

use std::collections::BTreeMap;
use std::fs;

use crate::fleet::{Ran, TestFleet};

/// A fleet with one role and one issue for it, where nothing is wrong yet.
#[must_use]
pub fn sound() -> TestFleet {
    let fleet = TestFleet::new();
    fleet.script(
        r#"
        [[when]]
        do = [
            { edit = { path = "hello.txt", content = "Good evening.\n" } },
            { commit = "Greet" },
            { say = "[OK] done" },
        ]
        "#,
    );
    fleet.role("hand", "play", "stages = [\"execute\"]\n");
    fleet.issue("hand", "Greet the owner", "Please.");
    fleet
}

/// What must not change: the remote's refs, and every file of the local forge.
#[must_use]
pub fn state(fleet: &TestFleet) -> BTreeMap<String, String> {
    let mut state = BTreeMap::new();
    if fleet.remote().exists() {
        state.insert("refs".into(), fleet.git(&["for-each-ref"]));
    }
    let mut todo = vec![fleet.home().join("forge")];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            let items = fs::read_dir(&path).unwrap();
            todo.extend(items.map(|item| item.unwrap().path()));
        } else if let Ok(text) = fs::read_to_string(&path) {
            state.insert(path.display().to_string(), text);
        }
    }
    state
}

/// Checks one answer; what is wrong with it.
///
/// # Errors
/// When the exit code is another, a text is missing, or Carson panicked.
pub fn judge(ran: &Ran, code: i32, says: &[&str]) -> Result<(), String> {
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let problem = if said.contains("panicked") || said.contains("this is a bug in Carson") {
        "it panicked".to_owned()
    } else if ran.code != Some(code) {
        format!("exit code {:?}, not {code}", ran.code)
    } else if let Some(missing) = says.iter().find(|text| !said.contains(**text)) {
        format!("it does not say {missing:?}")
    } else if [1, 2].contains(&code) && ran.stderr.trim().is_empty() {
        "standard error is empty".to_owned()
    } else {
        return Ok(());
    };
    Err(format!("{problem}\n{said}"))
}
