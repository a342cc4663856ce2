//! What keeps a loop from doing what it was asked.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::json_file::FileError;
use crate::lock::LockError;
use crate::status::Status;
use crate::tree::TreeError;

/// A loop that did not do what it was asked, and why.
#[derive(Debug, Error)]
pub enum LoopError {
    /// There is none.
    #[error("there is no loop in {} or above it", from.display())]
    None {
        /// From where it was looked for.
        from: PathBuf,
    },
    /// There is one already.
    #[error("there is a loop in {} already", dir.display())]
    Exists {
        /// Its directory.
        dir: PathBuf,
    },
    /// Its files are somebody else's: their task would run as us.
    #[error("{} belongs to another user, and what it says would run as you", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Its directory is a link, or something else.
    #[error("{} is no directory", path.display())]
    NoDirectory {
        /// What is one in its place.
        path: PathBuf,
    },
    /// What was asked for is not fit for it.
    #[error("{0}")]
    Unfit(String),
    /// It has ended, and does not begin again by itself.
    #[error("the loop has ended: {status} ({reason})")]
    Ended {
        /// How.
        status: Status,
        /// Why.
        reason: String,
    },
    /// ALPF was told bounds, and not what is to be done within them.
    #[error("{} says no {what}", path.display())]
    Unsaid {
        /// ALPF's configuration.
        path: PathBuf,
        /// What it does not say.
        what: &'static str,
    },
    /// The walls that were asked for are not to be had.
    #[error("this machine has no such sandbox: {lacks}")]
    NoWalls {
        /// What it lacks.
        lacks: String,
    },
    /// Nobody runs it.
    #[error("the loop does not run: {}", standing(*status))]
    NotRunning {
        /// How it stands.
        status: Status,
    },
    /// It did not begin.
    #[error("the loop did not begin: {said}")]
    NotBegun {
        /// What it said.
        said: String,
    },
    /// It did not end in time.
    #[error("the loop was asked to stop and still runs (pid {pid})")]
    StillRunning {
        /// Its process.
        pid: i32,
    },
    /// There is no such attempt.
    #[error("there is no attempt {attempt}: {known}")]
    NoAttempt {
        /// The one that was asked for.
        attempt: String,
        /// Those that there are.
        known: String,
    },
    /// A person has edited since what would be changed.
    #[error("{} edited since the loop looked last: {}", counted(paths.len()), shown(paths))]
    Edited {
        /// What.
        paths: Vec<String>,
    },
    /// The repository's index is being written by somebody.
    #[error("{} is there: a git is at work, or died", path.display())]
    IndexLocked {
        /// The lock.
        path: PathBuf,
    },
    /// Its lock was taken away while it ran, and nothing else.
    #[error("{} was taken away while the loop ran", path.display())]
    Unlocked {
        /// The lock.
        path: PathBuf,
    },
    /// Its files were taken away while it ran.
    #[error("{} was taken away while the loop ran", dir.display())]
    Gone {
        /// Its directory.
        dir: PathBuf,
    },
    /// Another one runs it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// One of its files.
    #[error(transparent)]
    File(#[from] FileError),
    /// The tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A program that was needed.
    #[error(transparent)]
    Spawn(#[from] carson_proc::SpawnError),
    /// The disk, or the system.
    #[error("{what}: {source}")]
    Io {
        /// What was to be done.
        what: String,
        /// What it said.
        source: io::Error,
    },
}

impl LoopError {
    /// What to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let said = match self {
            Self::None { .. } => {
                "make one: carson loop init --promise \"npm test\" --task \"COMMAND\""
            }
            Self::Exists { .. } => "`carson loop update` changes it, `carson loop run` runs it",
            Self::Unsaid { .. } => {
                "say it once: carson loop run --promise \"npm test\" --task \"COMMAND\""
            }
            Self::NoWalls { .. } => "`carson sandbox` says what this machine can do",
            Self::Foreign { .. } => {
                "look at it, and make it yours with chown if you want to run it"
            }
            Self::NoDirectory { .. } => "take it away",
            Self::Ended { .. } => {
                "--more N lets it make N more attempts, and gives it its whole time again; --fresh begins anew, and keeps the \
                 attempts so far in runs/"
            }
            Self::NotRunning {
                status: Status::Running,
            } => "`carson loop stop` ends what that left behind, `carson loop run` goes on",
            Self::NotRunning { .. } => "`carson loop status` says how it stands",
            Self::StillRunning { .. } => "wait for it, or end that process",
            Self::Edited { .. } => {
                "--keep-mine keeps those files as they are; --overwrite gives them up"
            }
            Self::IndexLocked { .. } => "wait for that git; if none runs, take the file away",
            Self::Unlocked { .. } => {
                "nobody would see that it runs, so it ended; all that it had kept is there, and `carson loop run` goes on"
            }
            Self::Gone { .. } => {
                "all that it had kept is there still if the directory was moved, and `carson loop run` goes on there; \
                 otherwise that is lost, and the tree is as the last attempt left it"
            }
            Self::Lock(LockError::HeldByNobody { path }) => {
                return Some(format!(
                    "somebody changed what it says; `fuser {}` names the process: end that, and say so again",
                    path.display()
                ));
            }
            Self::Lock(LockError::Held { .. }) => {
                "`carson loop stop` ends it, `carson loop status` shows it"
            }
            Self::File(FileError::Malformed { .. }) => {
                "mend it, and say so again: it is never overwritten"
            }
            Self::Tree(error) => error.hint(),
            Self::Spawn(error) => error.hint(),
            Self::Unfit(_)
            | Self::NotBegun { .. }
            | Self::NoAttempt { .. }
            | Self::Lock(_)
            | Self::File(_)
            | Self::Io { .. } => return None,
        };
        Some(said.to_owned())
    }

    /// Whether what was asked is wrong, not what was found.
    #[must_use]
    pub fn is_of_the_ask(&self) -> bool {
        matches!(
            self,
            Self::None { .. }
                | Self::Unfit(_)
                | Self::Unsaid { .. }
                | Self::NoWalls { .. }
                | Self::NoAttempt { .. }
        )
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

fn standing(status: Status) -> String {
    match status {
        Status::Running => "whoever ran it died".to_owned(),
        status => format!("it is {status}"),
    }
}

fn counted(count: usize) -> String {
    match count {
        1 => "1 file was".to_owned(),
        count => format!("{count} files were"),
    }
}

/// Names that are told of many.
const SHOWN: usize = 8;

fn shown(paths: &[String]) -> String {
    let named = paths
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match paths.len().checked_sub(SHOWN) {
        None | Some(0) => named,
        Some(more) => format!("{named} and {more} more"),
    }
}
