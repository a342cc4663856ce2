//! Every table and every SQL string: SQLite by default, PostgreSQL by `database.url`.
//!
//! # Theory of operation
//!
//! The promises that must survive any crash are constraints, not code: a slot is claimed once
//! (`firing_slot`), a role runs one firing (`firing_live_role`), a piece of work is held by one
//! firing (`firing_live_work`), on one host or many. Everything else follows from claiming by
//! `INSERT … ON CONFLICT DO NOTHING` and looking at whether a row came to be.
//!
//! One code base serves both databases: [`Db`](db::Db) is an enum of two pools and one macro
//! expands each query body once per pool, so the compiler checks it against both. The dialects
//! share their placeholders (`$1`) and their types; the migrations have the same numbers and
//! names, and a test compares the tables they make. There is no `now()` in SQL: the clock is the
//! caller's. Only leases between hosts are judged by the database's own (`leases.rs`).
//!
//! SQLite runs in WAL mode (`journal.rs` says where it does not) with `synchronous=FULL` (NORMAL lost acknowledged
//! rows when the power was cut; notes that nobody is told may be lost so, [`noting`](db::Store::noting)) and writes in `BEGIN IMMEDIATE` transactions, so that a reader never has to become a
//! writer half-way.
//!
//! Calls that change a row answer whether they did: `false` means that the row was not there or had
//! come that far before. None of them fails because it is repeated.
//!
//! Whoever writes as a firing does it behind a fence (`as_firing.rs`): a host that was taken for dead and comes back
//! changes nothing of what another one took over.
//!
//! Reading order: `db.rs`, `firing.rs` (the rows), `claim.rs`, `as_firing.rs`, `leases.rs`, `progress.rs`, `ending.rs`, `effects.rs`, `undo.rs`,
//! `gate.rs`, `stops.rs`, `outages.rs`, `pauses.rs`, `usage.rs`, `used.rs`, `counts.rs`, `spans.rs`, `pull_ends.rs`, `checks.rs`, `outbox.rs`,
//! `approvals.rs`, `chat.rs`, `inbox.rs`, `faces.rs`, `jobs.rs`, `lessons/`; then `server.rs`, `sqlite.rs` and
//! `backup.rs`, `restore.rs`.

mod address;
mod approvals;
mod as_firing;
mod away;
pub mod backup;
mod chat;
mod checks;
mod claim;
mod counts;
mod db;
mod effects;
mod egress;
mod ending;
mod error;
mod events;
mod faces;
mod file;
mod firing;
mod gate;
mod host;
mod inbox;
mod jobs;
mod journal;
mod leases;
mod lessons;
mod migrations;
mod open;
mod outages;
mod outbox;
mod pauses;
mod progress;
mod pull_ends;
mod read;
mod restore;
mod row;
mod server;
mod spans;
mod sqlite;
mod stops;
mod stuck;
mod undo;
mod usage;
mod used;

pub use address::shown_address;
pub use approvals::{ApprovalRow, Decision, NewApproval, PlanAt};
pub use as_firing::{AsFiring, Epoch};
pub use chat::{QuietRow, TrustRow};
pub use checks::PreflightRow;
pub use claim::{Claim, NewFiring, NewSkip};
pub use counts::{BOUNDS, EndedCount, LastedCount};
pub use db::{Opening, Store};
pub use effects::{EffectRow, EffectState, Owed, Planned, Tried};
pub use ending::Ending;
pub use error::{StoreError, Trouble};
pub use events::{EventRow, HostRow};
pub use faces::FaceRow;
pub use firing::{BlockedCall, Firing, StageRow};
pub use gate::GateQuery;
pub use host::{is_apart, off};
pub use inbox::{HeardRow, Kept, NewHeard};
pub use jobs::{JobRow, Stale};
pub use leases::{Daemon, Lease, Renewal, Retaken};
pub use lessons::{
    Change, Covered, Decided, Judgement, JudgementRow, LessonFilter, LessonFound, LessonRow,
    NewLesson, NewVector, Recall, Recalled, Times, ToldFiring, Valid, VectorRow,
};
pub use outages::{Outage, Probe};
pub use outbox::{NewPost, Post, PostKind, Waiting};
pub use pauses::{PauseRow, PauseScope};
pub use progress::{Judged, Progress, Stopped};
pub use pull_ends::PullEndRow;
pub use read::{Filter, Found};
pub use restore::restore;
pub use spans::{Drawn, Quiet};
pub use stops::{BlockRow, BlockSetter, BreakerRow};
pub use stuck::Stuck;
pub use undo::{NewUndo, UndoRow, UndoState};
pub use used::{Used, UsedBy};
