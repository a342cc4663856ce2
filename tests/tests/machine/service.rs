//! The unit file as it is shipped, in a real systemd.
//!
//! A drop-in says what only a test can know (the program, the home, the user) and shortens the
//! times; everything else is the file's.

use std::fs;
use std::path::Path;

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::systemd::Systemd;
use crate::virtual_machine;

pub(crate) const UNIT: &str = "carson.service";

pub(crate) struct Service {
    pub(crate) systemd: Systemd,
    pub(crate) fleet: TestFleet,
    _units: TempDir,
}

impl Service {
    /// Such a fleet below a systemd in which nothing is started yet.
    fn new() -> Self {
        Self::of(fleet_at_a_barrier(), "")
    }

    /// The same of another fleet, with more lines of the unit.
    pub(crate) fn of(fleet: TestFleet, more: &str) -> Self {
        let units = tempfile::tempdir().unwrap();
        write_units(&fleet, units.path(), more);
        let systemd = Systemd::boot(units.path());
        Self {
            systemd,
            fleet,
            _units: units,
        }
    }

    pub(crate) fn show(&self, property: &str) -> String {
        self.systemd.show(UNIT, property)
    }

    fn is(&self, property: &str, wanted: &str) {
        until(&format!("{property} to be {wanted}"), || {
            (self.show(property) == wanted).then_some(())
        });
    }

    /// The daemon, as the machine outside numbers it.
    pub(crate) fn main_pid(&self) -> Pid {
        let group = self.unit_group();
        until("the daemon", || {
            let main = self.show("MainPID");
            processes(&group).into_iter().find(|pid| {
                let status = fs::read_to_string(format!("/proc/{pid}/status"));
                let numbers = status.unwrap_or_default();
                numbers.lines().any(|line| {
                    line.starts_with("NSpid:") && line.split_whitespace().last() == Some(&main)
                })
            })
        })
    }

    pub(crate) fn unit_group(&self) -> std::path::PathBuf {
        self.systemd.group().join("system.slice").join(UNIT)
    }

    /// Waits until the session works; its firing.
    fn session(&self) -> String {
        let reached = self.fleet.shared().join("barrier.reached");
        until("the session", || reached.exists().then_some(()));
        self.works()[0]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn works(&self) -> Vec<Value> {
        let list = self.fleet.ok(&["firings", "--all", "--json"]);
        let rows = list.as_array().unwrap().iter();
        rows.filter(|row| !row["work"].is_null()).cloned().collect()
    }

    /// Lets the session end: the work is done, once, and nothing is left of it.
    fn is_done(&self, firing: &str) {
        fs::write(self.fleet.shared().join("barrier.go"), "").unwrap();
        until("the firing to end", || {
            let row = self.fleet.firing(firing);
            (!row["ended_at"].is_null()).then_some(())
        });
        let rows = self.works();
        assert_eq!(rows.len(), 1, "{rows:#?}");
        assert_eq!(rows[0]["outcome"], "OK", "{rows:#?}");
        assert_eq!(self.fleet.pulls().len(), 1);
        until("everybody of it to go", || {
            let groups = session_groups(&self.unit_group());
            (groups.is_empty() && self.fleet.descendants().is_empty()).then_some(())
        });
    }
}

/// A fleet of an ordinary user with one piece of work, whose session waits at a barrier.
pub(crate) fn fleet_at_a_barrier() -> TestFleet {
    let fleet = TestFleet::new();
    let barrier = fleet.shared().join("barrier");
    fleet.script(&format!(
        r#"
        [[when]]
        do = [
            {{ edit = {{ path = "done.txt", content = "done\n" }} }},
            {{ grandchild = 600 }},
            {{ barrier = {barrier:?} }},
            {{ commit = "Work" }},
            {{ say = "[OK] done" }},
        ]
        "#
    ));
    let more = "stages = [\"execute\"]\nmax_late = \"1s\"\n";
    fleet.role_at("hand", "play", "* * * * * *", more);
    assert_eq!(fleet.issue("hand", "Work", "To do."), 1);
    fleet.as_ordinary_user()
}

fn write_units(fleet: &TestFleet, dir: &Path, more: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let unit = fs::read(root.join("deploy/systemd/carson.service")).unwrap();
    fs::write(dir.join(UNIT), unit).unwrap();
    let path = std::env::var("PATH").unwrap();
    let (binary, home, operator) = (fleet.binary(), fleet.home(), fleet.root().join("operator"));
    let log = fleet.root().join("daemon.log");
    // An emulated processor is slow: there the unit's own patience is left.
    let watchdog = if virtual_machine::is_around_us() {
        ""
    } else {
        "WatchdogSec=2s\n"
    };
    let dropin = format!(
        "[Unit]\nDefaultDependencies=no\n\
         [Service]\nUser=65534\nGroup=65534\nWorkingDirectory={operator}\n\
         ExecStart=\nExecStart={binary} daemon\n\
         Environment=CARSON_HOME={home} HOME={operator} PATH={path}\n\
         StandardError=append:{log}\nRestartSec=200ms\n{watchdog}{more}",
        operator = operator.display(),
        binary = binary.display(),
        home = home.display(),
        log = log.display(),
    );
    fs::create_dir(dir.join("carson.service.d")).unwrap();
    fs::write(dir.join("carson.service.d/test.conf"), dropin).unwrap();
}

/// Everybody in a group and below it.
pub(crate) fn processes(group: &Path) -> Vec<Pid> {
    let own = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let mut found: Vec<Pid> = own
        .lines()
        .filter_map(|line| line.parse().ok().map(Pid::from_raw))
        .collect();
    for item in fs::read_dir(group).into_iter().flatten().flatten() {
        if item.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(processes(&item.path()));
        }
    }
    found
}

/// The groups that Carson made for sessions.
pub(crate) fn session_groups(unit: &Path) -> Vec<std::path::PathBuf> {
    let items = fs::read_dir(unit).into_iter().flatten().flatten();
    let named = |name: &str| name.starts_with("carson-") && name != "carson-main";
    items
        .filter(|item| item.file_name().to_str().is_some_and(named))
        .map(|item| item.path())
        .collect()
}

#[test]
fn it_is_started_when_it_is_ready_and_stops_without_its_sessions() {
    let service = Service::new();
    service.systemd.must(&["start", UNIT]);
    // Type=notify: `start` came back because the daemon said so.
    assert_eq!(service.show("SubState"), "running");
    let firing = service.session();
    service.systemd.must(&["reload", UNIT]);
    service.systemd.must(&["stop", UNIT]);
    assert_eq!(
        service.show("Result"),
        "success",
        "{}",
        service.systemd.log_text()
    );
    assert_eq!(service.show("ActiveState"), "inactive");
    let log = fs::read_to_string(service.fleet.root().join("daemon.log")).unwrap();
    assert!(log.contains("settings reloaded"), "{log}");
    assert!(
        !service.fleet.descendants().is_empty(),
        "the session ended too"
    );
    service.is_done(&firing);
}

#[test]
fn a_daemon_that_hangs_is_ended_and_the_next_one_finds_its_firings() {
    let service = Service::new();
    service.systemd.must(&["start", UNIT]);
    let firing = service.session();
    let stuck = service.main_pid();
    kill(stuck, Signal::SIGSTOP).unwrap();
    service.is("NRestarts", "1");
    service.is("SubState", "running");
    assert_ne!(service.main_pid(), stuck);
    service.is_done(&firing);
}

#[test]
fn a_fed_watchdog_leaves_the_daemon_alone() {
    let service = Service::new();
    service.systemd.must(&["start", UNIT]);
    let firing = service.session();
    let fed_us = || -> u64 {
        let at = service.show("WatchdogTimestampMonotonic");
        at.parse().unwrap()
    };
    let began_us = fed_us();
    until("food for three times the watchdog's patience", || {
        (fed_us() >= began_us + 6_000_000).then_some(())
    });
    assert_eq!(service.show("NRestarts"), "0");
    service.is_done(&firing);
}

#[test]
fn a_restart_with_a_session_alive_finds_it_again() {
    let service = Service::new();
    let limited = limits_can_be_had(service.systemd.group());
    service.systemd.must(&["start", UNIT]);
    let firing = service.session();
    if limited {
        // As Carson does it with the controllers of limits where there are some.
        let unit = service.unit_group();
        let main = unit.join("carson-main");
        let _ = fs::create_dir(&main);
        for pid in fs::read_to_string(unit.join("cgroup.procs"))
            .unwrap()
            .lines()
        {
            fs::write(main.join("cgroup.procs"), pid).unwrap();
        }
        for group in [unit.parent().unwrap(), &unit] {
            let turned_on = fs::write(group.join("cgroup.subtree_control"), "+hugetlb");
            turned_on.unwrap_or_else(|error| panic!("{}: {error}", group.display()));
        }
    } else {
        eprintln!(
            "NOT SEEN: a unit whose sessions are limited (no controller of version 2 here; `--virtual` has one)"
        );
    }
    service.systemd.must(&["restart", UNIT]);
    assert_eq!(service.show("SubState"), "running");
    service.is_done(&firing);
    let group = service.systemd.group().to_owned();
    drop(service);
    no_limits_above(&group);
}

#[test]
fn each_session_has_a_group_of_its_own_below_the_unit() {
    let service = Service::new();
    service.systemd.must(&["start", UNIT]);
    let firing = service.session();
    let unit = service.unit_group();
    let groups = session_groups(&unit);
    assert_eq!(groups.len(), 1, "{groups:?}");
    // All but the launcher's outer half, which waits for the rest and ends the group.
    until("the session to be in its group", || {
        let mut descendants = service.fleet.descendants();
        descendants.retain(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            !String::from_utf8_lossy(&line).contains("sandbox-launch")
        });
        let inside = processes(&groups[0]);
        let is_in = |pid: &i32| inside.contains(&Pid::from_raw(*pid));
        (!descendants.is_empty() && descendants.iter().all(is_in)).then_some(())
    });
    let controllers = fs::read_to_string(groups[0].join("cgroup.controllers")).unwrap();
    if controllers.contains("memory") {
        let most = fs::read_to_string(groups[0].join("pids.max")).unwrap();
        assert_ne!(most.trim(), "max");
    } else {
        eprintln!(
            "NOT SEEN: limits of the group (its controllers here are: {controllers:?}; `--virtual` has them)"
        );
    }
    service.is_done(&firing);
}

#[test]
fn a_home_that_cannot_be_used_is_given_up_after_five_starts() {
    let service = Service::new();
    let settings = service.fleet.home().join("carson.toml");
    fs::write(settings, "no settings\n").unwrap();
    let started = service.systemd.systemctl(&["start", UNIT]);
    assert!(!started.status.success(), "{started:?}");
    service.is("ActiveState", "failed");
    service.is("NRestarts", "5");
    let log = fs::read_to_string(service.fleet.root().join("daemon.log")).unwrap();
    assert!(log.contains("carson.toml"), "{log}");
}

/// Whether groups below this one can have a controller that forbids processes beside groups. It is
/// the one that nobody uses.
fn limits_can_be_had(group: &Path) -> bool {
    let above = group.parent().unwrap();
    [above, group]
        .iter()
        .all(|group| fs::write(group.join("cgroup.subtree_control"), "+hugetlb").is_ok())
}

/// Undoes it above; fails where somebody else needs it.
fn no_limits_above(group: &Path) {
    let above = group.parent().unwrap();
    let _ = fs::write(above.join("cgroup.subtree_control"), "-hugetlb");
}
