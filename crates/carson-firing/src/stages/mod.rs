//! The stages of a firing, a file each, in the order of DESIGN §5.

use carson_config::Repo;
use carson_core::limits::Limits;
use carson_core::{Stage, Work};

pub(crate) mod diff_review;
pub(crate) mod execute;
pub(crate) mod facts;
pub(crate) mod hook_check;
pub(crate) mod pick;
pub(crate) mod plan;
pub(crate) mod preflight;
pub(crate) mod report;
pub(crate) mod review;
pub(crate) mod salvage;
pub(crate) mod teardown;
pub(crate) mod verify;
pub(crate) mod workspace;

/// What every prompt of a firing tells.
#[derive(Clone, Copy)]
pub(crate) struct Brief<'f> {
    pub repo: &'f Repo,
    pub work: &'f Work,
    pub branch: &'f str,
    pub limits: &'f Limits,
}

impl Brief<'_> {
    /// The turn ceiling of a stage's session.
    pub(crate) fn max_turns(&self, stage: Stage) -> u32 {
        match stage {
            Stage::Execute => self.limits.max_turns,
            _ => self.limits.max_turns_read,
        }
    }
}

/// Turns an error of a layer below into the halt it means for the firing.
pub(crate) trait OrBroken<T> {
    /// `what` says which step broke.
    fn or_broken(self, what: &str) -> Result<T, carson_core::settle::Halt>;
}

impl<T, E: std::fmt::Display> OrBroken<T> for Result<T, E> {
    fn or_broken(self, what: &str) -> Result<T, carson_core::settle::Halt> {
        self.map_err(|error| carson_core::settle::Halt::Broken(format!("{what}: {error}")))
    }
}
