//! The household at work: its clock, its daemon, and what is done to it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use carson_tests::fleet::TestFleet;
use carson_tests::{Dice, SetClock, until};
use chrono::{DateTime, Datelike, TimeDelta, Utc};
use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;

use super::household::{ROLES, furnish};
use super::person;
use super::plan::{FAULTS, Fault, Trouble};
use crate::daemon::Daemon;

/// Hours after the last in which what is left is done.
const DRAIN: u64 = 24;

/// So long before a slot the clock is set, as the daemon looks ahead of it.
pub(super) const AHEAD: TimeDelta = TimeDelta::milliseconds(400);

/// An issue that a role may take up.
pub(super) struct Ready {
    pub role: String,
    pub issue: u64,
}

pub(super) struct World {
    pub(super) fleet: TestFleet,
    pub(super) clock: SetClock,
    pub(super) daemon: Option<Daemon>,
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
    pub(super) fn look(&self) {
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

    pub(super) fn issue(&mut self, role: &str, wants: &str) {
        let body = format!("It wants: {wants}.");
        self.issues
            .push(self.fleet.issue(role, &format!("Work for {role}"), &body));
    }

    pub(super) fn work(&self) -> Vec<Ready> {
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
pub(super) fn started(fleet: &TestFleet) -> Daemon {
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
