//! A PostgreSQL that is killed, that fails over, and whose disk is full, while a session works and a daemon runs.
//!
//! Each has a server of its own; what must hold is the same as of one that is only [away](crate::postgres_away).

use std::cell::RefCell;

use carson_tests::server::TestServer;
use carson_tests::wire::Wire;

use crate::postgres_away::nothing_is_lost_or_doubled;

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
