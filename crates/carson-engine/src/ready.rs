//! Whether a CLI can be used at all. No model is asked.

use std::ffi::OsString;
use std::path::PathBuf;

use carson_core::EngineKind;
use thiserror::Error;

use crate::claude;
use crate::engine::Engine;
use crate::rehearsal::{Script, ScriptError};

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
    #[error("nobody is signed in to Claude Code: {looked}")]
    NotSignedIn {
        /// Where a sign-in was looked for.
        looked: String,
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
            Self::NotSignedIn { .. } => {
                "sign in with `claude` and /login, and set CLAUDE_CONFIG_DIR in the account's env to \
                 its folder; or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN there"
            }
            Self::Script(_) => "mend the file that the account's script names",
        }
    }
}

impl Engine {
    /// Looks for what the CLI signs in with, without asking anybody: variables and files.
    ///
    /// # Errors
    /// When nobody is signed in.
    pub fn signed_in(&self, env: &[(OsString, OsString)]) -> Result<(), NotReady> {
        match self.kind {
            EngineKind::Claude => claude::signed_in(env),
            EngineKind::Command | EngineKind::Rehearsal => Ok(()),
        }
    }

    /// Reads the script of a rehearsal.
    ///
    /// # Errors
    /// When it cannot be played.
    pub fn script_is_sound(&self) -> Result<(), NotReady> {
        match &self.script {
            Some(script) if self.kind == EngineKind::Rehearsal => {
                Ok(Script::read(script).map(|_| ())?)
            }
            _ => Ok(()),
        }
    }
}
