//! `carson stop`: a person ends a firing, and nothing of it is lost.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::faults::{fire, fleet, nothing_lost};

/// Fires, and stops it once its session has run this.
fn stopped(script: &str, more: &str) -> (TestFleet, Value) {
    let fleet = fleet(&format!("{script}\ntouch \"$HOME/begun\"\nsleep 600"), more);
    let row = stop_one(&fleet);
    (fleet, row)
}

fn stop_one(fleet: &TestFleet) -> Value {
    let mut firing = fleet.command(&["fire", "hand", "--json"]);
    let firing = firing.stdout(Stdio::piped()).spawn().unwrap();
    let id = until("its session has worked", || {
        let rows = fleet.ok(&["firings", "--all", "--json"]);
        let row = rows.as_array().unwrap().first()?.clone();
        let bench = fs::read_dir(fleet.benches().first()?).ok()?;
        let mut dirs = bench.filter_map(|dir| Some(dir.ok()?.path()));
        let worked = dirs.any(|dir| dir.join("begun").exists());
        worked.then(|| row["id"].as_str().unwrap().to_owned())
    });

    let short = &id[id.len() - 8..];
    let told = fleet.carson(&["stop", short]);

    assert_eq!(told.code, Some(0), "{told:#?}");
    assert!(told.stdout.contains("was told to end"), "{told:#?}");
    let ended = firing.wait_with_output().unwrap();
    let row: Value = serde_json::from_slice(&ended.stdout).unwrap();
    row
}

#[test]
fn a_stopped_firing_keeps_its_work_and_says_so() {
    let half = "echo half > half.txt; git add .; git commit --quiet -m Half";
    let (fleet, row) = stopped(half, "");
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    assert!(
        row["reason"]
            .as_str()
            .unwrap()
            .contains("stopped on request"),
        "{row:#}"
    );
    nothing_lost(&fleet, &row, &["half\n"]);
}

/// As often as one likes: no breaker opens, and the work is not given up.
#[test]
fn who_stops_a_firing_says_nothing_of_the_role_or_the_work() {
    let (fleet, _) = stopped("true", "[limits]\nfail_streak = 1\nmax_work_attempts = 2\n");
    for _ in 0..2 {
        let row = stop_one(&fleet);
        assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
        assert_eq!(row["skip"], "stopped", "{row:#}");
    }
    assert_eq!(fleet.labels(1), ["for:hand"]);
    // They were no skipped slots: they had sessions, which may have cost something.
    let listed = fleet.ok(&["firings", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 3, "{listed:#}");
}

#[test]
fn what_does_not_run_is_not_stopped_and_it_says_why() {
    let fleet = fleet(
        "echo x > x; git add .; git commit --quiet -m X; echo '[OK]'",
        "",
    );
    let row = fire(&fleet);
    let id = row["id"].as_str().unwrap();

    let ended = fleet.carson(&["stop", id]);
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(
        ended.stderr.contains("does not run here: it has ended: OK"),
        "{ended:#?}"
    );
    let unknown = fleet.carson(&["stop", "ffffffff"]);
    assert!(
        unknown.stderr.contains("there is no firing \"ffffffff\""),
        "{unknown:#?}"
    );
}

/// What the daemon has is what this process has.
#[test]
fn where_memory_runs_out_a_session_goes_before_its_firing_and_that_before_the_daemon() {
    let script = "cat /proc/self/oom_score_adj > \"$HOME/score\"\nsleep 600";
    let fleet = fleet(script, "");
    let mut firing = fleet.command(&["fire", "hand"]);
    let mut firing = firing.stdout(Stdio::null()).spawn().unwrap();
    let score = |of: &Path| fs::read_to_string(of).ok()?.trim().parse::<i32>().ok();
    let session = until("its session has said how early it goes", || {
        let bench = fs::read_dir(fleet.benches().first()?).ok()?;
        let mut dirs = bench.filter_map(|dir| Some(dir.ok()?.path()));
        dirs.find_map(|dir| score(&dir.join("score")))
    });
    let of = |pid: &str| score(&Path::new("/proc").join(pid).join("oom_score_adj")).unwrap();
    let (own, daemon) = (of(&firing.id().to_string()), of("self"));
    assert_eq!((own, session), (daemon.max(300), daemon.max(500)));
    kill(
        Pid::from_raw(firing.id().try_into().unwrap()),
        Signal::SIGTERM,
    )
    .unwrap();
    firing.wait().unwrap();
}
