//! One firing, from claim to teardown.
//!
//! # Theory of operation
//!
//! A firing is a process of its own. The daemon (or `carson fire`) claims a row and re-executes
//! the binary as `carson firing run ID`; that process loads the settings afresh, walks the stages
//! of DESIGN §5 in order, and exits with the code of its outcome. Nothing is handed over but the
//! id: everything else is read again from the row, the forge and git.
//!
//! [`run::run`] reads as that list of stages. Each stage takes what the stage before it
//! returned, so the order cannot be written wrong, and answers with the next value or with a
//! [`Halt`](carson_core::settle::Halt), the only early exit. Whatever happened, the firing then
//! goes through [`conclude`]: settle → salvage → report → teardown.
//!
//! Concluding is idempotent, step by step, because it is also how a *dead* firing ends.
//! [`recover`] finds rows whose process is gone, ends what is left of their process tree, and
//! concludes them from the row and from git: with the outcome that was already settled, else as
//! `CRASHED`. The order of effects makes that safe: claim before work, push before row, row
//! before delete. A host that was taken for dead and comes back finds its firings [`fenced`]. [`prune`] does the same for directories that no row knows, and [`stale_claims`] for
//! claims that the forge still shows.
//!
//! Reading order: [`Home`](carson_home::Home), [`ctx`], [`reached`], [`record`], [`run`], the files of
//! `stages/` in the order of a firing, [`conclude`], [`recover`], [`prune`], [`stale_claims`].
//! [`session`] is the only place that runs an agent CLI, [`thread_posts`] the only one that files posts.

mod accounts;
pub mod admit;
mod asked_forge;
mod asked_in_bench;
pub mod back;
mod background;
mod brief;
mod budget;
mod clean_rooms;
pub mod conclude;
mod coverage_report;
mod ctx;
pub mod daemons;
mod described;
pub mod dispatch;
mod drift;
pub mod dry_run;
mod effects;
mod ended;
pub mod ended_pulls;
mod fenced;
mod fenced_quote;
mod forge_text;
mod full_disk;
mod guidance;
mod hook_check;
mod identity_check;
mod labels;
pub mod lessons;
pub mod life;
mod live_log;
mod needs_person;
pub mod night;
mod older_drafts;
pub mod one_forge;
pub mod orphan_processes;
mod placed;
mod plan_at;
mod prompt;
pub mod prune;
mod pruned;
pub mod queue;
mod reached;
mod record;
pub mod recover;
pub mod red_bases;
mod refused_hosts;
pub mod review_queue;
mod roles;
pub mod roll_up;
mod room_command;
mod routing;
pub mod run;
mod said_last;
mod sandboxed_run;
mod saved;
mod search;
mod searched_ahead;
pub mod second_try;
mod session;
mod setup;
mod site;
mod stages;
pub mod stale_claims;
pub mod standing;
mod state_posts;
mod steps;
mod stuck_benches;
mod test_results;
mod thread_posts;
mod toolchains;
mod turn;
mod visible;
mod way_back;

/// The questions about what sessions wrote that the `carson` executable answers.
#[must_use]
pub fn questions() -> Vec<carson_proc::inspector::Kind> {
    use carson_proc::inspector::Kind;
    let own = [
        Kind::of::<search::Search>(),
        Kind::of::<session::Events>(),
        Kind::of::<stages::outbox::ReadOutbox>(),
        Kind::of::<lessons::ReadLessons>(),
        Kind::of::<test_results::Compare>(),
        Kind::of::<coverage_report::ReadCoverage>(),
        Kind::of::<carson_bench::layers::Try>(),
    ];
    carson_git::questions().into_iter().chain(own).collect()
}

pub use roles::candidates::{Candidate, Candidates, HeldCandidate, ShownPull};
pub use roles::look::{candidates, stands};

pub use effects::{
    DEPENDS_ON, IssueIn, PlanThatWaits, TAKEN_BACK, approve, drop_owed, drop_plans, waiting_plan,
    waiting_plans,
};

pub use described::{Written, written};
pub use older_drafts::SUPERSEDED;

pub use brief::{Brief, Sums};

pub use admit::{ClaimError, Claimed};
pub use ended::{Ended, FiringError};
pub use steps::{Step, Steps};
pub use turn::Turn;
