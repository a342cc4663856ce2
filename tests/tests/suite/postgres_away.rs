//! A PostgreSQL that goes away while a session works and a daemon runs: what was finished is finished, and once.

use std::collections::HashSet;
use std::io::Read as _;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use carson_tests::fleet::{Ran, TestFleet};
use carson_tests::postgres::TestDatabase;
use carson_tests::until;
use carson_tests::wire::Wire;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::postgres::{barrier, fleet_at, start};

/// Longer than a connection is waited for.
pub(crate) const AWAY: Duration = Duration::from_secs(15);

/// A daemon; ended when it is dropped, after its firings: one that is left without a database waits for hours.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.0.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.0.wait();
    }
}

/// The session ends while the database behind this wire is away. The daemon fires meanwhile, each second where it can.
pub(crate) fn nothing_is_lost_or_doubled(
    wire: &Wire,
    goes: impl FnOnce(),
    comes_back: impl FnOnce(),
) {
    let fleet = fleet_at(Some(wire.url()), true);
    fleet.role_at("clock", "play", "* * * * * *", "");
    fleet.issue("butler", "Work", "To do.");
    let mut daemon = fleet.command(&["daemon", "--drain"]);
    let daemon = daemon.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut daemon = Daemon(daemon.unwrap());
    let mut firing = start(&fleet, &["fire", "butler", "--json"]);
    until("the firing to reach its barrier", || {
        must_run(&mut firing);
        barrier(&fleet)
            .with_extension("reached")
            .exists()
            .then_some(())
    });
    until("the daemon to fire", || slots(&fleet).pop());

    goes();
    std::fs::write(barrier(&fleet).with_extension("go"), "").unwrap();
    thread::sleep(AWAY);
    assert!(firing.try_wait().unwrap().is_none() || fleet.pulls().len() == 1);
    comes_back();

    let ended = Ran::from(firing.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert_eq!(ended.json()["outcome"], "OK", "{ended:#?}");
    assert_eq!(fleet.pulls().len(), 1);
    let again = fleet.fire("butler");
    assert_eq!(again.json()["outcome"], "SILENT", "{again:#?}");
    assert_eq!(fleet.pulls().len(), 1);
    assert!(daemon.0.try_wait().unwrap().is_none(), "the daemon goes on");
    let before = slots(&fleet).len();
    until("the daemon to fire again", || {
        (slots(&fleet).len() > before).then_some(())
    });
    let all = slots(&fleet);
    let once: HashSet<&String> = all.iter().collect();
    assert_eq!(once.len(), all.len(), "a slot fired twice: {all:?}");
}

/// A firing that ends before its time says why.
fn must_run(firing: &mut Child) {
    let Some(status) = firing.try_wait().unwrap() else {
        return;
    };
    let mut said = String::new();
    let mut out = firing.stdout.take().unwrap();
    out.read_to_string(&mut said).unwrap();
    let mut out = firing.stderr.take().unwrap();
    out.read_to_string(&mut said).unwrap();
    panic!("it ended with {status}: {said}");
}

/// The slots that have a row.
fn slots(fleet: &TestFleet) -> Vec<String> {
    let rows = ["firings", "--all", "--role", "clock", "--limit", "10000"];
    let rows = fleet.ok(&[&rows[..], &["--json"]].concat());
    let rows = rows.as_array().unwrap().iter();
    rows.filter_map(|row| Some(row["slot"].as_str()?.to_owned()))
        .collect()
}

fn away(goes: impl FnOnce(&Wire)) {
    let database = TestDatabase::new();
    let wire = Wire::to(&database.url());
    nothing_is_lost_or_doubled(&wire, || goes(&wire), || wire.up());
}

#[test]
fn a_server_that_is_paused_while_a_session_ends() {
    away(Wire::silent);
}

#[test]
fn a_server_that_is_gone_while_a_session_ends() {
    away(Wire::cut);
}

#[test]
fn connections_that_lead_nowhere_while_a_session_ends() {
    away(Wire::forget);
}
