//! The power goes at a random moment, again and again, under a fleet that works (F19).
//!
//! The home lies on a [`Disk`]; the remote, what the agents tell the test, and in one of the two
//! tests the forge, lie elsewhere and go on. Every process dies, and the fleet wakes up on the
//! disk as it was. What somebody had seen before must still be so, and in the end everything is
//! done once. `CARSON_POWER_CUTS` and `CARSON_POWER_SEED` say how often and when.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use carson_tests::fleet::TestFleet;
use carson_tests::{Dice, until};
use serde_json::Value;
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use crate::disk::Disk;

const ROLES: u64 = 6;

/// Works in one of five ways, by the number of its issue, and tells elsewhere what it wrote.
const AGENT: &str = r#"#!/bin/bash
cat >/dev/null
wrote() { printf '%s\n' "$1-$CARSON_FIRING" > "$1.txt"; echo "$1-$CARSON_FIRING" >> "SHARED/wrote/$CARSON_FIRING"; }
wrote committed; git add .; git commit --quiet -m "Work on $CARSON_WORK"
case $((CARSON_WORK % 5)) in
    0) wrote staged; git add staged.txt; wrote untracked; echo '[PARTIAL] half' ;;
    1) sleep 0.$((RANDOM % 10)); echo '[OK] done' ;;
    2) wrote loose; sleep 1.$((RANDOM % 10)); git add .; git commit --quiet -m More; echo '[OK] done' ;;
    3) wrote loose; exit 3 ;;
    *) echo '[OK] done' ;;
esac
"#;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Forge {
    /// On the disk, like everything of Carson's.
    Here,
    /// Somewhere that has power.
    Elsewhere,
}

/// Everything that runs: the daemon below a first process of its own.
struct Machine(Child);

impl Machine {
    fn boot(fleet: &TestFleet) -> Self {
        let log = File::options()
            .create(true)
            .append(true)
            .open(fleet.root().join("daemon.log"));
        let daemon = fleet.command(&["daemon"]);
        let mut command = Command::new("unshare");
        // The shell takes in the orphans, as a first process must.
        command
            .args(["--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"])
            .args(["sh", "-c", "\"$@\" & wait $!; exit $?", "sh"])
            .arg(daemon.get_program())
            .args(daemon.get_args())
            .env_clear();
        for (name, value) in daemon.get_envs() {
            command.env(name, value.unwrap());
        }
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(quiet.stderr(log.unwrap()).spawn().unwrap())
    }

    /// Everybody is dead when this returns; nobody did anything after the first of them died.
    fn dies(&mut self) {
        let children = format!("/proc/{0}/task/{0}/children", self.0.id());
        let first = fs::read_to_string(children).unwrap_or_default();
        let first: Option<i32> = first.trim().parse().ok();
        if let Some(first) = first {
            let pid = nix::unistd::Pid::from_raw(first);
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        }
        let _ = self.0.wait();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.dies();
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What was seen while there was power, and may not be otherwise after.
#[derive(Default)]
struct Seen {
    /// The outcome of each firing that had one.
    outcomes: HashMap<String, String>,
    /// Issues that somebody was told to have made.
    issues: BTreeSet<u64>,
    /// Firings that had no outcome when the power went. What they wrote and nobody had taken in
    /// may never have reached the disk.
    cut_off: BTreeSet<String>,
}

struct Scene {
    // Before the fleet, whose directory it is mounted in.
    disk: Disk,
    fleet: TestFleet,
    seen: Seen,
}

impl Scene {
    fn new(forge: Forge) -> Self {
        let fleet = TestFleet::new();
        let program = fleet.root().join("cli/agent");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::create_dir_all(fleet.shared().join("wrote")).unwrap();
        let agent = AGENT.replace("SHARED", fleet.shared().to_str().unwrap());
        fs::write(&program, agent).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        fleet.account("sh", &format!("engine = \"command\"\nbinary = {program:?}"));
        for role in 0..ROLES {
            fleet.role_at(
                &name(role),
                "sh",
                &format!("*/{} * * * * *", 1 + role % 3),
                "stages = [\"execute\"]\nmax_late = \"5s\"\n[limits]\nwall_clock = \"1m\"\nfail_streak = 100000\n\
                 max_firings_per_day = 100000\nmax_open_prs = 100000\nmax_work_attempts = 5\n",
            );
        }
        let mut disk = Disk::over(&fleet.home());
        if forge == Forge::Elsewhere {
            let elsewhere = fleet.root().join("forge");
            fs::create_dir(&elsewhere).unwrap();
            disk.bind(&elsewhere, &fleet.home().join("forge"));
        }
        Self {
            disk,
            fleet,
            seen: Seen::default(),
        }
    }

    fn rows(&self) -> Vec<Value> {
        let args = ["firings", "--all", "--limit", "1000000", "--json"];
        self.fleet.ok(&args).as_array().unwrap().clone()
    }

    /// Whoever reads an outcome was told it.
    fn observe_outcomes(&mut self) -> Vec<Value> {
        let rows = self.rows();
        for row in rows.iter().filter(|row| !row["ended_at"].is_null()) {
            let (id, outcome) = (word(row, "id"), word(row, "outcome"));
            self.seen.outcomes.insert(id, outcome);
        }
        rows
    }

    /// Work comes in and is done for a while.
    fn works(&mut self, dice: &mut Dice, time: Duration) {
        let began = Instant::now();
        let mut next = Duration::ZERO;
        while began.elapsed() < time {
            self.observe_outcomes();
            if began.elapsed() < next {
                continue;
            }
            next = began.elapsed() + Duration::from_millis(400);
            let role = name(dice.roll(ROLES));
            let issue = self.fleet.issue(&role, "Work", "To do.");
            self.seen.issues.insert(issue);
        }
    }

    /// Everybody dies, and there is what the disk holds.
    fn loses_power(&mut self, mut machine: Machine) {
        machine.dies();
        self.disk.cut();
        for item in fs::read_dir(self.fleet.shared().join("wrote")).unwrap() {
            let id = item.unwrap().file_name().into_string().unwrap();
            if !self.seen.outcomes.contains_key(&id) {
                self.seen.cut_off.insert(id);
            }
        }
    }

    /// The disk as it is found: before anybody mends anything.
    fn as_found(&self) {
        let mirror = self.fleet.mirror();
        if mirror.join("HEAD").exists() {
            let fsck = Command::new("git")
                .args(["fsck", "--full", "--no-dangling", "--no-progress"])
                .env("GIT_DIR", &mirror)
                .output()
                .unwrap();
            assert!(fsck.status.success(), "the mirror is damaged: {fsck:?}");
        }
    }

    /// After a boot: the database is whole, nothing that was seen is otherwise.
    fn holds(&mut self, machine: &mut Machine) {
        let known: BTreeSet<String> = until("the database to open", || {
            let ended = machine.0.try_wait().unwrap();
            assert!(ended.is_none(), "the daemon ended: {}", self.log());
            let ran = self
                .fleet
                .carson(&["firings", "--all", "--limit", "1000000", "--json"]);
            (ran.code == Some(0)).then(|| ran.json())
        })
        .as_array()
        .unwrap()
        .iter()
        .map(|row| word(row, "id"))
        .collect();
        assert_eq!(integrity(&self.fleet), "ok");
        // First, because every moment more of them come.
        let out = self.fleet.branches();
        let rows = self.rows();
        let outcomes: HashMap<String, String> = rows
            .iter()
            .map(|row| (word(row, "id"), word(row, "outcome")))
            .collect();
        for (id, outcome) in &self.seen.outcomes {
            assert_eq!(outcomes.get(id), Some(outcome), "what was seen of {id}");
        }
        for issue in &self.seen.issues {
            let shown = self.fleet.carson(&["issue", "show", &issue.to_string()]);
            assert_eq!(shown.code, Some(0), "issue {issue} is gone: {shown:#?}");
        }
        // Nothing went out that the books do not know.
        let branches: BTreeSet<String> = rows.iter().map(|row| word(row, "branch")).collect();
        for branch in out {
            assert!(branches.contains(&branch), "{branch} belongs to no firing");
        }
        until("the next firing", || {
            let rows = self.rows();
            let fresh =
                |row: &&Value| !row["started_at"].is_null() && !known.contains(&word(row, "id"));
            rows.iter().find(fresh).map(drop)
        });
        let lost = self.lost(&rows);
        assert_eq!(lost, Vec::<String>::new(), "lost, though it had ended");
    }

    /// What agents wrote in these firings, if they ended, and no ref reaches.
    fn lost(&self, rows: &[Value]) -> Vec<String> {
        let kept = self.fleet.kept();
        let file = self.fleet.root().join("content");
        let mut lost = Vec::new();
        for row in rows {
            let id = word(row, "id");
            let Some(outcome) = self.seen.outcomes.get(&id) else {
                continue;
            };
            if self.seen.cut_off.contains(&id) {
                continue;
            }
            let wrote = fs::read_to_string(self.fleet.shared().join("wrote").join(&id));
            for content in wrote.unwrap_or_default().lines() {
                fs::write(&file, format!("{content}\n")).unwrap();
                if !kept.contains(&self.fleet.blob(&file)) {
                    lost.push(format!("{content}: {outcome}"));
                }
            }
        }
        lost
    }

    /// Firings that have no end, and issues that somebody still holds.
    fn waiting(&mut self) -> Vec<String> {
        let rows = self.observe_outcomes();
        let open = rows
            .iter()
            .filter(|row| row["ended_at"].is_null() && !row["work"].is_null());
        let mut waiting: Vec<String> = open.map(|row| format!("{row:#}")).collect();
        for issue in &self.seen.issues {
            let labels = self.fleet.labels(*issue);
            if labels.iter().any(|label| label == "carson:in-flight") {
                waiting.push(format!("issue {issue}: {labels:?}"));
            }
        }
        waiting
    }

    fn log(&self) -> String {
        let log = fs::read_to_string(self.fleet.root().join("daemon.log")).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    /// Lets everything come to its end, and reads the books.
    fn ends(mut self, cuts: u64) {
        let mut machine = Machine::boot(&self.fleet);
        self.holds(&mut machine);
        // Nothing new begins, and what has begun is done or given up.
        let paused = self.fleet.carson(&["pause"]);
        assert_eq!(paused.code, Some(0), "{paused:#?}");
        let patience = Instant::now() + Duration::from_secs(90);
        loop {
            let waiting = self.waiting();
            if waiting.is_empty() {
                break;
            }
            assert!(
                Instant::now() < patience,
                "never done: {waiting:#?}\n{}",
                self.log()
            );
        }
        machine.dies();
        let pruned = self.fleet.ok(&["prune", "--json"]);
        let rows = self.observe_outcomes();
        let mut outcomes: BTreeMap<String, u32> = BTreeMap::new();
        let mut finished = BTreeSet::new();
        for row in rows.iter().filter(|row| !row["work"].is_null()) {
            if row["outcome"] == "BLOCKED" || row["outcome"] == "SKIPPED" {
                eprintln!("{}: {}", row["outcome"], row["reason"]);
            }
            *outcomes.entry(word(row, "outcome")).or_default() += 1;
            let again = row["outcome"] == "OK" && !finished.insert(word(row, "work"));
            assert!(!again, "done twice: {row:#}");
        }
        let mut heads = BTreeSet::new();
        for pull in self.fleet.pulls() {
            let head = word(&pull, "head");
            assert!(heads.insert(head), "two pull requests: {pull:#}");
        }
        eprintln!(
            "{cuts} cuts: {} rows, {outcomes:?}, {} pull requests",
            rows.len(),
            heads.len()
        );
        assert_eq!(self.lost(&rows), Vec::<String>::new());
        assert_eq!(self.fleet.benches(), Vec::<PathBuf>::new(), "{pruned:#}");
        // Some were cut, whether or not they had claimed anything yet.
        let is_cut = |row: &Value| row["outcome"] == "CRASHED";
        assert!(
            outcomes.contains_key("OK") && rows.iter().any(is_cut),
            "{outcomes:?}"
        );
    }
}

fn name(role: u64) -> String {
    format!("role-{role}")
}

fn word(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}

fn integrity(fleet: &TestFleet) -> String {
    let file = fleet.home().join("state/carson.db");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(file);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let check = sqlx::query_scalar("PRAGMA integrity_check");
        check.fetch_one(&mut connection).await.unwrap()
    })
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

fn cuts(forge: Forge) {
    let cuts = setting("CARSON_POWER_CUTS", 6);
    let mut dice = Dice::new(setting("CARSON_POWER_SEED", 19));
    let mut scene = Scene::new(forge);
    for cut in 0..cuts {
        let mut machine = Machine::boot(&scene.fleet);
        scene.holds(&mut machine);
        let time = Duration::from_millis(200 + dice.roll(4_000));
        scene.works(&mut dice, time);
        scene.loses_power(machine);
        eprintln!(
            "cut {cut} after {time:?}: {} outcomes seen",
            scene.seen.outcomes.len()
        );
        scene.as_found();
    }
    scene.ends(cuts);
}

#[test]
fn a_fleet_whose_forge_is_elsewhere_survives_power_cuts() {
    cuts(Forge::Elsewhere);
}

#[test]
fn a_fleet_with_its_own_forge_survives_power_cuts() {
    cuts(Forge::Here);
}
