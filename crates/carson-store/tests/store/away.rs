//! A PostgreSQL that is away for a while, over a wire that can be cut.

use std::time::{Duration, Instant};

use carson_core::work::WorkKey;
use carson_core::{AccountName, FiringId};
use carson_store::{Daemon, Epoch, Opening, Store};
use sqlx::postgres::PgConnection;
use sqlx::{Connection, query, query_scalar};

use crate::fixture::{at, claimed};
use crate::postgres::TestDatabase;
use crate::wire::Wire;

const PATIENCE: Duration = Duration::from_secs(60);
const COUNTED: i64 = 400;
/// So many has a store at most.
const CONNECTIONS: usize = 4;

async fn failures(database: &TestDatabase) -> i64 {
    let mut rows = PgConnection::connect(&database.url()).await.unwrap();
    let failures = query_scalar("SELECT failures FROM outage");
    failures.fetch_one(&mut rows).await.unwrap()
}

async fn note(store: &Store, nth: i64) {
    let account: AccountName = "main".parse().unwrap();
    let noted = store.note_unreached(&account, FiringId::new(), "away", at(nth));
    noted.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_counted_is_counted_once_whatever_becomes_of_the_server() {
    let database = TestDatabase::new();
    let wire = Wire::to(&database.url());
    let store = Store::open(&wire.url()).await.unwrap().patient(PATIENCE);
    let counting = tokio::spawn(async move {
        for nth in 0..COUNTED {
            note(&store, nth).await;
        }
    });
    let mut faults = 0;
    let some = |milliseconds| tokio::time::sleep(Duration::from_millis(milliseconds));
    while !counting.is_finished() {
        match faults % 3 {
            0 => {
                wire.silent();
                some(150).await;
                wire.up();
            }
            1 => {
                wire.cut();
                some(80).await;
                wire.up();
            }
            _ => {
                let mut rows = PgConnection::connect(&database.url()).await.unwrap();
                let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                              WHERE datname = current_database() AND pid <> pg_backend_pid()";
                query(others).execute(&mut rows).await.unwrap();
            }
        }
        faults += 1;
        some(70).await;
    }
    counting.await.unwrap();
    assert!(faults > 6, "only {faults} faults");
    assert_eq!(failures(&database).await, COUNTED, "after {faults} faults");
}

/// What makes each commit take longer than an answer is waited for.
const SLOW_COMMITS: [&str; 2] = [
    "CREATE FUNCTION slow() RETURNS trigger AS $$ BEGIN PERFORM pg_sleep(8); RETURN NULL; END $$ LANGUAGE plpgsql",
    "CREATE CONSTRAINT TRIGGER slow AFTER INSERT OR UPDATE ON outage DEFERRABLE INITIALLY DEFERRED \
     FOR EACH ROW EXECUTE FUNCTION slow()",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_commit_that_nobody_waited_for_is_not_made_again() {
    let database = TestDatabase::new();
    let store = Store::open(&database.url()).await.unwrap();
    let mut rows = PgConnection::connect(&database.url()).await.unwrap();
    for statement in SLOW_COMMITS {
        query(statement).execute(&mut rows).await.unwrap();
    }
    // A quarter of it is shorter than the commit.
    let store = store.patient(Duration::from_secs(24));
    let began = Instant::now();
    note(&store, 1).await;
    assert!(
        began.elapsed() > Duration::from_secs(7),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(failures(&database).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_that_died_without_a_word_are_found_out_in_seconds() {
    let database = TestDatabase::new();
    let wire = Wire::to(&database.url());
    let store = Store::open(&wire.url()).await.unwrap().patient(PATIENCE);
    for nth in 0..3 {
        note(&store, nth).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        wire.forget();
        let began = Instant::now();
        note(&store, nth).await;
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{:?}",
            began.elapsed()
        );
    }
    assert_eq!(failures(&database).await, 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_has_no_patience_is_told_that_the_server_is_away() {
    let database = TestDatabase::new();
    let wire = Wire::to(&database.url());
    let store = Store::open(&wire.url()).await.unwrap();
    wire.cut();
    let began = Instant::now();
    store.pauses().await.unwrap_err();
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
    wire.up();
    // Others that were used just now and died with the first are each found out by who is given it.
    let mut told = 0;
    while store.pauses().await.is_err() {
        told += 1;
        assert!(told < CONNECTIONS, "told {told} times");
    }

    // A connection that was used just now is not asked whether it lives.
    wire.silent();
    let began = Instant::now();
    store.pauses().await.unwrap_err();
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
    wire.up();
    assert!(store.pauses().await.unwrap().is_empty());
}

/// What a daemon or a firing asks about leases: it fires nothing, or is taken for dead, while it waits for an answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_question_about_a_lease_waits_for_a_connection_that_died_without_a_word() {
    let database = TestDatabase::new();
    let wire = Wire::to(&database.url());
    let store = Store::open(&wire.url()).await.unwrap();
    let (here, there) = ("here".parse().unwrap(), "there".parse().unwrap());
    let id = claimed(&store, "one", 0).await;
    let row = store.firing(id).await.unwrap().unwrap();
    let daemon = Daemon {
        pid: 1,
        pid_start: 1,
        version: "0",
        labels: &[],
    };
    let widget = "widget".parse().unwrap();
    let asked = async |which| match which {
        0 => store.take_lease(&here, &daemon, at(0)).await.map(drop),
        1 => store.take_over(&row, &there).await.map(drop),
        2 => {
            let owing = store.take_over_owing(&there, &[&widget]).await;
            owing.map(drop)
        }
        _ => store.as_firing(id, Epoch::FIRST).keep_lease().await,
    };
    // Each has a connection then that was used so lately that it is not asked whether it lives.
    let all = async || tokio::join!(asked(0), asked(1), asked(2), asked(3));
    let well = all().await;
    assert!(well.0.and(well.1).and(well.2).and(well.3).is_ok());
    wire.silent();
    let silent = tokio::time::timeout(Duration::from_secs(35), all()).await;
    let (first, second, third, fourth) = silent.unwrap();
    for answer in [first, second, third, fourth] {
        answer.unwrap_err();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_is_away_when_it_is_opened_is_waited_for() {
    let database = TestDatabase::new();
    let wire = Wire::to(&database.url());
    wire.cut();
    let url = wire.url();
    let opening = tokio::spawn(async move {
        let opening = Opening {
            away: PATIENCE,
            ..Opening::default()
        };
        Store::open_as(&url, opening).await
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!opening.is_finished());
    wire.up();
    let store = opening.await.unwrap().unwrap();
    assert!(store.pauses().await.unwrap().is_empty());
}

/// What a caller expects to be refused ends its transaction, and is no error for the patient either.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_refused_is_refused_for_the_patient_too() {
    let database = TestDatabase::new();
    let store = Store::open(&database.url())
        .await
        .unwrap()
        .patient(PATIENCE);
    let (one, other) = (
        claimed(&store, "one", 0).await,
        claimed(&store, "other", 0).await,
    );
    let widget = "widget".parse().unwrap();
    let mut taken = Vec::new();
    for id in [one, other] {
        let own = store.as_firing(id, Epoch::FIRST);
        taken.push(
            own.take_work(&widget, WorkKey::Issue(1), "t")
                .await
                .unwrap(),
        );
    }
    assert_eq!(taken, [true, false]);
}
