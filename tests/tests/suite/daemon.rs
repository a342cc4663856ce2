//! The supervisor as a process: its death and its return, its stop, and changed settings.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use sqlx::SqlitePool;

/// Each issue has a barrier of its own in its execute session.
fn script(fleet: &TestFleet) -> String {
    let mut text = String::new();
    for issue in [1, 2, 3] {
        let barrier = fleet.shared().join(format!("barrier-{issue}"));
        text.push_str(&format!(
            r#"
            [[when]]
            stage = "execute"
            issue = {issue}
            do = [
                {{ edit = {{ path = "{issue}.txt", content = "done\n" }} }},
                {{ barrier = {barrier:?} }},
                {{ commit = "Work on {issue}" }},
                {{ say = "[OK] done" }},
            ]
            "#
        ));
    }
    text.push_str(
        r#"
        [[when]]
        stage = "plan"
        do = [{ say = "[OK] planned" }]
        [[when]]
        do = [{ say = "[APPROVE]" }]
        "#,
    );
    text
}

/// A running `carson daemon`; killed when it is dropped.
pub(crate) struct Daemon {
    pub(crate) child: Child,
    pub(crate) log: PathBuf,
}

impl Daemon {
    pub(crate) fn start(fleet: &TestFleet, args: &[&str]) -> Self {
        Self::start_with(fleet, fleet.command(&[&["daemon"], args].concat()))
    }

    /// Starts it with this command.
    pub(crate) fn start_with(fleet: &TestFleet, mut command: Command) -> Self {
        let log = fleet.root().join("daemon.log");
        let file = File::options().create(true).append(true).open(&log);
        command.stdout(Stdio::null()).stderr(file.unwrap());
        Self {
            child: command.spawn().unwrap(),
            log,
        }
    }

    /// Starts one whose log nobody reads any more.
    pub(crate) fn unread(fleet: &TestFleet) -> Self {
        let mut command = fleet.command(&["daemon"]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        let log = fleet.root().join("daemon.log");
        Self { child, log }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).unwrap();
        kill(Pid::from_raw(pid), signal).unwrap();
    }

    pub(crate) fn ended(&mut self) -> ExitStatus {
        until("the daemon to end", || self.child.try_wait().unwrap())
    }

    pub(crate) fn killed(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn says(&self, words: &str) {
        until(words, || {
            let log = fs::read_to_string(&self.log).unwrap();
            log.contains(words).then_some(())
        });
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two roles that are due every second, each with one issue.
fn fleet() -> TestFleet {
    let fleet = TestFleet::new();
    fleet.script(&script(&fleet));
    for (number, role) in [(1, "butler"), (2, "cook")] {
        fleet.role_at(role, "play", "* * * * * *", "max_late = \"1s\"\n");
        assert_eq!(fleet.issue(role, "Work", "To do."), number);
    }
    fleet
}

fn reached(fleet: &TestFleet, issue: u64) {
    let file = fleet.shared().join(format!("barrier-{issue}.reached"));
    until("the session to reach its barrier", || {
        file.exists().then_some(())
    });
}

fn release(fleet: &TestFleet, issue: u64) {
    fs::write(fleet.shared().join(format!("barrier-{issue}.go")), "").unwrap();
}

/// The firings of a role that took work, newest first.
fn firings(fleet: &TestFleet, role: &str) -> Vec<Value> {
    let list = fleet.ok(&["firings", "--role", role, "--limit", "1000", "--json"]);
    let rows = list.as_array().unwrap().iter();
    rows.filter(|row| !row["work"].is_null()).cloned().collect()
}

/// Kills the process of a role's newest firing; its row.
fn kill_firing(fleet: &TestFleet, role: &str) -> Value {
    let row = firings(fleet, role).remove(0);
    let pid = i32::try_from(row["pid"].as_i64().unwrap()).unwrap();
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    row
}

fn outcome(fleet: &TestFleet, role: &str) -> String {
    until("the firing to end", || {
        let rows = firings(fleet, role);
        let newest = rows.first()?;
        newest["ended_at"].as_str()?;
        newest["outcome"].as_str().map(str::to_owned)
    })
}

#[test]
fn a_killed_daemon_leaves_its_firings_to_their_true_outcome() {
    let fleet = fleet();
    let first = Daemon::start(&fleet, &[]);
    reached(&fleet, 1);
    reached(&fleet, 2);
    first.killed();

    // One ends while nobody watches.
    release(&fleet, 1);
    assert_eq!(outcome(&fleet, "butler"), "OK");
    // The other is still at work when the next daemon starts, and after its first passes.
    let second = Daemon::start(&fleet, &[]);
    second.says("daemon started");
    until("the next daemon to fire by itself", || {
        let list = fleet.ok(&["firings", "--role", "butler", "--json"]);
        (list.as_array().unwrap().len() > 1).then_some(())
    });
    assert!(firings(&fleet, "cook")[0]["ended_at"].is_null());
    release(&fleet, 2);
    assert_eq!(outcome(&fleet, "cook"), "OK");

    // Nothing was done twice, and nothing waits for an operator.
    for role in ["butler", "cook"] {
        assert_eq!(firings(&fleet, role).len(), 1);
    }
    let pulls = fleet.pulls();
    assert_eq!(pulls.len(), 2);
    assert!(
        pulls.iter().all(|pull| pull["draft"] == false),
        "{pulls:#?}"
    );
    until("the benches to go", || {
        fleet.benches().is_empty().then_some(())
    });
}

#[test]
fn a_firing_that_died_with_its_daemon_is_concluded_and_done_again() {
    let fleet = fleet();
    let first = Daemon::start(&fleet, &[]);
    reached(&fleet, 1);
    first.killed();
    kill_firing(&fleet, "butler");
    for issue in [1, 2] {
        release(&fleet, issue);
    }

    let _second = Daemon::start(&fleet, &[]);

    until("the work to be done again", || {
        let rows = firings(&fleet, "butler");
        (rows.first()?["outcome"] == "OK").then_some(())
    });
    let rows = firings(&fleet, "butler");
    assert_eq!(rows.len(), 2, "{rows:#?}");
    assert_eq!(rows[1]["outcome"], "CRASHED");
    assert_eq!(fleet.labels(1), ["carson:pr-open"]);
}

#[test]
fn a_firing_that_dies_under_a_running_daemon_is_done_again() {
    let fleet = fleet();
    let _daemon = Daemon::start(&fleet, &[]);
    reached(&fleet, 1);
    release(&fleet, 2);
    kill_firing(&fleet, "butler");
    release(&fleet, 1);

    until("the work to be done again", || {
        let rows = firings(&fleet, "butler");
        (rows.first()?["outcome"] == "OK").then_some(())
    });
    assert_eq!(firings(&fleet, "butler")[1]["outcome"], "CRASHED");
}

#[test]
fn a_second_daemon_is_refused_with_the_name_of_the_first() {
    let fleet = fleet();
    let first = Daemon::start(&fleet, &[]);
    first.says("daemon started");

    let second = fleet.carson(&["daemon"]);

    assert_eq!(second.code, Some(1), "{second:#?}");
    let owner = format!("pid {}", first.child.id());
    assert!(second.stderr.contains(&owner), "{second:#?}");
}

/// What listens where the page should be is somebody else's: it gets no link that signs in.
#[test]
fn a_page_whose_port_another_program_holds_is_led_to_by_no_link() {
    let fleet = fleet();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = other.local_addr().unwrap();
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(settings, format!("{text}\n[page]\nlisten = \"{at}\"\n")).unwrap();
    let _daemon = Daemon::start(&fleet, &[]);
    let asked = until("the daemon to say so", || {
        let asked = fleet.carson(&["page"]);
        (asked.code == Some(1)).then_some(asked)
    });
    assert!(
        asked.stderr.contains("the page is not served"),
        "{asked:#?}"
    );
    assert!(!asked.stdout.contains("sign-in"), "{asked:#?}");
    drop(other);
    let asked = until("it to be served", || {
        let asked = fleet.carson(&["page"]);
        (asked.code == Some(0)).then_some(asked)
    });
    assert!(asked.stdout.contains("sign-in?link="), "{asked:#?}");
}

#[test]
fn sigterm_ends_the_daemon_and_no_firing() {
    let fleet = fleet();
    let mut daemon = Daemon::start(&fleet, &[]);
    reached(&fleet, 1);
    reached(&fleet, 2);
    daemon.signal(Signal::SIGTERM);
    assert!(daemon.ended().success());
    assert!(firings(&fleet, "butler")[0]["ended_at"].is_null());

    for (issue, role) in [(1, "butler"), (2, "cook")] {
        release(&fleet, issue);
        assert_eq!(outcome(&fleet, role), "OK");
    }
}

#[test]
fn draining_waits_for_the_firings_and_starts_none() {
    let fleet = fleet();
    let mut daemon = Daemon::start(&fleet, &["--drain"]);
    reached(&fleet, 1);
    reached(&fleet, 2);
    daemon.signal(Signal::SIGTERM);
    daemon.says("draining");
    release(&fleet, 1);
    assert_eq!(outcome(&fleet, "butler"), "OK");
    assert_eq!(daemon.child.try_wait().unwrap(), None);
    release(&fleet, 2);
    assert!(daemon.ended().success());
    assert_eq!(outcome(&fleet, "cook"), "OK");
    // Roles that are due every second have not fired again.
    for role in ["butler", "cook"] {
        let list = fleet.ok(&["firings", "--role", role, "--json"]);
        let newest = &list[0];
        assert_eq!(newest["outcome"], "OK", "{list:#?}");
    }
}

#[test]
fn a_second_signal_ends_the_waiting_and_no_firing() {
    let fleet = fleet();
    let mut daemon = Daemon::start(&fleet, &["--drain"]);
    reached(&fleet, 1);
    daemon.signal(Signal::SIGTERM);
    daemon.says("draining");
    daemon.signal(Signal::SIGTERM);
    assert!(daemon.ended().success());
    let newest = firings(&fleet, "butler").remove(0);
    assert!(newest["ended_at"].is_null(), "{newest:#}");
    release(&fleet, 1);
    release(&fleet, 2);
    assert_eq!(outcome(&fleet, "butler"), "OK");
}

#[test]
fn broken_settings_are_said_and_the_last_good_ones_stay() {
    let fleet = fleet();
    for issue in [1, 2, 3] {
        release(&fleet, issue);
    }
    let daemon = Daemon::start(&fleet, &[]);
    daemon.says("daemon started");
    let settings = fleet.home().join("carson.toml");
    let good = fs::read_to_string(&settings).unwrap();

    fs::write(&settings, good.replace("max_firings", "max_firing")).unwrap();
    daemon.says("the last good ones stay");
    daemon.says("max_firings");
    // Whoever looks sees both: the fleet as it goes on, and what is wrong.
    let shown = fleet.carson(&["status"]);
    assert_eq!(shown.code, Some(0), "{shown:#?}");
    assert!(shown.stderr.contains("fleet.max_firing"), "{shown:#?}");
    assert!(shown.stdout.contains("butler"), "{shown:#?}");
    assert_eq!(fleet.carson(&["fire", "butler"]).code, Some(2));
    // Firings go on, with work that was not there before.
    assert_eq!(fleet.issue("butler", "More", "To do."), 3);
    until("the new work to be done", || {
        let rows = firings(&fleet, "butler");
        (rows.len() == 2 && rows[0]["outcome"] == "OK").then_some(())
    });

    fs::write(&settings, good).unwrap();
    daemon.says("settings reloaded");
    fleet.role_at("maid", "play", "* * * * * *", "");
    until("the new role to fire", || {
        let list = fleet.carson(&["firings", "--role", "maid", "--json"]);
        let list: Value = serde_json::from_str(&list.stdout).ok()?;
        list.get(0).map(drop)
    });
}

#[test]
fn a_daemon_without_roles_does_not_start_and_one_that_runs_keeps_them() {
    let empty = TestFleet::new();
    let refused = empty.carson(&["daemon"]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(
        refused.stderr.contains("there is no role in"),
        "{refused:#?}"
    );
    let checked = empty.carson(&["config", "check"]);
    assert!(
        checked.stdout.contains("there is no role in it"),
        "{checked:#?}"
    );

    let fleet = fleet();
    let daemon = Daemon::start(&fleet, &[]);
    daemon.says("daemon started");
    let roles = fleet.home().join("roles");
    fs::rename(&roles, fleet.root().join("unmounted")).unwrap();
    daemon.signal(Signal::SIGHUP);
    daemon.says("the last good ones stay");
    daemon.says("so there is no role and nothing fires");
}

#[test]
fn sighup_reads_the_settings_again() {
    let fleet = fleet();
    let daemon = Daemon::start(&fleet, &[]);
    daemon.says("daemon started");
    daemon.signal(Signal::SIGHUP);
    daemon.says("settings reloaded");
}

#[test]
fn a_firing_whose_role_was_removed_is_still_concluded() {
    let fleet = fleet();
    let first = Daemon::start(&fleet, &[]);
    reached(&fleet, 1);
    first.killed();
    let row = kill_firing(&fleet, "butler");
    fs::remove_dir_all(fleet.home().join("roles/butler")).unwrap();

    let _ = fleet.ok(&["prune", "--json"]);

    let id = row["id"].as_str().unwrap();
    let row = fleet.firing(id);
    assert_eq!(row["outcome"], "CRASHED", "{row:#?}");
    assert!(!fleet.home().join("benches").join(id).exists());
    assert_eq!(fleet.labels(1), ["needs:human"]);
    let pull = &fleet.pulls()[0];
    assert_eq!(pull["draft"], true);
    release(&fleet, 2);
    assert_eq!(outcome(&fleet, "cook"), "OK");
}

/// "Read your settings again" is no reason to end, however early it is said.
#[test]
fn a_hangup_while_it_starts_does_not_end_the_daemon() {
    let fleet = fleet();
    let _ = fleet.ok(&["status", "--json"]);
    let url = format!("sqlite:{}", fleet.home().join("state/carson.db").display());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut daemon = runtime.block_on(async {
        let pool = SqlitePool::connect(&url).await.unwrap();
        // It has to write something before it has started.
        let lock = pool.begin_with("BEGIN EXCLUSIVE").await.unwrap();
        let daemon = Daemon::start(&fleet, &[]);
        let opened = PathBuf::from(format!("/proc/{}/fd", daemon.pid()));
        until("the daemon to open its database", || {
            let files = fs::read_dir(&opened).ok()?.flatten();
            let mut files = files.filter_map(|file| fs::read_link(file.path()).ok());
            files.any(|file| file.ends_with("carson.db")).then_some(())
        });
        daemon.signal(Signal::SIGHUP);
        lock.rollback().await.unwrap();
        pool.close().await;
        daemon
    });
    daemon.says("daemon started");
    // It was not lost either.
    daemon.says("settings reloaded");
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.ended().code(), Some(0));
}
