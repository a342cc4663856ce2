//! What can go wrong with a forge.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::words::Unread;

/// A forge step that failed.
#[derive(Debug, Error)]
pub enum ForgeError {
    /// There is no such issue or pull request.
    #[error("{what} does not exist")]
    NotFound {
        /// What was asked for.
        what: String,
    },
    /// It has another address now, which nobody follows: a token goes nowhere else.
    #[error("{what} has another address on the forge now")]
    Moved {
        /// What was asked for.
        what: String,
    },
    /// The token is not accepted.
    #[error("the forge does not accept the token")]
    Unauthorized,
    /// The app's key makes no tokens.
    #[error("the app cannot sign in: {problem}")]
    AppKey {
        /// Why.
        problem: String,
    },
    /// This forge has no such verb.
    #[error("this forge has no {verb}")]
    Lacks {
        /// What it does not have.
        verb: &'static str,
    },
    /// Somebody pushed to a pull request since it was looked at.
    #[error("pull request #{number} offers {found} now, not {expected}")]
    HeadMoved {
        /// Its number.
        number: u64,
        /// The commit that was looked at.
        expected: String,
        /// The commit that is there.
        found: String,
    },
    /// The token may not do this.
    #[error("the token may not do this: {message}")]
    Forbidden {
        /// What the forge said.
        message: String,
    },
    /// Too many requests, for longer than a firing waits.
    #[error("the forge asks to wait {0:?}")]
    RateLimited(Duration),
    /// The forge refused the content.
    #[error("the forge refused: {message}")]
    Invalid {
        /// What the forge said.
        message: String,
    },
    /// It does not answer, or not with what it should.
    #[error("the forge does not answer: {detail}")]
    Unavailable {
        /// What was seen.
        detail: String,
    },
    /// A file of the local forge cannot be read or written.
    #[error("{path:?}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of the local forge is not what it should be.
    #[error("{path:?}: {problem}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its line.
        problem: String,
    },
    /// One entry of a forge's list is not what it should be.
    #[error("{place}: {why}")]
    Record {
        /// Which.
        place: String,
        /// What is wrong with it.
        why: String,
    },
}

impl ForgeError {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => {
                "`carson issue list` and `carson pr list` show what there is; where a server finds nothing either, look at slug \
                 and api_base in the settings"
            }
            Self::Moved { .. } => {
                "the repository was renamed or transferred: put its name of today into slug of its section"
            }
            Self::Unauthorized => "renew the token that the forge's section of carson.toml names",
            Self::AppKey { .. } => {
                "look at app_id, app_key_file and app_installation, and where the app is installed"
            }
            Self::Lacks { .. } => "do it by hand, or use a forge that has it",
            Self::HeadMoved { .. } => "look at it again: its branch has other commits now",
            Self::Forbidden { .. } => "the token needs issues, pull requests and contents (write)",
            Self::RateLimited(_) => "this ends by itself; fire less often if it comes back",
            Self::Invalid { .. } => "look at the repository's rules",
            Self::Unavailable { .. } => {
                "check the network, and api_base in the forge's section; or the local forge's disk"
            }
            Self::Io { .. } => "check that CARSON_HOME is writable",
            Self::File { .. } => {
                "mend the file, or who may read it: TOML between two +++ lines, then the text"
            }
            Self::Record { .. } => "look at it there; the others are worked on",
        }
    }

    /// Whether it only cannot be asked now: nobody's fault, and over by itself.
    #[must_use]
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::RateLimited(_))
    }

    /// Whether something is wrong with what was asked for alone: it is not there, or cannot be read.
    #[must_use]
    pub fn is_of_one(&self) -> bool {
        matches!(self, Self::NotFound { .. }) || self.unread().is_some()
    }

    /// What is wrong with one piece of work, where nothing is wrong with the forge.
    #[must_use]
    pub fn unread(&self) -> Option<Unread> {
        let (place, why) = match self {
            Self::File { path, problem } => (path.to_string_lossy().into_owned(), problem),
            Self::Record { place, why } => (place.clone(), why),
            _ => return None,
        };
        Some(Unread {
            place,
            why: why.clone(),
        })
    }
}
