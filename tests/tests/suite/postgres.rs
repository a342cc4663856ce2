//! Carson on PostgreSQL: one host, several processes, several hosts.

use std::path::PathBuf;
use std::process::{Child, Stdio};

use carson_store::{Filter, Store};
use carson_tests::fleet::{Ran, TestFleet};
use carson_tests::postgres::TestDatabase;
use carson_tests::until;
use serde_json::Value;

/// Who ask together.
const PROCESSES: usize = 8;

/// Changes the settings; what is replaced must be there.
fn change(fleet: &TestFleet, old: &str, new: &str) {
    let path = fleet.home().join("carson.toml");
    let settings = std::fs::read_to_string(&path).unwrap();
    assert!(settings.contains(old), "{settings}");
    std::fs::write(path, settings.replacen(old, new, 1)).unwrap();
}

/// Where the session of [`fleet`] waits.
pub(crate) fn barrier(fleet: &TestFleet) -> PathBuf {
    fleet.shared().join("barrier")
}

/// A fleet on this database whose role `butler` does its work, past its barrier if it `waits`.
fn fleet(database: Option<&TestDatabase>, waits: bool) -> TestFleet {
    fleet_at(database.map(TestDatabase::url), waits)
}

/// The same by the address of the database.
pub(crate) fn fleet_at(url: Option<String>, waits: bool) -> TestFleet {
    let fleet = TestFleet::new();
    let barrier = if waits {
        format!("{{ barrier = {:?} }},", barrier(&fleet))
    } else {
        String::new()
    };
    fleet.script(&format!(
        r#"
        [[when]]
        stage = "plan"
        do = [{{ say = "[OK] planned" }}]
        [[when]]
        stage = "execute"
        do = [
            {{ edit = {{ path = "done.txt", content = "done\n" }} }},
            {{ commit = "Do it" }},
            {barrier}
            {{ say = "[OK] done" }},
        ]
        [[when]]
        do = [{{ say = "[APPROVE]" }}]
        "#
    ));
    fleet.role("butler", "play", "");
    if let Some(url) = url {
        let section = format!("[database]\nurl = {url:?}\n\n[repos.");
        change(&fleet, "[repos.", &section);
    }
    fleet
}

pub(crate) fn start(fleet: &TestFleet, args: &[&str]) -> Child {
    let mut command = fleet.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn rows(fleet: &TestFleet) -> Vec<Value> {
    let rows = fleet.ok(&["firings", "--json"]);
    rows.as_array().unwrap().clone()
}

#[test]
fn a_firing_leaves_the_same_rows_there() {
    let database = TestDatabase::new();
    let fleet = fleet(Some(&database), false);
    let issue = fleet.issue("butler", "Fix the Ärger", "Please.");
    let fired = fleet.fire("butler");
    assert_eq!(fired.code, Some(0), "{fired:#?}");

    let rows = rows(&fleet);
    assert_eq!(rows.len(), 1);
    let row = fleet.firing(rows[0]["id"].as_str().unwrap());
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert_eq!(row["title"], "Fix the Ärger");
    assert_eq!(
        (row["role"].as_str(), row["host"].as_str()),
        (Some("butler"), Some("here"))
    );
    assert!(
        row["pr_url"].is_string() && row["ended_at"].is_string(),
        "{row:#}"
    );
    let stages = row["stages"].as_array().unwrap();
    assert!(stages.len() >= 10, "{stages:#?}");
    assert!(
        stages.iter().all(|stage| stage["ended_at"].is_string()),
        "{stages:#?}"
    );
    assert_eq!(fleet.labels(issue), ["carson:pr-open"]);
    // An operator's stops are rows there too.
    let paused = fleet.carson(&["pause", "--role", "butler", "--reason", "a holiday"]);
    assert_eq!(paused.code, Some(0), "{paused:#?}");
    assert_eq!(fleet.fire("butler").code, Some(16));
    assert!(
        fleet
            .carson(&["why", "butler"])
            .stdout
            .contains("a holiday")
    );
    let status = fleet.ok(&["status", "--json"]);
    assert_eq!(status["pauses"][0]["scope"], "role butler", "{status:#}");
    let state = std::fs::read_dir(fleet.home().join("state")).unwrap();
    let files: Vec<_> = state.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !files
            .iter()
            .any(|name| name.to_string_lossy().ends_with(".db")),
        "{files:?}"
    );
}

/// Processes that open a new database together, then ask for the same role and the same work.
fn race(fleet: &TestFleet) {
    let opened: Vec<Child> = (0..PROCESSES)
        .map(|_| start(fleet, &["status", "--json"]))
        .collect();
    for child in opened {
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    }
    fleet.issue("butler", "Work", "To do.");
    let mut asking: Vec<Child> = (0..PROCESSES)
        .map(|_| start(fleet, &["fire", "butler", "--json"]))
        .collect();
    // The winner waits at its barrier until all the others were sent away.
    let mut refused = 0;
    until("all but one to be refused", || {
        asking.retain_mut(|child| match child.try_wait().unwrap() {
            Some(status) => {
                assert_eq!(status.code(), Some(16));
                refused += 1;
                false
            }
            None => true,
        });
        (refused == PROCESSES - 1).then_some(())
    });
    std::fs::write(barrier(fleet).with_extension("go"), "").unwrap();
    let winner = Ran::from(asking.remove(0).wait_with_output().unwrap());
    assert_eq!(winner.code, Some(0), "{winner:#?}");
    assert_eq!(
        rows(fleet)
            .iter()
            .filter(|row| !row["work"].is_null())
            .count(),
        1
    );
    assert_eq!(fleet.pulls().len(), 1);
}

#[test]
fn of_many_processes_one_fires_on_postgres() {
    let database = TestDatabase::new();
    race(&fleet(Some(&database), true));
}

#[test]
fn of_many_processes_one_fires_on_sqlite() {
    race(&fleet(None, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hosts_share_one_fleet() {
    let database = TestDatabase::new();
    let here = fleet(Some(&database), true);
    let barrier = barrier(&here);
    let there = fleet(Some(&database), false);
    // Both call themselves the same, as machines do that were cloned.
    // One fleet has one forge and one remote, wherever it runs.
    let remote = |fleet: &TestFleet| format!("url = {:?}\nbase", fleet.remote());
    change(&there, &remote(&there), &remote(&here));
    for _ in 0..2 {
        here.issue("butler", "Work", "To do.");
    }
    std::os::unix::fs::symlink(here.home().join("forge"), there.home().join("forge")).unwrap();
    let mut running = start(&here, &["fire", "butler", "--json"]);
    until("the firing to reach its barrier", || {
        assert!(running.try_wait().unwrap().is_none(), "it ended");
        barrier.with_extension("reached").exists().then_some(())
    });

    let refused = there.fire("butler");
    assert_eq!(
        refused.code,
        Some(16),
        "one at a time, on one box or many: {refused:#?}"
    );
    let seen = rows(&there);
    assert_eq!(
        (seen[0]["host"].as_str(), seen[0]["ended_at"].is_null()),
        (Some("here"), true)
    );
    // Housekeeping there leaves alone what runs here: its processes are not there to be seen.
    let pruned = there.carson(&["prune"]);
    assert_eq!(pruned.code, Some(0), "{pruned:#?}");
    assert!(rows(&there)[0]["ended_at"].is_null());

    std::fs::write(barrier.with_extension("go"), "").unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(0));
    let fired = there.fire("butler");
    assert_eq!(fired.code, Some(0), "{fired:#?}");
    let store = Store::open(&database.url()).await.unwrap();
    let all = Filter {
        role: None,
        since: None,
        skipped: false,
        outcome: None,
        limit: 10,
    };
    let firings = store.firings(&all).await.unwrap();
    let hosts: Vec<&str> = firings.iter().map(|row| row.host.as_str()).collect();
    assert_eq!(hosts[1], "here");
    let (name, end) = hosts[0].rsplit_once('-').unwrap();
    assert_eq!((name, end.len()), ("here", 8), "{hosts:?}");
}

/// Roles that want the same issue, each fired by a process of its own, on three hosts.
const RACERS: usize = 16;

#[test]
fn of_sixteen_roles_on_three_hosts_one_gets_the_issue_and_no_other_asks_a_model() {
    let database = TestDatabase::new();
    let hosts: Vec<TestFleet> = (0..3).map(|_| fleet(Some(&database), false)).collect();
    let first = &hosts[0];
    for other in &hosts[1..] {
        let remote = |fleet: &TestFleet| format!("url = {:?}\nbase", fleet.remote());
        change(other, &remote(other), &remote(first));
        std::os::unix::fs::symlink(first.home().join("forge"), other.home().join("forge")).unwrap();
    }
    for fleet in &hosts {
        for number in 0..RACERS {
            let name = format!("racer-{number}");
            fleet.role(&name, "play", "");
            let path = fleet.home().join(format!("roles/{name}/role.toml"));
            let text = std::fs::read_to_string(&path).unwrap();
            let own = format!("for:{name}");
            assert!(text.contains(&own), "{text}");
            std::fs::write(&path, text.replace(&own, "for:all")).unwrap();
        }
    }
    let issue = first.issue("all", "Work", "To do.");
    let racing: Vec<Child> = (0..RACERS)
        .map(|number| {
            start(
                &hosts[number % 3],
                &["fire", &format!("racer-{number}"), "--json"],
            )
        })
        .collect();
    let ended: Vec<Ran> = racing
        .into_iter()
        .map(|child| Ran::from(child.wait_with_output().unwrap()))
        .collect();
    let outcome = |ran: &Ran| ran.json()["outcome"].as_str().unwrap().to_owned();
    let won = ended.iter().filter(|ran| outcome(ran) == "OK").count();
    assert_eq!(won, 1, "{ended:#?}");
    let others = ended.iter().filter(|ran| outcome(ran) != "OK");
    for ran in others {
        assert_eq!(outcome(ran), "SILENT", "{ran:#?}");
        let row = first.firing(ran.json()["id"].as_str().unwrap());
        assert_eq!(row["sessions"], 0, "{row:#}");
    }
    assert_eq!(first.pulls().len(), 1);
    assert_eq!(first.labels(issue), ["carson:pr-open"]);
}
