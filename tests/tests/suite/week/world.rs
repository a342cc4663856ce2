//! The household at work: its clock, its daemon, and what is done to it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use carson_tests::fleet::TestFleet;
use carson_tests::{Dice, SetClock, until};
use chrono::{DateTime, Datelike, TimeDelta, Utc};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use serde_json::Value;
use tempfile::TempDir;

use super::household::{PROMISE, ROLES, WRONG_PROMISE, edit, furnish};
use super::person;
use super::plan::{FAULTS, Fault, Trouble};
use crate::daemon::Daemon;
use crate::soak::processes;

/// Hours after the last in which what is left is done.
const DRAIN: u64 = 24;

/// So long before a slot the clock is set, as the daemon looks ahead of it.
const AHEAD: TimeDelta = TimeDelta::milliseconds(400);

/// Roles that have something to lose when something goes wrong.
const BUSY: [&str; 3] = ["hourly", "steady", "checked"];

/// An issue that a role may take up.
pub(super) struct Ready {
    pub role: String,
    pub issue: u64,
}

pub(super) struct World {
    pub(super) fleet: TestFleet,
    clock: SetClock,
    daemon: Option<Daemon>,
    dice: Dice,
    /// What goes wrong in the hours that are played.
    pub(super) faults: Vec<Fault>,
    /// Monday 00:00.
    monday: DateTime<Utc>,
    _elsewhere: TempDir,
    /// The work that was there to be taken up, by hour.
    pub(super) ready: BTreeMap<u64, Vec<Ready>>,
    /// What people made, by number.
    issues: Vec<u64>,
}

impl World {
    pub(super) fn begin(disk: &Path, hours: u64, seed: u64) -> Self {
        let (fleet, mut clock) = SetClock::of(TestFleet::below(disk).with_env("TZ", "UTC"));
        furnish(&fleet);
        // What the daemon says is read while its disk is full.
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(
            elsewhere.path().join("log"),
            fleet.root().join("daemon.log"),
        )
        .unwrap();
        let today = clock.now().date_naive();
        let days = 7 - today.weekday().num_days_from_monday();
        let monday = today + TimeDelta::days(days.into());
        let monday = monday.and_hms_opt(0, 0, 0).unwrap().and_utc();
        clock.set(monday - TimeDelta::minutes(10));
        Self {
            daemon: Some(started(&fleet)),
            fleet,
            clock,
            dice: Dice::new(seed),
            faults: FAULTS
                .into_iter()
                .filter(|fault| fault.to <= hours)
                .collect(),
            monday,
            _elsewhere: elsewhere,
            ready: BTreeMap::new(),
            issues: Vec::new(),
        }
    }

    pub(super) fn at(&self, hour: u64) -> DateTime<Utc> {
        self.monday + TimeDelta::hours(hour.try_into().unwrap())
    }

    /// An hour: what happens before it, and what is due with it.
    pub(super) fn pass(&mut self, hour: u64) {
        self.shortly_before(hour);
        let stands = |what| self.stands(what, hour);
        if ![Trouble::Reboot, Trouble::FullDisk, Trouble::SilentForge]
            .into_iter()
            .any(stands)
        {
            self.arrive();
            person::look(&self.fleet, hour % 24);
        }
        let begins = |fault: &&Fault| fault.from == hour;
        for fault in self.faults.clone().iter().filter(begins) {
            self.start(fault, hour);
        }
        self.go(hour);
    }

    /// What arrived late is done, too; the hour after which nothing was left.
    pub(super) fn drain(&mut self, hours: u64) -> u64 {
        for hour in hours..hours + DRAIN {
            let work = self.work();
            if hour > hours && work.is_empty() {
                return hour - 1;
            }
            let mut due = ROLES.iter().filter(|role| role.is_due(hour));
            // An hour in which nobody would do anything is slept through.
            if due.any(|role| work.iter().any(|one| one.role == role.name)) || hour == hours {
                self.shortly_before(hour);
                person::look(&self.fleet, person::AT_WORK);
                self.go(hour);
                person::look(&self.fleet, person::AT_WORK);
            }
        }
        hours + DRAIN
    }

    /// Two minutes before the hour, what was wrong until then is well again.
    fn shortly_before(&mut self, hour: u64) {
        self.clock.set(self.at(hour) - TimeDelta::minutes(2));
        let ends = |fault: &&Fault| fault.to == hour;
        for fault in self.faults.clone().iter().filter(ends) {
            self.end(fault);
            self.caught_up(hour - 1);
        }
    }

    fn stands(&self, what: Trouble, hour: u64) -> bool {
        let mut all = self.faults.iter().filter(|fault| fault.covers(hour));
        all.any(|fault| fault.what == what)
    }

    /// Comes to the full hour, and waits until its firings have ended.
    fn go(&mut self, hour: u64) {
        let [is_off, is_full] =
            [Trouble::Reboot, Trouble::FullDisk].map(|what| self.stands(what, hour));
        if !is_off && !is_full {
            self.ready.insert(hour, self.work());
        }
        self.clock.set(self.at(hour) - AHEAD);
        self.look();
        if is_full {
            let daemon = self.daemon.as_ref().unwrap();
            daemon.says("nothing fires until there is room");
        } else if !is_off {
            self.caught_up(hour);
        }
    }

    /// Waits until every role's newest slot up to an hour has been fired, or skipped, and nothing runs.
    fn caught_up(&self, hour: u64) {
        let newest = ROLES.iter().filter_map(|role| {
            let day = hour.saturating_sub(23)..=hour;
            let slot = day.rev().find(|hour| role.is_due(*hour))?;
            Some((role.name, self.at(slot)))
        });
        let newest: Vec<_> = newest.collect();
        until(&format!("hour {hour} to be over"), || {
            let rows = self.fleet.ok(&[
                "firings", "--all", "--since", "2d", "--limit", "1000", "--json",
            ]);
            let rows = rows.as_array().unwrap();
            let has = |(role, slot): &(&str, DateTime<Utc>)| {
                let mut of_role = rows.iter().filter(|row| row["role"] == *role);
                of_role.any(|row| time(&row["slot"]) == Some(*slot))
            };
            let over = rows.iter().all(|row| !row["ended_at"].is_null());
            (over && newest.iter().all(has)).then_some(())
        });
    }

    /// The kernel wakes a daemon whose clock was set; libfaketime cannot.
    fn look(&self) {
        if let Some(daemon) = &self.daemon {
            daemon.signal(Signal::SIGHUP);
        }
    }

    /// Issues by chance.
    fn arrive(&mut self) {
        for role in &ROLES {
            if self.dice.roll(100) < role.arrivals {
                let wants = match self.dice.roll(10) {
                    0..=5 => "nothing-special",
                    6..=7 => "two-firings",
                    8 => "an-answer",
                    _ => "too-much",
                };
                self.issue(role.name, wants);
            }
        }
    }

    fn issue(&mut self, role: &str, wants: &str) {
        let body = format!("It wants: {wants}.");
        self.issues
            .push(self.fleet.issue(role, &format!("Work for {role}"), &body));
    }

    fn work(&self) -> Vec<Ready> {
        let open = self.fleet.ok(&["issue", "list", "--json"]);
        let mut ready = Vec::new();
        for issue in open.as_array().unwrap() {
            let labels = issue["labels"].as_array().unwrap();
            let labels: Vec<&str> = labels.iter().filter_map(Value::as_str).collect();
            let held = [
                "needs:human",
                "carson:in-flight",
                "carson:pr-open",
                "carson:done",
            ];
            if held.iter().any(|held| labels.contains(held)) {
                continue;
            }
            let role = labels.iter().find_map(|label| label.strip_prefix("for:"));
            ready.extend(role.map(|role| Ready {
                role: role.to_owned(),
                issue: issue["number"].as_u64().unwrap(),
            }));
        }
        ready
    }

    /// Every slot, the newest first.
    pub(super) fn rows(&self) -> Vec<Value> {
        let rows = self
            .fleet
            .ok(&["firings", "--all", "--limit", "1000000", "--json"]);
        rows.as_array().unwrap().clone()
    }

    fn place(&self, name: &str) -> PathBuf {
        self.fleet.shared().join(name)
    }

    fn start(&mut self, fault: &Fault, hour: u64) {
        if !matches!(fault.what, Trouble::FullDisk | Trouble::SilentForge) {
            // There is something to lose.
            for role in BUSY {
                self.issue(role, "nothing-special");
            }
        }
        let main = self.place("main.trouble");
        match fault.what {
            Trouble::ProviderAway => {
                fs::write(main, "error sending request: connection refused").unwrap();
            }
            Trouble::RateLimit => {
                let until = self.at(fault.to).format("%-I:%M %p");
                let said = format!("You've hit your usage limit. Try again at {until}.");
                fs::write(main, said).unwrap();
            }
            Trouble::BrokenCli => fs::write(main, "broken").unwrap(),
            Trouble::Reboot => self.reboot(hour),
            Trouble::FullDisk => self.fill(),
            Trouble::WrongPromise => self.promise(PROMISE, WRONG_PROMISE),
            Trouble::SilentForge => {
                let lock = self.lock();
                fs::rename(&lock, lock.with_extension("kept")).unwrap();
                mkfifo(&lock, Mode::S_IRWXU).unwrap();
            }
        }
    }

    fn end(&mut self, fault: &Fault) {
        match fault.what {
            Trouble::ProviderAway | Trouble::RateLimit | Trouble::BrokenCli => {
                fs::remove_file(self.place("main.trouble")).unwrap();
            }
            Trouble::Reboot => self.daemon = Some(started(&self.fleet)),
            Trouble::FullDisk => {
                fs::remove_file(self.filled()).unwrap();
                self.look();
            }
            Trouble::WrongPromise => self.promise(WRONG_PROMISE, PROMISE),
            Trouble::SilentForge => {
                let lock = self.lock();
                fs::rename(lock.with_extension("kept"), &lock).unwrap();
            }
        }
    }

    /// The hour's firings are killed with half of their work committed, and the daemon with them.
    fn reboot(&mut self, hour: u64) {
        fs::write(self.place("slow"), "").unwrap();
        self.ready.insert(hour, self.work());
        self.clock.set(self.at(hour) - AHEAD);
        self.look();
        for role in BUSY {
            until("a session in the middle of its work", || {
                let reached = self.place(&format!("reached.{role}"));
                reached.exists().then_some(())
            });
        }
        if let Some(daemon) = self.daemon.take() {
            daemon.killed();
        }
        let firings = processes(&self.fleet, "firing run");
        for pid in firings.into_iter().chain(self.fleet.descendants()) {
            // It may have ended with its supervisor.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        fs::remove_file(self.place("slow")).unwrap();
    }

    fn promise(&self, from: &str, to: &str) {
        let role = self.fleet.home().join("roles/checked/role.toml");
        edit(&role, &format!("{from:?}"), &format!("{to:?}"));
    }

    fn lock(&self) -> PathBuf {
        self.fleet.home().join("forge/widget/.lock")
    }

    fn filled(&self) -> PathBuf {
        self.fleet.root().join("filled")
    }

    fn fill(&self) {
        let mut file = File::create(self.filled()).unwrap();
        let bytes = vec![1; 1 << 16];
        while file.write_all(&bytes).is_ok() {}
    }

    /// Issues of which nobody knows what becomes: neither done, nor closed by a person, nor with a person, nor
    /// waiting behind their open pull request.
    pub(super) fn issues_without_a_state(&self) -> Vec<String> {
        let open: Vec<Value> = self.fleet.pulls();
        let open = |number: &Value| {
            open.iter()
                .any(|pull| pull["state"] == "open" && pull["issue"] == *number)
        };
        let mut lost = Vec::new();
        for number in &self.issues {
            let shown = self
                .fleet
                .ok(&["issue", "show", &number.to_string(), "--json"]);
            let issue = &shown["issue"];
            let labels = issue["labels"].to_string();
            let known = issue["state"] == "closed"
                || labels.contains("needs:human")
                || labels.contains("carson:pr-open") && open(&issue["number"]);
            if !known || labels.contains("carson:in-flight") {
                lost.push(issue.to_string());
            }
        }
        lost
    }
}

/// A daemon that listens to signals.
fn started(fleet: &TestFleet) -> Daemon {
    let daemon_starts = |log: &Path| {
        let log = fs::read_to_string(log).unwrap_or_default();
        log.matches("daemon started").count()
    };
    let before = daemon_starts(&fleet.root().join("daemon.log"));
    let daemon = Daemon::start(fleet, &[]);
    until("the daemon to start", || {
        (daemon_starts(&daemon.log) > before).then_some(())
    });
    daemon
}

/// A time of a row.
pub(super) fn time(value: &Value) -> Option<DateTime<Utc>> {
    value.as_str()?.parse().ok()
}
