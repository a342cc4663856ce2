//! What must survive what: one fault a test, against the real binary, and the same oracle after
//! each of them.
//!
//! The rows and their numbers are those of docs/FAULTS.md, which `table.rs` holds against the sources.

mod agent;
mod clock;
mod elsewhere;
mod number;
mod place;
mod table;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use serde_json::Value;

/// An account whose CLI is this shell script, after its prompt was put into a file, and a role that only
/// executes.
pub(crate) fn fleet(agent: &str, more: &str) -> TestFleet {
    use std::os::unix::fs::PermissionsExt;
    let fleet = TestFleet::new();
    let program = fleet.root().join("cli/agent");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let script = format!("#!/bin/bash\nset -e\ncat >\"$CARSON_TMP/prompt\"\n{agent}\n");
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

/// What a session does that waits in the middle of its work.
pub(crate) const WAITS: &str =
    "touch \"$HOME/begun\"; until [ -e \"$HOME/go\" ]; do sleep 0.05; done";

/// A firing of `hand` whose session [waits](WAITS).
pub(crate) struct Waiting {
    firing: Child,
    home: PathBuf,
}

impl Waiting {
    pub(crate) fn of(fleet: &TestFleet) -> Self {
        let mut firing = fleet.command(&["fire", "hand", "--json"]);
        firing.stdout(Stdio::piped()).stderr(Stdio::null());
        let firing = firing.spawn().unwrap();
        let home = until("its session to work", || {
            let home = fleet.benches().into_iter().next()?.join("home");
            home.join("begun").exists().then_some(home)
        });
        Self { firing, home }
    }

    /// Its row, after it went on to its end.
    pub(crate) fn goes_on(self) -> Value {
        fs::write(self.home.join("go"), "").unwrap();
        self.ends()
    }

    /// Its row, when it has ended by itself.
    pub(crate) fn ends(self) -> Value {
        let output = self.firing.wait_with_output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }
}
