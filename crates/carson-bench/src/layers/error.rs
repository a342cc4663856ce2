//! Why a layer cannot be had.

use std::path::{Path, PathBuf};

use carson_home::halt::Hinted;
use thiserror::Error;

/// A layer that could not be made.
#[derive(Debug, Error)]
pub enum LayerError {
    /// The checkout failed.
    #[error(transparent)]
    Git(#[from] carson_git::GitError),
    /// The file system refused something.
    #[error("{path:?}: {source}")]
    Io {
        /// What it was about.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
}

pub(super) fn io(path: &Path, source: std::io::Error) -> LayerError {
    LayerError::Io {
        path: path.to_owned(),
        source,
    }
}

impl Hinted for LayerError {
    fn hint(&self) -> &str {
        match self {
            Self::Git(error) => error.hint(),
            Self::Io { source, .. } => source.hint(),
        }
    }
}
