//! What keeps a tree from being looked at, kept or restored.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A tree that could not be looked at, kept or restored.
#[derive(Debug, Error)]
pub enum TreeError {
    /// The disk said no.
    #[error("{path:?}: {source}")]
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// More files than are looked at.
    #[error("{root:?} has more than {most} files that are not ignored")]
    TooMany {
        /// The tree.
        root: PathBuf,
        /// How many are looked at.
        most: usize,
    },
    /// What is kept would fill the disk.
    #[error("{dir:?}: its disk has no room for a copy of the files that changed")]
    NoRoom {
        /// Where they are kept.
        dir: PathBuf,
    },
    /// Somebody asked to stop.
    #[error("stopped while the tree was looked at")]
    Cancelled,
    /// What was kept is not there any more, or is something else.
    #[error("{path:?} is damaged: {detail}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How.
        detail: String,
    },
}

impl TreeError {
    /// What to do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => "look at its permissions and at the disk",
            Self::TooMany { .. } => "name what need not be kept in .gitignore",
            Self::NoRoom { .. } => {
                "make room, or name large files that need not be kept in .gitignore"
            }
            Self::Cancelled => "start it again",
            Self::Damaged { .. } => "somebody changed it by hand: what it kept is lost",
        }
    }

    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
