//! Why a run of ralph-loop ends before its end.

use std::fmt::Display;
use std::io;
use std::path::Path;

use thiserror::Error;

/// The run is over.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Ended {
    /// Something is not as it must be: exit 1.
    #[error("{0}")]
    Failed(String),
    /// A signal: exit 130.
    #[error("interrupted")]
    Interrupted,
}

impl Ended {
    /// This is not as it must be.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// A file that cannot be used so.
    pub(super) fn io<'p>(doing: &'p str, path: &'p Path) -> impl FnOnce(io::Error) -> Self + 'p {
        move |error| Self::because(doing, path, &error)
    }

    pub(super) fn because(doing: &str, path: &Path, why: &dyn Display) -> Self {
        Self::Failed(format!("Could not {doing}: {} ({why})", path.display()))
    }
}
