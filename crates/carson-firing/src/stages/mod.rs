//! The stages of a firing, a file each, in the order of DESIGN §5.

use carson_config::Repo;
use carson_core::limits::Limits;
use carson_core::settle::Halt;
use carson_core::{Stage, Work};

use crate::household::ForgeOpenError;

pub(crate) mod confirm;
pub(crate) mod diff_review;
pub(crate) mod execute;
pub(crate) mod facts;
pub(crate) mod hook_check;
pub(crate) mod leaving;
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
    fn or_broken(self, what: &str) -> Result<T, Halt>;
}

impl<T, E: Hinted> OrBroken<T> for Result<T, E> {
    fn or_broken(self, what: &str) -> Result<T, Halt> {
        self.map_err(|error| Halt::Broken(format!("{what}: {}", told(&error))))
    }
}

/// An error that knows what the operator can do.
pub(crate) trait Hinted: std::error::Error {
    /// One sentence without its full stop.
    fn hint(&self) -> &str;
}

macro_rules! hinted {
    ($($error:ty),+) => {
        $(impl Hinted for $error {
            fn hint(&self) -> &str {
                self.hint()
            }
        })+
    };
}

hinted!(
    carson_forge::ForgeError,
    carson_git::GitError,
    carson_proc::SpawnError,
    carson_store::StoreError,
    ForgeOpenError
);

impl Hinted for std::io::Error {
    fn hint(&self) -> &str {
        "check that CARSON_HOME is writable and its disk not full"
    }
}

/// What happened, why, and what to do.
pub(crate) fn told(error: &impl Hinted) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = cause.source();
    }
    format!("{text}; {}", error.hint())
}
