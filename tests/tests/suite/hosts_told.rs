//! What people are told of several hosts: what runs where, whose clock is wrong, that the database takes no row or is
//! another one, and what can only be said on another host.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use carson_core::Clock;
use carson_tests::fleet::{Ran, TestFleet};
use carson_tests::postgres::TestDatabase;
use carson_tests::wire::Wire;
use carson_tests::{SetClock, until};
use chrono::TimeDelta;
use nix::sys::signal::Signal;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::daemon::Daemon;
use crate::hosts::{Scene, host, host_at, share};
use crate::postgres::start;

/// A cadence by which nothing comes due in a test.
const NEVER: &str = "0 0 1 1 *";

/// Does something to a database behind everybody's back.
#[expect(
    clippy::disallowed_methods,
    reason = "names of roles and databases cannot be bound as values"
)]
fn change(url: &str, statement: String) {
    let change = async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let statement = AssertSqlSafe(statement);
        sqlx::raw_sql(statement)
            .execute(&mut connection)
            .await
            .unwrap();
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(change);
}

/// The name of the database at an address.
fn name_in(url: &str) -> &str {
    let (_, path) = url.split_once("://").unwrap();
    let (_, name) = path.split_once('/').unwrap();
    name.split('?').next().unwrap()
}

fn told(fleet: &TestFleet, args: &[&str]) -> String {
    let ran = fleet.carson(args);
    format!("{}{}", ran.stdout, ran.stderr)
}

#[test]
fn hosts_say_what_runs_where_and_until_when_a_lease_stands() {
    let scene = Scene::new();
    let there = Daemon::start(&scene.there, &[]);
    there.says("daemon started");
    let short = &scene.id[scene.id.len() - 8..];
    let hosts = scene.there.ok(&["hosts", "--json"]);
    let (here, other) = (&hosts[0], &hosts[1]);
    assert_eq!(
        (&here["name"], &here["here"]),
        (&"here".into(), &false.into())
    );
    assert_eq!(
        (&other["name"], &other["here"]),
        (&"there".into(), &true.into())
    );
    assert_eq!(here["running"][0]["firing"], scene.id.as_str());
    assert_eq!(here["running"][0]["role"], "butler");
    assert!(
        here["lease_until"].is_string() && here["holds"] == true,
        "{here:#}"
    );
    let listed = told(&scene.there, &["hosts"]);
    assert!(listed.contains(&format!("butler {short}")), "{listed}");
    assert!(
        listed.contains("there (this host)") && listed.contains("s more"),
        "{listed}"
    );
    let status = told(&scene.there, &["status"]);
    assert!(
        status.contains(&format!("running {short} butler on here")),
        "{status}"
    );

    // Of an ended firing of another host there is nothing to discard here.
    scene.signal_host(Signal::SIGKILL);
    until("the firing to be taken over", || {
        scene.there.firing(&scene.id)["ended_at"]
            .is_string()
            .then_some(())
    });
    let listed = told(&scene.there, &["hosts"]);
    assert!(
        listed.contains("fenced") && listed.contains("ended "),
        "{listed}"
    );
    let discarded = scene.there.carson(&["prune", "--discard", &scene.id]);
    assert_eq!(discarded.code, Some(1), "{discarded:#?}");
    assert!(
        discarded.stderr.contains("it would be on here"),
        "{discarded:#?}"
    );
    let gone = scene.here.carson(&["prune", "--discard", &scene.id]);
    assert_eq!(gone.code, Some(0), "{gone:#?}");
    let again = scene.here.carson(&["prune", "--discard", &scene.id]);
    assert_eq!(again.code, Some(1), "{again:#?}");
}

#[test]
fn a_clock_that_is_apart_is_told_here_and_by_the_other_hosts() {
    let database = TestDatabase::new();
    let (here, there) = (
        host(&database, "here", NEVER, false),
        host(&database, "there", NEVER, false),
    );
    here.issue("butler", "Work", "To do.");
    share(&here, &there);
    let (there, mut clock) = SetClock::of(there);
    clock.set_ahead(TimeDelta::seconds(20));
    let daemon = Daemon::start(&there, &[]);
    daemon.says("daemon started");
    assert!(!told(&there, &["status"]).contains("CLOCK"));
    clock.set_ahead(TimeDelta::hours(2));
    daemon.says("this machine's clock is not the database's");
    let status = told(&there, &["status"]);
    assert!(
        status.contains("CLOCK: the clock of this machine is 7"),
        "{status}"
    );
    assert!(
        status.contains("s ahead of the database's: nothing fires here"),
        "{status}"
    );
    let why = told(&there, &["why", "butler"]);
    assert!(why.contains("clock: the clock of this machine is"), "{why}");
    assert!(why.contains("timedatectl set-ntp true"), "{why}");
    let fired = there.carson(&["fire", "butler"]);
    assert_eq!(fired.code, Some(16), "{fired:#?}");
    let said = format!("{}{}", fired.stdout, fired.stderr);
    assert!(said.contains("the clock of this machine is"), "{said}");
    let status = told(&here, &["status"]);
    assert!(status.contains("CLOCK: the clock of there is"), "{status}");
    let hosts = told(&here, &["hosts"]);
    assert!(hosts.contains("its clock is 7"), "{hosts}");
    assert_eq!(here.ok(&["hosts", "--json"])[0]["apart"], true);
    assert!(!told(&here, &["why", "butler"]).contains("clock:"));
}

#[test]
fn a_database_that_takes_no_row_is_told() {
    let database = TestDatabase::new();
    let here = host(&database, "here", NEVER, false);
    assert!(!told(&here, &["status"]).contains("READ-ONLY"));
    let url = database.url();
    let name = name_in(&url);
    change(
        &url,
        format!("ALTER DATABASE {name} SET default_transaction_read_only = on"),
    );
    let status = here.carson(&["status"]);
    assert_eq!(status.code, Some(0), "{status:#?}");
    assert!(
        status
            .stdout
            .contains("READ-ONLY: the database takes no row"),
        "{status:#?}"
    );
    let why = told(&here, &["why", "butler"]);
    assert!(
        why.contains("read-only: the database takes no row"),
        "{why}"
    );
    assert!(why.contains("name the primary"), "{why}");
}

#[test]
fn a_database_that_was_made_anew_is_not_begun_with() {
    let database = TestDatabase::new();
    let here = host(&database, "here", "* * * * * *", false);
    here.issue("butler", "Work", "To do.");
    let daemon = Daemon::start(&here, &[]);
    until("something to be fired", || {
        let rows = here.ok(&["firings", "--all", "--json"]);
        (!rows.as_array().unwrap().is_empty()).then_some(())
    });
    let (url, server) = (
        database.url(),
        std::env::var("CARSON_TEST_POSTGRES").unwrap(),
    );
    let name = name_in(&url);
    change(&server, format!("DROP DATABASE {name} WITH (FORCE)"));
    change(&server, format!("CREATE DATABASE {name}"));
    daemon.says("nothing fires");
    // Nor does another daemon begin there: it is as empty afterwards.
    let second = here.carson(&["daemon"]);
    assert_eq!(second.code, Some(1), "{second:#?}");
    assert!(second.stderr.contains("it is empty"), "{second:#?}");
    let status = here.carson(&["status"]);
    assert_eq!(status.code, Some(1), "{status:#?}");
    assert!(
        status
            .stderr
            .contains("is not the one that this home worked with: it is empty")
            && status.stderr.contains("state/database"),
        "{status:#?}"
    );
    let doctor = told(&here, &["doctor"]);
    assert!(
        doctor.contains("is not the one that this home worked with"),
        "{doctor}"
    );
    // Whoever wants to begin anew says so.
    fs::remove_file(here.home().join("state/database")).unwrap();
    assert_eq!(
        here.ok(&["firings", "--all", "--json"]),
        serde_json::json!([])
    );
    daemon.says("another fleet's, or one that was made anew");
}

/// A host whose lease still stands.
fn whose_daemon_died(database: &TestDatabase) -> TestFleet {
    let here = host(database, "here", NEVER, false);
    let daemon = Daemon::start(&here, &[]);
    daemon.says("daemon started");
    daemon.killed();
    here
}

/// A lease that stands after its daemon died is looked at for four seconds, and once.
#[test]
fn who_fires_after_a_daemon_has_died_waits_once() {
    let database = TestDatabase::new();
    let here = whose_daemon_died(&database);
    let began = Instant::now();
    // Nothing is to be done.
    let fired = here.fire("butler");
    let took = began.elapsed();
    assert_eq!(fired.code, Some(0), "{fired:#?}");
    assert!(
        took > Duration::from_secs(4),
        "its lease had lapsed: {took:?}"
    );
    assert!(took < Duration::from_millis(7_900), "{took:?}");
}

/// The lease lapses while somebody who fires looks at it, and the home's own daemon takes it anew: that is no other's.
#[test]
fn who_fires_while_the_daemon_starts_again_has_no_copy() {
    let database = TestDatabase::new();
    let here = whose_daemon_died(&database);
    let soon = "UPDATE host SET lease_until = now() + interval '2 seconds'";
    change(&database.url(), soon.to_owned());
    let firing = start(&here, &["fire", "butler"]);
    sleep(Duration::from_millis(2_100));
    let _daemon = Daemon::start(&here, &[]);
    let fired = Ran::from(firing.wait_with_output().unwrap());
    assert_eq!(fired.code, Some(0), "{fired:#?}");
}

/// The guide for the second host: what it has people type makes a database that a role without any other right works with.
#[test]
fn the_database_of_the_guide_is_one_that_carson_works_with() {
    let server = std::env::var("CARSON_TEST_POSTGRES").unwrap();
    let name = format!("guide_{}", uuid::Uuid::now_v7().simple());
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/HOSTS.md");
    let guide = fs::read_to_string(guide).unwrap();
    let (_, block) = guide.split_once("```sql\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let lines: Vec<&str> = block.lines().collect();
    assert!(lines.len() >= 3, "{block}");
    for line in &lines {
        // On the server of the tests each role and database has a name of its own.
        change(&server, line.replace("carson", &name));
    }
    let wire = Wire::to(&server);
    let at = wire.url();
    let (_, place) = at.split_once('@').unwrap();
    let (place, _) = place.split_once('/').unwrap();
    let url = format!("postgres://{name}@{place}/{name}");
    let here = host_at(&url, "here", NEVER, false);
    here.issue("butler", "Work", "To do.");
    let fired = here.fire("butler");
    assert_eq!(fired.code, Some(0), "{fired:#?}");
    let checked = here.carson(&["doctor"]);
    assert!(
        checked
            .stdout
            .contains("postgres takes a row, and gives it back"),
        "{checked:#?}"
    );
    change(&server, format!("DROP DATABASE {name} WITH (FORCE)"));
    change(&server, format!("DROP ROLE {name}"));
}

/// Roles that are due in one second, with a place for each.
fn herd(fleet: &TestFleet, size: usize) {
    let path = fleet.home().join("carson.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let roomy = settings.replacen("max_firings = 8", &format!("max_firings = {size}"), 1);
    assert_ne!(roomy, settings);
    fs::write(&path, roomy).unwrap();
    let due = Clock::system().now() + TimeDelta::seconds(15);
    let cadence = due.format("%S %M %H * * *").to_string();
    for nth in 0..size {
        fleet.role_at(&format!("herd-{nth}"), "play", &cadence, "");
    }
}

/// Waits until so many different roles have fired once each, with nothing to do; as the database has it.
fn all_ended(url: &str, size: usize) {
    let began = Instant::now();
    let size = i64::try_from(size).unwrap();
    loop {
        let (rows, roles, silent) = ask(url);
        if silent == size {
            assert_eq!((rows, roles), (size, size));
            return;
        }
        let took = began.elapsed();
        assert!(
            took < Duration::from_secs(300),
            "{rows} rows, {silent} ended well"
        );
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn ask(url: &str) -> (i64, i64, i64) {
    let ask = async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let counted = sqlx::query_as(
            "SELECT count(*), count(DISTINCT role), count(*) FILTER (WHERE outcome = 'SILENT') FROM firing",
        );
        counted.fetch_one(&mut connection).await.unwrap()
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(ask)
}

/// Nobody is lost, and nobody fires twice.
#[test]
fn two_hundred_firings_that_are_due_together_all_end_on_postgres() {
    let database = TestDatabase::new();
    let here = host(&database, "here", NEVER, false);
    herd(&here, 200);
    let daemon = Daemon::start(&here, &[]);
    daemon.says("daemon started");
    all_ended(&database.url(), 200);
}
