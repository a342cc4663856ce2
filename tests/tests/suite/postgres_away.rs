//! A PostgreSQL that goes away while a session works and a daemon runs: what was finished is finished, and once.

use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use carson_tests::fleet::Ran;
use carson_tests::postgres::TestDatabase;
use carson_tests::until;
use carson_tests::wire::Wire;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::postgres::{barrier, fleet_at, start};

/// Longer than a connection is waited for.
const AWAY: Duration = Duration::from_secs(15);

/// A daemon; ended when it is dropped.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.0.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.0.wait();
    }
}

/// The session ends while the database is away.
fn nothing_is_lost_or_doubled(goes: impl Fn(&Wire)) {
    let database = TestDatabase::new();
    let wire = Wire::to(&database);
    let fleet = fleet_at(Some(wire.url()), true);
    fleet.issue("butler", "Work", "To do.");
    let mut daemon = fleet.command(&["daemon"]);
    let daemon = daemon.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut daemon = Daemon(daemon.unwrap());
    let mut firing = start(&fleet, &["fire", "butler", "--json"]);
    until("the firing to reach its barrier", || {
        assert!(firing.try_wait().unwrap().is_none(), "it ended");
        barrier(&fleet)
            .with_extension("reached")
            .exists()
            .then_some(())
    });

    goes(&wire);
    std::fs::write(barrier(&fleet).with_extension("go"), "").unwrap();
    thread::sleep(AWAY);
    assert!(firing.try_wait().unwrap().is_none() || fleet.pulls().len() == 1);
    wire.up();

    let ended = Ran::from(firing.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert_eq!(ended.json()["outcome"], "OK", "{ended:#?}");
    assert_eq!(fleet.pulls().len(), 1);
    let again = fleet.fire("butler");
    assert_eq!(again.json()["outcome"], "SILENT", "{again:#?}");
    assert_eq!(fleet.pulls().len(), 1);
    assert!(daemon.0.try_wait().unwrap().is_none(), "the daemon goes on");
}

#[test]
fn a_server_that_is_paused_while_a_session_ends() {
    nothing_is_lost_or_doubled(Wire::silent);
}

#[test]
fn a_server_that_is_gone_while_a_session_ends() {
    nothing_is_lost_or_doubled(Wire::cut);
}

#[test]
fn connections_that_lead_nowhere_while_a_session_ends() {
    nothing_is_lost_or_doubled(Wire::forget);
}
