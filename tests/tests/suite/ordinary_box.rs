//! What an ordinary box does to a fleet: closed terminals, logs that nobody reads, masks, and a supervisor
//! that is killed.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Stdio};

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::daemon::Daemon;
use crate::faults::{fleet, nothing_lost};

/// Half of its work, and then it waits.
const HALF: &str = "echo half > half.txt; git add .; git commit --quiet -m Half\n\
                    touch \"$HOME/begun\"; sleep 600";

/// Fires, until its session has worked.
fn begun(fleet: &TestFleet) -> Child {
    let mut firing = fleet.command(&["fire", "hand", "--json"]);
    firing.stdout(Stdio::null()).stderr(Stdio::null());
    let firing = firing.spawn().unwrap();
    until_worked(fleet);
    firing
}

fn until_worked(fleet: &TestFleet) {
    until("its session has worked", || {
        let bench = fs::read_dir(fleet.benches().first()?).ok()?;
        let mut dirs = bench.filter_map(|dir| Some(dir.ok()?.path()));
        dirs.any(|dir| dir.join("begun").exists()).then_some(())
    });
}

#[test]
fn every_signal_that_ends_a_process_ends_a_firing_as_a_request_does() {
    let signals = [
        Signal::SIGHUP,
        Signal::SIGINT,
        Signal::SIGQUIT,
        Signal::SIGALRM,
        Signal::SIGUSR1,
        Signal::SIGUSR2,
    ];
    let fleets = signals.map(|signal| (signal, fleet(HALF, "")));
    let running = fleets.map(|(signal, fleet)| {
        let firing = begun(&fleet);
        kill(Pid::from_raw(firing.id().cast_signed()), signal).unwrap();
        (signal, fleet, firing)
    });
    for (signal, fleet, mut firing) in running {
        let ended = firing.wait().unwrap();
        assert_eq!(ended.code(), Some(10), "{signal}: {ended:?}");
        let row = fleet.ok(&["firings", "--json"])[0].clone();
        assert_eq!(row["outcome"], "PARTIAL", "{signal}: {row:#}");
        nothing_lost(&fleet, &row, &["half\n"]);
        is_no_attempt(&fleet);
    }
}

/// What a person stopped is ready as before, and has been tried no more often.
fn is_no_attempt(fleet: &TestFleet) {
    assert_eq!(fleet.labels(1), ["for:hand"]);
    let shown = fleet.ok(&["issue", "show", "1", "--json"]);
    let comments = shown["comments"].to_string();
    assert!(
        comments.contains("counts=false") && !comments.contains("counts=true"),
        "{comments}"
    );
}

/// One that a daemon fired has its own process, to which anybody may send what ends processes.
#[test]
fn a_firing_of_a_daemon_ends_by_a_signal_as_by_a_request() {
    let fleet = fleet(HALF, "");
    let once = "stages = [\"execute\"]\n[limits]\nmax_firings_per_day = 1\n";
    fleet.role_at("hand", "sh", "* * * * * *", once);
    let mut daemon = Daemon::start(&fleet, &[]);
    until_worked(&fleet);
    let row = fleet.ok(&["firings", "--json"])[0].clone();
    let pid = i32::try_from(row["pid"].as_i64().unwrap()).unwrap();
    assert_ne!(pid.cast_unsigned(), daemon.pid());
    kill(Pid::from_raw(pid), Signal::SIGHUP).unwrap();
    let row = until("it has ended", || {
        let row = fleet.firing(row["id"].as_str()?);
        row["ended_at"].is_string().then_some(row)
    });
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    assert_eq!(daemon.child.try_wait().unwrap(), None);
    until("its bench is gone", || {
        fleet.benches().is_empty().then_some(())
    });
    nothing_lost(&fleet, &row, &["half\n"]);
    is_no_attempt(&fleet);
}

/// Nobody prunes, no daemon runs: the launcher itself sees that its supervisor is gone.
#[test]
fn a_session_whose_firing_was_killed_does_not_go_on() {
    let fleet = fleet(HALF, "");
    let mut firing = begun(&fleet);
    let session = fleet.descendants();
    assert!(!session.is_empty());
    firing.kill().unwrap();
    firing.wait().unwrap();
    until("its processes have ended", || {
        fleet.descendants().is_empty().then_some(())
    });
    let told = fleet.carson(&["status"]).stdout;
    assert!(told.contains("its process is gone"), "{told}");
    // Who follows its log is not left waiting for an end that nobody writes.
    let id = fleet.ok(&["firings", "--json"])[0]["id"].clone();
    let followed = fleet.carson(&["logs", "--follow", id.as_str().unwrap()]);
    assert_eq!(followed.code, Some(1), "{followed:#?}");
    assert!(followed.stdout.contains("stage"), "{followed:#?}");
    assert!(followed.stderr.contains("`carson prune`"), "{followed:#?}");
    assert_eq!(fleet.carson(&["prune"]).code, Some(0));
    let row = fleet.ok(&["firings", "--json"])[0].clone();
    assert_eq!(row["outcome"], "CRASHED", "{row:#}");
    nothing_lost(&fleet, &row, &["half\n"]);
}

#[test]
fn a_log_that_cannot_be_written_ends_nothing() {
    let fleet = fleet(
        "echo x > x; git add .; git commit --quiet -m X; echo '[OK]'",
        "",
    );
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let mut daemon = fleet.command(&["daemon"]);
    let mut daemon = daemon.stdout(full()).stderr(full()).spawn().unwrap();
    let heard = until("the daemon is heard of", || {
        let status = fleet.ok(&["status", "--json"]);
        status["hosts"].as_array()?.first().cloned()
    });
    assert_eq!(heard["life"], "runs", "{heard:#}");
    let mut firing = fleet.command(&["fire", "hand"]);
    let ended = firing.stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(daemon.try_wait().unwrap().is_none(), "the daemon has ended");
    kill(Pid::from_raw(daemon.id().cast_signed()), Signal::SIGTERM).unwrap();
    assert_eq!(daemon.wait().unwrap().code(), Some(0));
    // On this host its process is asked.
    let status = fleet.ok(&["status", "--json"]);
    assert_eq!(status["hosts"][0]["life"], "ended", "{status:#}");
    let why = fleet.carson(&["why", "hand"]).stdout;
    assert!(why.contains("has ended"), "{why}");
}

/// F45: `carson daemon 2>&1 | head`, and `head` has ended.
#[test]
fn a_daemon_whose_log_nobody_reads_goes_on_firing() {
    let fleet = fleet(
        "echo x > x; git add .; git commit --quiet -m X; echo '[OK]'",
        "",
    );
    fleet.role_at("hand", "sh", "* * * * * *", "stages = [\"execute\"]\n");
    let mut daemon = Daemon::unread(&fleet);
    // A second later there is a newer one, which found no work any more.
    let row = until("a firing has ended", || {
        let rows = fleet.ok(&["firings", "--json"]);
        let first = rows.as_array()?.last().cloned();
        first.filter(|row| row["ended_at"].is_string())
    });
    assert_eq!(row["outcome"], "OK", "{row:#}");
    // Each look that it logs from now on goes nowhere, too.
    let looks = || {
        fleet
            .ok(&["firings", "--all", "--json"])
            .as_array()
            .unwrap()
            .len()
    };
    let before = looks();
    until("it looks again", || (looks() > before + 1).then_some(()));
    assert_eq!(daemon.child.try_wait().unwrap(), None);
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.ended().code(), Some(0));
}

#[test]
fn nobody_else_writes_what_was_made_under_an_open_mask() {
    let fleet = fleet(
        "echo x > x; git add .; git commit --quiet -m X; echo '[OK]'",
        "",
    );
    let envs = fleet.command(&[]);
    #[expect(
        clippy::disallowed_methods,
        reason = "a shell sets the mask that it is started with"
    )]
    let mut opened = std::process::Command::new("/bin/sh");
    let envs = envs
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    opened
        .env_clear()
        .envs(envs)
        .args(["-c", "umask 000; exec \"$0\" fire hand"]);
    opened
        .arg(fleet.binary())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    assert_eq!(opened.status().unwrap().code(), Some(0));
    let mut left = vec![fleet.home()];
    while let Some(dir) = left.pop() {
        for item in fs::read_dir(&dir).unwrap() {
            let path = item.unwrap().path();
            let found = path.symlink_metadata().unwrap();
            let is_link = found.file_type().is_symlink();
            assert!(
                is_link || found.mode() & 0o022 == 0,
                "{}: {:o}",
                path.display(),
                found.mode()
            );
            if found.is_dir() {
                left.push(path);
            }
        }
    }
}
