//! Fifty roles on second-level cadences while the daemon, firings and CLIs are killed at random.
//!
//! The suite runs it for some seconds; `cargo xtask soak --minutes 10 --seed 7` runs it for long.
//! The same seed kills in the same order and at the same distances (what is hit depends on what
//! runs then). At the end the books are read: every firing has an end, every content that an agent
//! said it had written is reachable, nothing runs, nothing lies around, nothing was done twice.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use carson_tests::fleet::TestFleet;
use carson_tests::{Dice, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::daemon::Daemon;

const ROLES: u64 = 50;

/// Works in one of five ways, by the number of its issue, and says what it wrote.
const AGENT: &str = r#"#!/bin/bash
cat >/dev/null
wrote() { printf '%s\n' "$1-$CARSON_FIRING" > "$1.txt"; echo "WROTE $1-$CARSON_FIRING"; }
wrote committed; git add .; git commit --quiet -m "Work on $CARSON_WORK"
case $((CARSON_WORK % 5)) in
    0) wrote staged; git add staged.txt; wrote untracked; (setsid sleep 700 >/dev/null 2>&1 &); echo '[PARTIAL] half' ;;
    1) sleep 0.$((RANDOM % 10)); echo '[OK] done' ;;
    2) trap '' TERM; wrote loose; sleep 1.$((RANDOM % 10)); git add .; git commit --quiet -m More; echo '[OK] done' ;;
    3) wrote loose; exit 3 ;;
    *) echo '[OK] done' ;;
esac
"#;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

fn fleet(dice: &mut Dice) -> TestFleet {
    let fleet = TestFleet::new();
    let program = fleet.root().join("cli/agent");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, AGENT).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    fleet.account("sh", &format!("engine = \"command\"\nbinary = {program:?}"));
    for role in 0..ROLES {
        let cadence = format!("*/{} * * * * *", 1 + dice.roll(10));
        fleet.role_at(
            &name(role),
            "sh",
            &cadence,
            "stages = [\"execute\"]\nmax_late = \"5s\"\n[limits]\nwall_clock = \"1m\"\nfail_streak = 100000\n\
             max_firings_per_day = 100000\nmax_open_prs = 100000\nmax_work_attempts = 5\n",
        );
    }
    fleet
}

fn name(role: u64) -> String {
    format!("role-{role:02}")
}

/// Processes of this fleet by what they are.
pub(crate) fn processes(fleet: &TestFleet, words: &str) -> Vec<i32> {
    let home = fleet.root().display().to_string();
    let items = fs::read_dir("/proc").unwrap();
    let numbers = items.filter_map(|item| item.ok()?.file_name().to_str()?.parse().ok());
    let ours = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(words) && line.contains(&home)
    };
    numbers.filter(ours).collect()
}

/// What was done to the fleet.
#[derive(Debug, Default)]
struct Hits {
    daemons: u32,
    firings: u32,
    clis: u32,
    sleeps: u32,
}

impl Hits {
    fn kills(&self) -> u32 {
        self.daemons + self.firings + self.clis
    }
}

/// Kills that a short run waits for: a loaded machine may have nothing to hit for seconds.
const KILLS: u32 = 3;
/// How much longer, at most.
const LONGER: Duration = Duration::from_secs(40);

/// Kills something every second or so until the time is over, and something was hit.
fn torment(fleet: &TestFleet, dice: &mut Dice, time: Duration) -> Hits {
    let mut hits = Hits::default();
    let mut daemon = Some(Daemon::start(fleet, &[]));
    let began = Instant::now();
    let mut next = Duration::from_secs(2);
    while began.elapsed() < time || hits.kills() < KILLS && began.elapsed() < time + LONGER {
        let role = name(dice.roll(ROLES));
        fleet.issue(&role, "Work", "To do.");
        if began.elapsed() < next {
            continue;
        }
        next = began.elapsed() + Duration::from_millis(300 + dice.roll(1_500));
        let (what, which) = (dice.roll(10), dice.roll(1_000) as usize);
        let hit = |found: Vec<i32>| {
            let pid = found.get(which % found.len().max(1)).copied();
            pid.is_some_and(|pid| kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok())
        };
        match what {
            0 => {
                if let Some(old) = daemon.take() {
                    old.killed();
                }
                hits.daemons += 1;
                daemon = Some(Daemon::start(fleet, &[]));
            }
            1 => {
                if let Some(daemon) = &daemon {
                    daemon.signal(Signal::SIGSTOP);
                    std::thread::sleep(Duration::from_millis(500 + dice.roll(1_500)));
                    daemon.signal(Signal::SIGCONT);
                    hits.sleeps += 1;
                }
            }
            2..=5 => hits.firings += u32::from(hit(processes(fleet, "firing run"))),
            _ => hits.clis += u32::from(hit(processes(fleet, "cli/agent"))),
        }
    }
    if let Some(mut daemon) = daemon {
        daemon.signal(Signal::SIGTERM);
        daemon.ended();
    }
    hits
}

/// Lets what still runs come to its end, concludes what died, and clears up.
fn rest(fleet: &TestFleet) -> Vec<Value> {
    let args = ["firings", "--all", "--limit", "1000000", "--json"];
    let rows = until("the last firings to end", || {
        let _ = fleet.carson(&["prune", "--json"]);
        let rows = fleet.ok(&args);
        let rows = rows.as_array().unwrap();
        let open = rows.iter().any(|row| row["ended_at"].is_null());
        (!open).then(|| rows.clone())
    });
    eprintln!("the last look: {}", fleet.ok(&["prune", "--json"]));
    rows
}

/// Contents that agents wrote and that no ref reaches.
pub(crate) fn lost(fleet: &TestFleet, rows: &[Value]) -> Vec<String> {
    let kept = fleet.kept();
    let file = fleet.root().join("content");
    let mut lost = Vec::new();
    for row in rows.iter().filter(|row| !row["work"].is_null()) {
        let id = row["id"].as_str().unwrap();
        if !fleet.home().join("transcripts").join(id).exists() {
            continue;
        }
        let wrote = fleet.transcripts(id).join("\n");
        for content in wrote.lines().filter_map(|line| line.strip_prefix("WROTE ")) {
            fs::write(&file, format!("{content}\n")).unwrap();
            if !kept.contains(&fleet.blob(&file)) {
                lost.push(format!("{content}: {} {}", row["outcome"], row["reason"]));
            }
        }
    }
    lost
}

/// Slots that fired twice, roles that ran beside themselves, work that was finished twice though nobody refused
/// what was finished first.
pub(crate) fn duplicates(rows: &[Value], is_refused: fn(&Value) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut slots = HashSet::new();
    let mut done: HashMap<&str, &Value> = HashMap::new();
    let mut runs: HashMap<&str, Vec<(&str, &str, &str)>> = HashMap::new();
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        if !row["slot"].is_null() && !slots.insert((text("role"), text("slot"))) {
            found.push(format!("{} fired twice for {}", text("role"), text("slot")));
        }
        // A role without issues does its task at every slot.
        if row["outcome"] == "OK"
            && !text("work").is_empty()
            && !is_refused(row)
            && let Some(first) = done.insert(text("work"), row)
        {
            found.push(format!("done twice: {first:#}\n{row:#}"));
        }
        if !row["started_at"].is_null() {
            let run = (text("claimed_at"), text("ended_at"), text("id"));
            runs.entry(text("role")).or_default().push(run);
        }
    }
    for runs in runs.values_mut() {
        runs.sort_unstable();
        for pair in runs.windows(2) {
            if pair[1].0 < pair[0].1 {
                found.push(format!("beside each other: {pair:?}"));
            }
        }
    }
    found
}

#[test]
fn fifty_roles_survive_random_kills() {
    let seconds = setting("CARSON_SOAK_SECONDS", 8);
    let seed = setting("CARSON_SOAK_SEED", 7);
    let mut dice = Dice::new(seed);
    let fleet = fleet(&mut dice);
    let hits = torment(&fleet, &mut dice, Duration::from_secs(seconds));
    let rows = rest(&fleet);

    let started = rows.iter().filter(|row| !row["started_at"].is_null());
    let ended = rows.iter().filter(|row| !row["ended_at"].is_null());
    let mut outcomes: BTreeMap<&str, u32> = BTreeMap::new();
    for row in &rows {
        *outcomes
            .entry(row["outcome"].as_str().unwrap())
            .or_default() += 1;
    }
    let (lost, twice) = (lost(&fleet, &rows), duplicates(&rows, |_| false));
    let (running, benches) = (fleet.descendants(), fleet.benches());
    eprintln!(
        "soak of {seconds} s, seed {seed}: {} rows, {} started, {} ended, {outcomes:?}; {hits:?}; lost {}, orphans {}, duplicates {}",
        rows.len(),
        started.count(),
        ended.count(),
        lost.len(),
        running.len() + benches.len(),
        twice.len(),
    );
    assert_eq!(lost, Vec::<String>::new());
    assert_eq!(twice, Vec::<String>::new());
    assert_eq!(running, Vec::<i32>::new());
    assert_eq!(benches, Vec::<std::path::PathBuf>::new());
    assert!(
        outcomes.get("OK").is_some_and(|count| *count > 0),
        "{outcomes:?}"
    );
    assert!(hits.kills() > 0, "{hits:?}");
}
