//! What a stage wants of a session.

use carson_core::Stage;
use carson_engine::Access;

use crate::prompt::Filling;
use carson_bench::bench::Bench;

/// What a stage asks of a session.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub stage: Stage,
    /// Where it works.
    pub bench: &'a Bench,
    pub filling: &'a Filling,
    /// Whether its `[OK]` must have changed the worktree.
    pub must_change: bool,
}

impl Ask<'_> {
    /// Only the execute stage writes.
    pub(super) fn access(&self) -> Access {
        if self.stage == Stage::Execute {
            Access::Write
        } else {
            Access::Read
        }
    }
}
