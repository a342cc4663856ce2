//! Tests that need a whole machine: root, loop devices, systemd as the first process.
//!
//! `cargo test` leaves them out. `cargo xtask machine` looks for what they need, says aloud what
//! is not there, and runs the rest.

#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    reason = "mounts disks and boots systemd with the system's own tools"
)]

#[path = "../suite/bulk.rs"]
mod bulk;
mod clones;
mod disk;
mod limits;
mod package;
mod power;
mod pushes;
mod quota;
mod read_only;
mod scale;
mod service;
mod systemd;
mod virtual_machine;

use std::process::Command;

/// Runs a tool of the system, which must succeed; what it printed.
fn tool(words: &[&str]) -> String {
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
