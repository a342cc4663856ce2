//! A PostgreSQL that is killed, that fails over, and whose disk is full, while a session works and a daemon runs.
//!
//! Each has a server of its own; what must hold is the same as of one that is only [away](crate::postgres_away).

use std::cell::RefCell;
use std::time::Duration;

use carson_core::{AccountName, Clock, FiringId};
use carson_store::Store;
use carson_tests::server::TestServer;
use carson_tests::until;
use carson_tests::wire::Wire;

use crate::postgres_away::nothing_is_lost_or_doubled;

/// What is counted takes its time to be written at the end of its transaction, and is in no log by then.
const SLOW: &str = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS \
     $$ BEGIN PERFORM pg_sleep(5); RETURN NULL; END $$; \
     CREATE CONSTRAINT TRIGGER slow AFTER INSERT OR UPDATE ON outage \
     DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()";
const AT_ITS_END: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active'";
/// Transactions of others, which get the numbers of those that the server did not live to write down.
const OTHERS: &str =
    "DO $$ BEGIN FOR n IN 1..50 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$";

#[test]
fn a_server_that_is_killed_and_recovers_while_a_session_ends() {
    let server = RefCell::new(TestServer::new());
    let wire = Wire::to(&server.borrow().url());
    nothing_is_lost_or_doubled(
        &wire,
        || server.borrow_mut().kill(),
        || server.borrow_mut().start(),
    );
    assert!(server.borrow().log().contains("was not properly shut down"));
}

#[test]
fn a_standby_that_takes_over_while_a_session_ends() {
    let primary = RefCell::new(TestServer::new());
    let standby = primary.borrow().standby();
    let wire = Wire::to(&primary.borrow().url());
    nothing_is_lost_or_doubled(
        &wire,
        || primary.borrow_mut().kill(),
        || standby.takes_the_place_of(&primary.borrow()),
    );
}

#[test]
fn a_server_without_room_while_a_session_ends() {
    let server = TestServer::on_a_small_disk();
    let wire = Wire::to(&server.url());
    nothing_is_lost_or_doubled(&wire, || server.fill(), || server.free());
}

/// Whether a transaction whose end was cut off is there cannot be told by its number: what a killed server had not written
/// down, number and all, never was, and the next transaction has that number.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_a_killed_server_forgot_is_written_again() {
    let mut server = TestServer::new();
    let wire = Wire::to(&server.url());
    let store = Store::open(&wire.url()).await.unwrap();
    server
        .ask("ALTER SYSTEM SET wal_writer_delay = '10s'")
        .unwrap();
    server.ask("SELECT pg_reload_conf()").unwrap();
    server.ask(SLOW).unwrap();
    let counting = tokio::spawn(async move {
        let store = store.patient(Duration::from_secs(60));
        let account: AccountName = "main".parse().unwrap();
        let at = Clock::system().now();
        let noted = store.note_unreached(&account, FiringId::new(), "away", at);
        noted.await.unwrap();
    });
    until("the transaction to come to its end", || {
        let at_its_end = server.ask(AT_ITS_END).unwrap();
        (at_its_end == "1").then_some(())
    });

    server.kill();
    wire.cut();
    server.start();
    server.ask(OTHERS).unwrap();
    server.ask("DROP TRIGGER slow ON outage").unwrap();
    wire.up();

    counting.await.unwrap();
    assert_eq!(server.ask("SELECT failures FROM outage").unwrap(), "1");
}
