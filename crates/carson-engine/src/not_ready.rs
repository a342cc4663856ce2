//! Why a CLI cannot be used, and what is to be done.

use std::path::PathBuf;

use thiserror::Error;

use crate::rehearsal::ScriptError;

/// Why a CLI cannot be used.
#[derive(Debug, Error)]
pub enum NotReady {
    /// It cannot be started.
    #[error(transparent)]
    Spawn(#[from] carson_proc::SpawnError),
    /// It does not say which version it is.
    #[error("{program:?} --version does not say a version, but {said:?}")]
    NoVersion {
        /// The program.
        program: PathBuf,
        /// What it said.
        said: String,
    },
    /// Its version is older than what Carson was measured with.
    #[error("{program:?} is version {found}, and Carson needs {needed} or newer")]
    TooOld {
        /// The program.
        program: PathBuf,
        /// Its version.
        found: String,
        /// The oldest that is enough.
        needed: String,
        /// What makes it newer.
        update: &'static str,
    },
    /// Nobody is signed in.
    #[error("nobody is signed in to {cli}: {looked}")]
    NotSignedIn {
        /// The CLI.
        cli: &'static str,
        /// Where a sign-in was looked for.
        looked: String,
        /// What signs in.
        mend: &'static str,
    },
    /// The script of a rehearsal cannot be played.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

impl NotReady {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Spawn(error) => error.hint(),
            Self::NoVersion { .. } => "set the account's binary to the CLI itself",
            Self::TooOld { update, .. } => update,
            Self::NotSignedIn { mend, .. } => mend,
            Self::Script(_) => "mend the file that the account's script names",
        }
    }
}
