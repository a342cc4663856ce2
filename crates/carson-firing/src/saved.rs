//! What salvage could do with a session's work.

use carson_core::Outcome;
use carson_core::settle::{Goal, Settled};
use carson_git::Oid;

/// What salvage did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saved {
    /// The commit that the remote took as the firing's branch.
    pub pushed: Option<Oid>,
    pub kept_ref: Option<String>,
    /// The work with what was added to it, uncommitted or elsewhere: no check has seen more than its firing's facts say.
    pub work: Option<Oid>,
    /// What went wrong on the way, for the report.
    pub trouble: Vec<String>,
    /// Why a person must look before anything of it leaves.
    pub held: Option<String>,
}

impl Saved {
    /// What was settled, as far as it could be delivered. Work that a person must see first is for a
    /// person, however it ended. Finished work that nobody can see is not done: it goes back to the
    /// queue.
    pub(crate) fn delivered(&self, settled: Settled, goal: Goal) -> Settled {
        if let Some(reason) = &self.held {
            return Settled::new(Outcome::Blocked, reason);
        }
        if settled.outcome != Outcome::Ok || goal != Goal::Commits || self.pushed.is_some() {
            return settled;
        }
        without_a_pull(&settled)
    }
}

/// Finished work for which no pull request could be opened.
pub(crate) fn without_a_pull(settled: &Settled) -> Settled {
    let reason = format!("finished without a pull request: {}", settled.reason);
    Settled::new(Outcome::Partial, reason)
}
