//! One firing, from claim to teardown.
//!
//! # Theory of operation
//!
//! A firing is a process of its own. The daemon (or `carson fire`) claims a row and re-executes
//! the binary as `carson firing run ID`; that process loads the settings afresh, walks the stages
//! of DESIGN §5 in order, and exits with the code of its outcome. Nothing is handed over but the
//! id: everything else is read again from the row, the forge and git.
//!
//! [`firing::run`] reads as that list of stages. Each stage takes what the stage before it
//! returned, so the order cannot be written wrong, and answers with the next value or with a
//! [`Halt`](carson_core::settle::Halt), the only early exit. Whatever happened, the firing then
//! goes through [`conclude`]: settle → salvage → report → teardown.
//!
//! Concluding is idempotent, step by step, because it is also how a *dead* firing ends.
//! [`recover`] finds rows whose process is gone, ends what is left of their process tree, and
//! concludes them from the row and from git: with the outcome that was already settled, else as
//! `CRASHED`. The order of effects makes that safe: claim before work, push before row, row
//! before delete. [`prune`] does the same for directories that no row knows, and [`claims`] for
//! claims that the forge still shows.
//!
//! Reading order: [`household`], [`firing`], the files of `stages/` in the order of a firing,
//! [`conclude`], [`recover`], [`prune`], [`claims`].
//! [`session`] is the only place that runs an agent CLI, [`chat`] the only one that files posts.

pub mod bench;
mod calendar;
mod chat;
pub mod checks;
pub mod claim;
pub mod claims;
pub mod conclude;
mod confine;
pub mod dry_run;
pub mod egress;
pub mod environment;
mod failover;
pub mod firing;
mod ground;
mod hook_events;
pub mod household;
mod limit;
mod messages;
mod money;
mod programs;
mod prompt;
pub mod prune;
mod pruned;
mod quote;
pub mod reach;
pub mod recover;
mod retry;
pub mod room;
mod rooms;
mod saved;
mod search;
pub mod secrets;
mod session;
mod sign_in;
mod stages;
pub mod strays;
mod stuck;
mod usage;

/// The questions about what sessions wrote that the `carson` executable answers.
#[must_use]
pub fn questions() -> Vec<carson_proc::inspector::Kind> {
    use carson_proc::inspector::Kind;
    let own = [
        Kind::of::<search::Search>(),
        Kind::of::<hook_events::Events>(),
    ];
    carson_git::questions().into_iter().chain(own).collect()
}

pub use claim::{ClaimError, Claimed};
pub use firing::{Ended, FiringError};
pub use household::Household;
