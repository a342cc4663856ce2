//! The store as its callers see it: every story is told on SQLite and on PostgreSQL.

#![cfg(test)]

mod approvals;
mod away;
mod backups;
mod checks;
mod claims;
mod counts;
mod damage;
mod effects;
mod egress;
mod fence;
mod fixture;
mod inbox;
mod jobs;
mod kinds;
mod leases;
mod lessons;
mod openings;
mod outages;
mod outbox;
mod plans;
#[path = "../../../../tests/src/postgres.rs"]
#[expect(
    unreachable_pub,
    reason = "it is public in the crate that it belongs to"
)]
mod postgres;
mod pull_ends;
mod reads;
mod schema;
mod stops;
mod story;
mod undo;
mod usage;
#[path = "../../../../tests/src/wire.rs"]
#[expect(
    unreachable_pub,
    reason = "it is public in the crate that it belongs to"
)]
mod wire;
