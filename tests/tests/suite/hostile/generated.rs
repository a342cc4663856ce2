//! The hostile agent as a property: whatever a session composes, nothing of it runs outside the
//! walls, nothing that looks at it is started with its words or grows by it, everything ends, and
//! the next firing is healthy.
//!
//! The suite runs it for some seconds; `cargo xtask hostile --minutes 10 --seed 7` runs it for long.
//! Each case has a seed of its own, which a failure names: `--seed` of that one runs it first.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use serde_json::Value;

use super::generator::{Composed, compose};
use super::leavings::{MEMORY_KB, high_water, mark, write_agent};
use crate::daemon::Daemon;
use crate::faults::fleet;

/// The role's wall clock.
const WALL_CLOCK: Duration = Duration::from_secs(15);
/// What a firing may take beside it: its looks, of which each is given up after 90 s.
const LOOKS: Duration = Duration::from_secs(180);

#[test]
fn no_composition_gets_out() {
    let setting = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |value| value.parse().unwrap())
    };
    let time = Duration::from_secs(setting("CARSON_HOSTILE_SECONDS", 20));
    let seed = setting("CARSON_HOSTILE_SEED", 1);
    let begun = Instant::now();
    let mut tally = Tally::default();
    for seed in seed.. {
        case(seed, &mut tally);
        if begun.elapsed() >= time {
            break;
        }
    }
    println!("{tally:#?}");
}

/// What a run saw.
#[derive(Debug, Default)]
struct Tally {
    cases: u32,
    /// Firings that were killed, and ended by a daemon.
    recovered: u32,
    stuck: u32,
    longest: Duration,
    most_kb: u64,
    outcomes: std::collections::BTreeMap<String, u32>,
}

fn case(seed: u64, tally: &mut Tally) {
    let composed = compose(seed);
    let fleet = fleet("true", "[limits]\nwall_clock = \"15s\"\n");
    let mark = mark(&fleet);
    let script = composed.script.replace("MARK", mark.to_str().unwrap());
    let dies = seed % 6 == 5;
    let last = format!("touch {:?}; sleep 600", fleet.shared().join("made"));
    write_agent(
        &fleet,
        &if dies {
            format!("( {script} ) </dev/null\n{last}")
        } else {
            script
        },
    );
    let log = spy(&fleet);
    let watch = Watch::start(&composed.token);
    let what = format!(
        "seed {seed}:\n{}",
        fs::read_to_string(fleet.root().join("cli/agent")).unwrap()
    );

    let begun = Instant::now();
    let (row, peak_kb) = if dies {
        recovered(&fleet, &log)
    } else {
        fired(&fleet, &log)
    };
    let took = begun.elapsed();
    let pruned = watched(spied(&fleet, &log, &["prune", "--json"]));
    let seen = watch.stop();

    assert_eq!(
        seen,
        Vec::<String>::new(),
        "outside of the walls ran what the session named; {what}"
    );
    let said = fs::read_to_string(&log).unwrap_or_default();
    assert!(
        !said.contains(&composed.token),
        "git was told {said}; {what}"
    );
    assert!(!mark.exists(), "something planted ran outside; {what}");
    assert!(!row["ended_at"].is_null(), "{row:#}; {what}");
    assert!(took < WALL_CLOCK + LOOKS, "it took {took:?}; {what}");
    let most_kb = peak_kb.max(pruned.peak_kb);
    assert!(most_kb < MEMORY_KB, "{most_kb} kB; {what}");
    assert_eq!(fleet.descendants(), Vec::<i32>::new(), "{what}");
    assert!(kept(&fleet, &composed), "its work is lost: {row:#}; {what}");

    // What nobody can remove is listed, and goes when it is discarded.
    for bench in fleet.benches() {
        tally.stuck += 1;
        let id = bench.file_name().unwrap().to_str().unwrap();
        let gone = fleet.ok(&["prune", "--discard", id, "--json"]);
        assert_eq!(gone["bench"]["did"], "gone", "{gone:#}; {what}");
    }
    assert_eq!(fleet.benches(), Vec::<PathBuf>::new(), "{what}");
    write_agent(
        &fleet,
        "echo healthy > next.txt; git add .; git commit --quiet -m Next; echo '[OK] done'",
    );
    let issue = fleet.issue("hand", "Another", "To do.");
    let next = fleet
        .carson(&["fire", "hand", "--work", &issue.to_string(), "--json"])
        .json();
    assert_eq!(next["outcome"], "OK", "the next firing: {next:#}; {what}");

    tally.cases += 1;
    tally.recovered += u32::from(dies);
    tally.longest = tally.longest.max(took);
    tally.most_kb = tally.most_kb.max(most_kb);
    let outcome = row["outcome"].as_str().unwrap_or("none").to_owned();
    println!("seed {seed}: {outcome}, {took:.1?}, {most_kb} kB");
    *tally.outcomes.entry(outcome).or_default() += 1;
}

/// Its first commit is in the store or at the remote, or its bench still stands.
fn kept(fleet: &TestFleet, composed: &Composed) -> bool {
    let file = fleet.root().join("content");
    fs::write(&file, format!("work-{}\n", composed.token)).unwrap();
    composed.destroys || !fleet.benches().is_empty() || fleet.kept().contains(&fleet.blob(&file))
}

/// A git that says what it is told, where it may write: only outside of the walls.
fn spy(fleet: &TestFleet) -> PathBuf {
    let (dir, log) = (
        fleet.root().join("operator/bin"),
        fleet.root().join("operator/git.log"),
    );
    let real = until("git", || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|dir| dir.join("git"))
            .find(|file| file.is_file())
    });
    fs::create_dir_all(&dir).unwrap();
    let script =
        format!("#!/bin/sh\n{{ echo \"$@\" >> {log:?}; }} 2>/dev/null\nexec {real:?} \"$@\"\n");
    fs::write(dir.join("git"), script).unwrap();
    fs::set_permissions(dir.join("git"), PermissionsExt::from_mode(0o755)).unwrap();
    log
}

fn spied(fleet: &TestFleet, log: &Path, args: &[&str]) -> std::process::Command {
    let mut command = fleet.command(args);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::iter::once(log.with_file_name("bin")).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(dirs).unwrap());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

struct Watched {
    row: Value,
    peak_kb: u64,
}

fn watched(mut command: std::process::Command) -> Watched {
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = std::io::Read::read_to_string(&mut stdout, &mut text);
        text
    });
    let mut peak_kb = 0;
    while child.try_wait().unwrap().is_none() {
        peak_kb = peak_kb.max(high_water(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(10));
    }
    let row = serde_json::from_str(&reader.join().unwrap()).unwrap_or_default();
    Watched { row, peak_kb }
}

fn fired(fleet: &TestFleet, log: &Path) -> (Value, u64) {
    let Watched { row, peak_kb } = watched(spied(fleet, log, &["fire", "hand", "--json"]));
    (row, peak_kb)
}

/// Kills the firing when its session is done, and lets a daemon end it.
fn recovered(fleet: &TestFleet, log: &Path) -> (Value, u64) {
    let mut firing: Child = spied(fleet, log, &["fire", "hand", "--json"])
        .spawn()
        .unwrap();
    let made = fleet.shared().join("made");
    until("the session to have made it, or to have ended", || {
        (made.exists() || firing.try_wait().unwrap().is_some()).then_some(())
    });
    firing.kill().unwrap();
    firing.wait().unwrap();
    let daemon = Daemon::start_with(fleet, spied(fleet, log, &["daemon"]));
    let row = until("recovery", || {
        let rows = fleet.ok(&["firings", "--json"]);
        (!rows[0]["ended_at"].is_null()).then(|| rows[0].clone())
    });
    (row, high_water(daemon.pid()).unwrap())
}

/// Looks for processes that have a session's words in their arguments, and are not behind walls, or
/// behind those of an inspector.
struct Watch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<String>>,
}

impl Watch {
    fn start(token: &str) -> Self {
        let (stop, token) = (Arc::new(AtomicBool::new(false)), token.to_owned());
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut seen = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                seen.extend(strangers(&token));
                std::thread::sleep(Duration::from_millis(20));
            }
            seen
        });
        Self { stop, thread }
    }

    fn stop(self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

fn strangers(token: &str) -> Vec<String> {
    let items = fs::read_dir("/proc").unwrap().flatten();
    let pids = items.filter_map(|item| item.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let line = line(pid)?;
        let odd = line.contains(token) && (!is_confined(pid)? || is_inspectors(pid));
        odd.then_some(line)
    })
    .collect()
}

fn line(pid: u32) -> Option<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(String::from_utf8_lossy(&line).replace('\0', " "))
}

fn status(pid: u32, key: &str) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().parse().ok()
}

fn is_confined(pid: u32) -> Option<bool> {
    Some(status(pid, "Seccomp:")? == 2)
}

fn is_inspectors(pid: u32) -> bool {
    let above = |pid: &u32| status(*pid, "PPid:").filter(|pid| *pid > 1);
    let mut chain = std::iter::successors(Some(pid), above).take(64);
    chain.any(|pid| line(pid).is_some_and(|line| line.contains("carson inspector ")))
}
