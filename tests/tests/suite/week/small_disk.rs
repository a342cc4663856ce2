//! A small disk in a mount namespace, in which the whole test runs once more.
//!
//! A namespace of a user's own needs no rights, but a process with one thread: so it is another process, which
//! sees the same world as the daemon that it starts.

use std::path::PathBuf;
use std::process::Command;

/// Where the disk is, for the test inside.
const PLACE: &str = "CARSON_TEST_SMALL_DISK";

/// The directory on the disk, inside; outside, after the test has passed there, nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "a namespace is made with the system's own tools"
)]
pub(super) fn reached(test: &str) -> Option<PathBuf> {
    if let Some(place) = std::env::var_os(PLACE) {
        return Some(place.into());
    }
    let place = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=256m carson \"$1\" && shift && exec \"$@\"";
    let mut inside = Command::new("unshare");
    inside
        .args(["--user", "--map-root-user", "--mount", "--kill-child"])
        .args(["--", "sh", "-c", script, "sh"])
        .arg(place.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(PLACE, place.path());
    let status = inside.status().unwrap();
    assert!(status.success(), "on its small disk: {status}");
    None
}
