//! What a run tells while it goes on.

use std::time::Duration;

use super::event::Outcome;
use super::written::Status;

/// One thing that it tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// A story is taken up.
    Story {
        /// Its name.
        id: String,
        /// What it is about.
        title: String,
    },
    /// An attempt at it has ended.
    Attempt {
        /// The story's name.
        id: String,
        /// Its number.
        attempt: u32,
        /// How.
        outcome: Outcome,
        /// Why, in words.
        why: Vec<String>,
        /// Files that it changed.
        changed: u64,
        /// How long it took.
        took: Duration,
    },
    /// The story is done with.
    Ended {
        /// Its name.
        id: String,
        /// How far it is now.
        status: Status,
    },
    /// Something that somebody should know.
    Note(String),
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Came {
    /// Stories that were taken.
    pub taken: Vec<String>,
    /// Those that passed.
    pub passed: Vec<String>,
    /// Those that failed.
    pub failed: Vec<String>,
    /// Those that are still open, of all modes.
    pub open: u64,
    /// Those that had failed before, where there was nothing to take: a person opens them again.
    pub given_up: u64,
    /// A signal ended it.
    pub stopped: bool,
}
