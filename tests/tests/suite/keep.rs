//! What the daemon stands on fails under it: it refuses, says so once with the way out, and nothing
//! is lost. Its housekeeping is seen by who looks.

use std::fs;
use std::process::Stdio;

use carson_tests::fleet::TestFleet;
use carson_tests::judge::{judge, sound};
use carson_tests::until;
use nix::sys::signal::Signal;
use serde_json::Value;
use sqlx::SqlitePool;

use crate::daemon::Daemon;

/// With a role that is due every second, besides.
fn eager() -> TestFleet {
    let fleet = sound();
    fleet.role_at("eager", "play", "* * * * * *", "max_late = \"1h\"\n");
    fleet
}

fn database(fleet: &TestFleet) -> std::path::PathBuf {
    fleet.home().join("state/carson.db")
}

fn slots(fleet: &TestFleet) -> usize {
    let list = fleet.ok(&[
        "firings", "--role", "eager", "--all", "--limit", "1000", "--json",
    ]);
    list.as_array().unwrap().len()
}

/// Waits until a daemon wrote down that it lives.
fn sign_of_life(fleet: &TestFleet) {
    until("its first sign of life", || {
        let status = fleet.ok(&["status", "--json"]);
        status["hosts"].get(0).map(drop)
    });
}

fn goes_on(fleet: &TestFleet) {
    let before = slots(fleet);
    until("the next slot", || (slots(fleet) > before).then_some(()));
}

#[test]
fn a_database_that_is_deleted_under_the_daemon_is_saved_and_can_be_restored() {
    let fleet = eager();
    let row = fleet.fire("hand").json();
    let mut daemon = Daemon::start(&fleet, &[]);
    daemon.says("firing process started");
    for ending in ["-wal", "-shm", ""] {
        let _ = fs::remove_file(format!("{}{ending}", database(&fleet).display()));
    }
    daemon.says("deleted while it was in use");
    daemon.says("saved as its newest backup");
    assert_eq!(
        daemon.child.try_wait().unwrap(),
        None,
        "the daemon stays up"
    );
    // Nobody begins anew beside it, and everybody says what to type.
    let backup = fleet.ok(&["backup", "list", "--json"]);
    let backup = backup.as_array().unwrap().last().unwrap().as_str().unwrap();
    let name = backup.rsplit('/').next().unwrap().to_owned();
    let command = format!("backup restore {name}`");
    for args in [&["status"][..], &["fire", "hand"], &["prune"]] {
        let says = ["cannot be opened", "the file is gone", "hint: ", &command];
        judge(&fleet.carson(args), 1, &says).unwrap_or_else(|why| panic!("{args:?}: {why}"));
    }
    assert!(!database(&fleet).exists());
    // Not while the daemon has the old one open.
    let restore = ["backup", "restore"];
    judge(
        &fleet.carson(&restore),
        1,
        &["another daemon", "stop the daemon"],
    )
    .unwrap();
    daemon.signal(Signal::SIGTERM);
    daemon.ended();
    let restored = fleet.carson(&restore);
    assert_eq!(restored.code, Some(0), "{restored:#?}");
    assert_eq!(fleet.firing(row["id"].as_str().unwrap())["outcome"], "OK");
    let daemon = Daemon::start(&fleet, &[]);
    daemon.says("daemon started");
    goes_on(&fleet);
}

/// A daemon that was killed leaves a log beside the file: refusing, nobody moves it in there.
#[test]
fn damaged_pages_keep_the_daemon_from_starting() {
    let fleet = sound();
    assert_eq!(fleet.fire("hand").code, Some(0));
    let made = fleet.carson(&["backup", "make"]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    let db = database(&fleet);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let url = format!("sqlite:{}", db.display());
        let pool = SqlitePool::connect(&url).await.unwrap();
        let empty = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)");
        empty.execute(&pool).await.unwrap();
        pool.close().await;
    });
    let daemon = Daemon::start(&fleet, &[]);
    sign_of_life(&fleet);
    daemon.killed();
    let log = db.with_extension("db-wal");
    let logged = fs::read(&log).unwrap();
    assert!(!logged.is_empty());
    let mut bytes = fs::read(&db).unwrap();
    let middle = bytes.len() / 4_096 / 2 * 4_096;
    bytes[middle..].fill(0xa5);
    fs::write(&db, &bytes).unwrap();
    let ran = fleet.carson(&["daemon"]);
    let says = [
        "cannot be opened",
        "damaged",
        "nothing was written",
        "backup restore carson-",
    ];
    judge(&ran, 1, &says).unwrap_or_else(|why| panic!("{why}"));
    assert!(fs::read(&db).unwrap() == bytes);
    assert!(fs::read(&log).unwrap() == logged);
    let restored = fleet.carson(&["backup", "restore"]);
    assert_eq!(restored.code, Some(0), "{restored:#?}");
    let list = fleet.ok(&["firings", "--json"]);
    assert_eq!(list[0]["outcome"], "OK");
}

#[test]
fn a_locked_database_delays_firings_and_loses_none() {
    let fleet = eager();
    let barrier = fleet.shared().join("barrier");
    let script = format!(
        "[[when]]\ndo = [{{ edit = {{ path = \"a.txt\", content = \"a\\n\" }} }}, \
         {{ commit = \"Work\" }}, {{ barrier = {barrier:?} }}, {{ say = \"[OK] done\" }}]\n"
    );
    fs::write(fleet.root().join("play.toml"), script).unwrap();
    let mut fire = fleet.command(&["fire", "hand", "--json"]);
    let fire = fire
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let reached = fleet.shared().join("barrier.reached");
    until("the session", || reached.exists().then_some(()));
    let daemon = Daemon::start(&fleet, &[]);
    daemon.says("firing process started");

    let url = format!("sqlite:{}", database(&fleet).display());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let pool = SqlitePool::connect(&url).await.unwrap();
        let lock = pool.begin_with("BEGIN EXCLUSIVE").await.unwrap();
        // The session ends, and the firing has its outcome to write.
        fs::write(fleet.shared().join("barrier.go"), "").unwrap();
        daemon.says("nothing fires until it does");
        lock.rollback().await.unwrap();
        pool.close().await;
    });

    let done = fire.wait_with_output().unwrap();
    let row: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    daemon.says("it is over; firings go on");
    goes_on(&fleet);
    let log = fs::read_to_string(&daemon.log).unwrap();
    assert_eq!(
        log.matches("nothing fires until it does").count(),
        1,
        "{log}"
    );
}

#[test]
fn of_a_hundred_daemons_that_start_together_one_runs_and_is_named_by_the_others() {
    let fleet = eager();
    let _ = fleet.ok(&["status", "--json"]);
    for _ in 0..5 {
        let start = |_| {
            let mut command = fleet.command(&["daemon"]);
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let mut all: Vec<_> = (0..20).map(start).collect();
        let mut refused = Vec::new();
        until("all but one to be refused", || {
            let mut at = 0;
            while at < all.len() {
                if all[at].try_wait().unwrap().is_some() {
                    refused.push(all.remove(at));
                } else {
                    at += 1;
                }
            }
            (all.len() == 1).then_some(())
        });
        let mut one = all.remove(0);
        let named = format!("pid {}", one.id());
        for other in refused {
            let done = other.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(done.status.code(), Some(1), "{said}");
            assert!(
                said.contains("another daemon") && said.contains(&named),
                "{named}: {said}"
            );
        }
        assert_eq!(one.try_wait().unwrap(), None);
        one.kill().unwrap();
        one.wait().unwrap();
    }
}

#[test]
fn every_job_is_seen_with_its_last_and_next_run() {
    let fleet = eager();
    let daemon = Daemon::start(&fleet, &[]);
    let expected = [
        "recover",
        "strays",
        "benches",
        "claims",
        "merges",
        "transcripts",
        "rows",
        "room",
    ];
    until("the jobs", || {
        let status = fleet.ok(&["status", "--json"]);
        let jobs = status["jobs"].as_array().unwrap().clone();
        let is_seen = |name: &str| jobs.iter().any(|job| job["name"] == name);
        expected.iter().all(|name| is_seen(name)).then_some(())
    });
    let shown = fleet.carson(&["status", "--jobs"]).stdout;
    assert!(
        shown.contains("NEXT IN") && shown.contains("there is room"),
        "{shown}"
    );
    daemon.killed();
    let shown = fleet.carson(&["status"]).stdout;
    assert!(
        shown.contains("jobs: ") && !shown.contains("NEXT IN"),
        "{shown}"
    );
    // It said nothing before it ended: on its own host its process is looked at.
    assert!(shown.contains("; it is not running"), "{shown}");
    let status = fleet.ok(&["status", "--json"]);
    assert_eq!(status["hosts"][0]["life"], "ended", "{status:#}");
}

#[test]
fn a_daemon_that_was_away_for_long_says_so_when_it_is_back() {
    let fleet = eager();
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        path,
        format!("{text}\n[heartbeat]\nalert_after_down = \"1ms\"\n"),
    )
    .unwrap();
    let first = Daemon::start(&fleet, &[]);
    sign_of_life(&fleet);
    first.killed();
    let second = Daemon::start(&fleet, &[]);
    second.says("the daemon was away");
}
