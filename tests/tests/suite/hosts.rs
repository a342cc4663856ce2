//! Several hosts with one database: one that dies, and one that only seems to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use carson_tests::fleet::TestFleet;
use carson_tests::postgres::TestDatabase;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use sqlx::{Connection as _, PgConnection};

use crate::daemon::Daemon;

/// The issue, and what its work is on the host that does it.
const SESSIONS: &str = r#"
[[when]]
stage = "plan"
do = [{ say = "[OK] planned" }]
[[when]]
stage = "execute"
do = [
    { edit = { path = "HOST.txt", content = "by HOST\n" } },
    { commit = "Do it" },
    { edit = { path = "more.txt", content = "not committed\n" } },
    BARRIER{ commit = "The rest" },
    { say = "[OK] done" },
]
[[when]]
do = [{ say = "[APPROVE]" }]
"#;

/// A host of this name. Its role `butler` fires at this cadence; its sessions wait at a barrier where they are to.
pub(crate) fn host(database: &TestDatabase, name: &str, cadence: &str, waits: bool) -> TestFleet {
    host_at(&database.url(), name, cadence, waits)
}

/// The same by the address of the database.
pub(crate) fn host_at(url: &str, name: &str, cadence: &str, waits: bool) -> TestFleet {
    let fleet = TestFleet::new();
    let barrier = match waits {
        true => format!("{{ barrier = {:?} }}, ", barrier(&fleet)),
        false => String::new(),
    };
    let script = SESSIONS.replace("HOST", name).replace("BARRIER", &barrier);
    fleet.script(&script);
    fleet.role_at("butler", "play", cadence, "max_late = \"1s\"\n");
    let path = fleet.home().join("carson.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let settings = settings
        .replace("host = \"here\"", &format!("host = {name:?}"))
        .replace("[repos.", &format!("[database]\nurl = {url:?}\n\n[repos."));
    fs::write(path, settings).unwrap();
    fleet
}

/// One fleet has one forge and one remote, wherever it runs.
pub(crate) fn share(first: &TestFleet, other: &TestFleet) {
    let path = other.home().join("carson.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let remote = |fleet: &TestFleet| format!("url = {:?}\nbase", fleet.remote());
    assert!(settings.contains(&remote(other)));
    fs::write(path, settings.replace(&remote(other), &remote(first))).unwrap();
    symlink(first.home().join("forge"), other.home().join("forge")).unwrap();
}

fn barrier(fleet: &TestFleet) -> PathBuf {
    fleet.shared().join("barrier")
}

/// A host with a firing that stands still in the middle of its work.
pub(crate) struct Scene {
    pub(crate) here: TestFleet,
    pub(crate) there: TestFleet,
    daemon: Daemon,
    firing: Child,
    pub(crate) id: String,
    database: TestDatabase,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let database = TestDatabase::new();
        let here = host(&database, "here", "0 0 1 1 *", true);
        let there = host(&database, "there", "* * * * * *", false);
        here.issue("butler", "Work", "To do.");
        share(&here, &there);
        let daemon = Daemon::start(&here, &[]);
        daemon.says("daemon started");
        let mut command = here.command(&["fire", "butler", "--json"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let firing = command.spawn().unwrap();
        until("the session to reach its barrier", || {
            let reached = barrier(&here).with_extension("reached");
            reached.exists().then_some(())
        });
        let rows = here.ok(&["firings", "--json"]);
        let id = rows[0]["id"].as_str().unwrap().to_owned();
        Self {
            here,
            there,
            daemon,
            firing,
            id,
            database,
        }
    }

    /// Everything of Carson's that runs on the first host.
    pub(crate) fn signal_host(&self, signal: Signal) {
        let own = [self.daemon.pid(), self.firing.id()];
        let own = own.map(|pid| i32::try_from(pid).unwrap());
        for pid in own.into_iter().chain(self.here.descendants()) {
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }

    fn row(&self) -> Value {
        self.there.firing(&self.id)
    }

    /// Changes rows behind everybody's back.
    fn change(&self, statement: &'static str) {
        let url = self.database.url();
        let change = async {
            let mut connection = PgConnection::connect(&url).await.unwrap();
            sqlx::query(statement)
                .execute(&mut connection)
                .await
                .unwrap();
        };
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(change);
    }

    /// Waits until the other host has concluded the firing, and done its work; how long the first took.
    fn taken_over(&self, since: Instant) -> Duration {
        let row = until("the firing to be concluded", || {
            let row = self.row();
            row["ended_at"].is_string().then_some(row)
        });
        let took = since.elapsed();
        assert_eq!(row["outcome"], "CRASHED", "{row:#}");
        let reason = row["reason"].as_str().unwrap();
        assert!(reason.contains("its host here was gone"), "{reason}");
        assert_eq!(
            (&row["host"], &row["carrier"]),
            (&"here".into(), &"there".into())
        );
        until("the other host to do its work", || {
            let rows = self
                .there
                .ok(&["firings", "--role", "butler", "--limit", "1000", "--json"]);
            let rows = rows.as_array().unwrap();
            let done = rows
                .iter()
                .any(|row| row["outcome"] == "OK" && row["host"] == "there");
            done.then_some(())
        });
        assert_eq!(self.there.pulls().len(), 1);
        took
    }

    fn events(&self, kind: &str) -> Vec<Value> {
        let events = self.there.ok(&["events", "--kind", kind, "--json"]);
        events.as_array().unwrap().clone()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.signal_host(Signal::SIGKILL);
        let _ = self.firing.wait();
    }
}

/// F40. A host that dies with its firings blocks nothing: another one concludes them, and does their work.
#[test]
fn a_dead_hosts_firing_is_concluded_elsewhere_within_thirty_seconds() {
    let mut scene = Scene::new();
    let other = Daemon::start(&scene.there, &[]);
    other.says("daemon started");
    let since = Instant::now();
    scene.signal_host(Signal::SIGKILL);
    scene.firing.wait().unwrap();
    let took = scene.taken_over(since);
    println!("concluded after {took:?}");
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_eq!(scene.events("firing.taken-over").len(), 1);

    // It comes back: it says once what was taken over, and saves what its sessions left.
    let back = Daemon::start(&scene.here, &[]);
    back.says("this host was taken for dead");
    assert_eq!(scene.events("host.fenced").len(), 1);
    back.killed();
    let pruned = scene.here.carson(&["prune"]);
    assert_eq!(pruned.code, Some(0), "{pruned:#?}");
    let kept = scene.row()["salvage_ref"].as_str().map(str::to_owned);
    let left = scene.here.shared().join("left");
    fs::write(&left, "not committed\n").unwrap();
    let left = scene.here.blob(&left);
    assert!(scene.here.kept().contains(&left), "{kept:?} {pruned:#?}");
    assert_eq!(scene.there.pulls().len(), 1);
}

/// The same host again, but it is only frozen for a while.
#[test]
fn a_host_that_was_frozen_pushes_nothing_twice_and_keeps_its_work_on_its_own_branch() {
    let mut scene = Scene::new();
    let other = Daemon::start(&scene.there, &[]);
    other.says("daemon started");
    let since = Instant::now();
    scene.signal_host(Signal::SIGSTOP);
    scene.taken_over(since);
    sleep(Duration::from_secs(20).saturating_sub(since.elapsed()));
    fs::write(barrier(&scene.here).with_extension("go"), "").unwrap();
    scene.signal_host(Signal::SIGCONT);
    until("the fenced firing to end", || {
        scene.firing.try_wait().unwrap()
    });

    let fenced = scene.events("firing.fenced");
    assert_eq!(fenced.len(), 1, "{fenced:#?}");
    let branch = format!("carson/fenced/{}", scene.id);
    assert_eq!(fenced[0]["data"]["branch"], branch, "{fenced:#?}");
    let branches = scene.here.branches();
    assert!(branches.contains(&branch), "{branches:?}");
    let own: Vec<_> = branches
        .iter()
        .filter(|name| name.contains("butler"))
        .collect();
    assert_eq!(own.len(), 1, "one branch of the work: {branches:?}");
    let pulls = scene.there.pulls();
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    let row = scene.row();
    assert_eq!(row["outcome"], "CRASHED", "{row:#}");
    assert_eq!(row["pr_url"], Value::Null, "{row:#}");
    scene.daemon.says("this host was taken for dead");
    assert_eq!(scene.events("host.fenced").len(), 1);
    assert!(
        scene.here.benches().is_empty(),
        "{:?}",
        scene.here.benches()
    );
}

/// F52, F39: what two hosts cannot share is refused when the second daemon starts.
#[test]
fn a_second_daemon_that_would_mix_things_up_does_not_start() {
    let database = TestDatabase::new();
    let here = host(&database, "here", "0 0 1 1 *", false);
    let there = host(&database, "there", "0 0 1 1 *", false);
    let daemon = Daemon::start(&here, &[]);
    daemon.says("daemon started");
    let refused = there.carson(&["daemon"]);
    assert_ne!(refused.code, Some(0), "{refused:#?}");
    assert!(
        refused
            .stderr
            .contains("here on the same database has issues of its own"),
        "{refused:#?}"
    );
    let fired = there.fire("butler");
    assert!(fired.stdout.contains("has issues of its own"), "{fired:#?}");

    // A home that was copied with all that tells it from others.
    let copy = host(&database, "here", "0 0 1 1 *", false);
    fs::create_dir_all(copy.home().join("state")).unwrap();
    fs::copy(
        here.home().join("state/home-id"),
        copy.home().join("state/home-id"),
    )
    .unwrap();
    fs::create_dir_all(copy.home().join("forge")).unwrap();
    fs::copy(
        here.home().join("forge/.forge-id"),
        copy.home().join("forge/.forge-id"),
    )
    .unwrap();
    let refused = copy.carson(&["daemon"]);
    assert_ne!(refused.code, Some(0), "{refused:#?}");
    assert!(
        refused.stderr.contains("keeps the lease of the host here"),
        "{refused:#?}"
    );
    // Nor does anything else of it go by that host's name: what it fired would be taken for dead there.
    let fired = copy.fire("butler");
    assert!(fired.stdout.contains("this home is a copy"), "{fired:#?}");
    assert_eq!(
        here.ok(&["firings", "--all", "--json"]),
        serde_json::json!([])
    );
}

/// A firing that waited for its database past its deadline is not ended the moment the database is back.
#[test]
fn overtime_begins_when_the_host_reaches_the_database_again() {
    let mut scene = Scene::new();
    scene.change("UPDATE firing SET deadline_at = claimed_at - interval '3 minutes'");
    let looked = scene.here.ok(&["prune", "--json"]);
    assert_eq!(looked["concluded"], serde_json::json!([]), "{looked:#}");
    assert!(scene.row()["ended_at"].is_null());

    scene.change("UPDATE host SET held_since = now() - interval '3 minutes'");
    until("the daemon to end it", || {
        scene.row()["ended_at"].is_string().then_some(())
    });
    assert!(!scene.firing.wait().unwrap().success());
}

/// A drained host takes nothing new; one that is gone can be forgotten; a role fires where its labels are.
#[test]
fn hosts_are_drained_forgotten_and_asked_for_by_their_labels() {
    let database = TestDatabase::new();
    let here = host(&database, "here", "0 0 1 1 *", false);
    let there = host(&database, "there", "0 0 1 1 *", false);
    here.issue("butler", "Work", "To do.");
    share(&here, &there);
    let path = there.home().join("carson.toml");
    let settings = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        settings.replacen("[fleet]", "[fleet]\nlabels = [\"gpu\"]", 1),
    )
    .unwrap();
    let path = here.home().join("roles/butler/role.toml");
    let role = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("hosts = [\"gpu\"]\n{role}")).unwrap();

    // Nobody who lives has the label.
    let why = here.carson(&["why", "butler"]);
    assert!(
        why.stdout
            .contains("no host that lives is called or labelled gpu"),
        "{why:#?}"
    );
    assert_eq!(here.fire("butler").code, Some(16));
    let daemon = Daemon::start(&there, &[]);
    daemon.says("daemon started");
    let why = here.carson(&["why", "butler"]);
    assert!(why.stdout.contains("host-unfit"), "{why:#?}");
    assert!(!why.stdout.contains("no host that lives"), "{why:#?}");

    let hosts = here.ok(&["hosts", "--json"]);
    let row = &hosts[0];
    assert_eq!(
        (&row["name"], &row["life"], &row["labels"]),
        (&"there".into(), &"runs".into(), &"gpu".into())
    );
    let stays = here.carson(&["hosts", "remove", "there"]);
    assert!(stays.stderr.contains("there lives"), "{stays:#?}");
    assert_eq!(
        here.ok(&["hosts", "drain", "there", "--json"])["drained"],
        true
    );
    daemon.says("this host is drained");
    let refused = there.fire("butler");
    assert_eq!(refused.code, Some(16), "{refused:#?}");
    assert!(refused.stdout.contains("drained"), "{refused:#?}");
    assert_eq!(
        there.ok(&["hosts", "resume", "there", "--json"])["changed"],
        true
    );
    assert_eq!(there.fire("butler").code, Some(0));

    assert_eq!(
        here.ok(&["hosts", "drain", "there", "--json"])["changed"],
        true
    );
    // It would come back by itself, drained no more.
    let stays = here.carson(&["hosts", "remove", "there"]);
    assert!(stays.stderr.contains("there lives"), "{stays:#?}");
    daemon.killed();
    let removed = until("its lease to lapse", || {
        let removed = here.carson(&["hosts", "remove", "there", "--json"]);
        (removed.code == Some(0)).then(|| removed.json())
    });
    assert_eq!(removed["host"], "there");
    assert_eq!(here.ok(&["hosts", "--json"]), serde_json::json!([]));
}
