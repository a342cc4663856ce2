//! A session that could not be started.

use std::path::PathBuf;

use thiserror::Error;

/// Why a session could not be started.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The program cannot be started.
    #[error(transparent)]
    Spawn(#[from] carson_proc::SpawnError),
    /// The transcript or the hook settings cannot be written.
    #[error("{path:?} cannot be written")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An account of engine `command` has no argv, or one of engine `rehearsal` no script.
    #[error("the account's {what} is missing")]
    Incomplete {
        /// What.
        what: &'static str,
    },
}
