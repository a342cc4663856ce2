//! What happened, a line each in `events.jsonl`. The state is what they come to.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::meta::{Checked, Meta};
use crate::progress::Stagnation;
use crate::state::State;
use crate::status::Status;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// When.
    pub at: DateTime<Utc>,
    /// What.
    #[serde(flatten)]
    pub what: Happened,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Happened {
    /// A state was found without the events that it came of.
    Adopted {
        /// It.
        state: Box<State>,
    },
    /// A process began to run the loop.
    Started {
        /// Its number.
        pid: i32,
        /// Attempts that may be made.
        max_attempts: u32,
        /// So many may by `config.json`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        configured: Option<u32>,
        /// What it is about: the same for the same task and promise.
        subject: Digest,
        /// Whether it goes on where it was.
        goes_on: bool,
        /// Whether it runs behind the sandbox's walls.
        sandbox: bool,
    },
    /// Somebody gave it more attempts than were made, for the run that begins, and its whole time again.
    More {
        /// How many more.
        attempts: u32,
    },
    /// The promise was asked before the first attempt.
    Checked {
        /// How.
        check: Checked,
        /// Milliseconds that it ran so far.
        elapsed_ms: u64,
    },
    /// An attempt began.
    AttemptStarted {
        /// Its number.
        attempt: u32,
        /// The task and what it was told.
        prompt_hash: Digest,
        /// The tree as it found it.
        tree_before_hash: Digest,
    },
    /// It ended.
    AttemptEnded {
        /// All that is known of it.
        meta: Box<Meta>,
        /// Milliseconds that it ran so far.
        elapsed_ms: u64,
    },
    /// It may be getting nowhere.
    Doubted {
        /// How.
        found: Stagnation,
    },
    /// Somebody changed `config.json`.
    ConfigChanged {
        /// Which keys.
        keys: Vec<String>,
        /// Attempts that may be made now.
        max_attempts: u32,
    },
    /// Somebody changed `state.json`.
    StateEdited {
        /// What it says now.
        status: Status,
        /// Attempts that count.
        attempt: u32,
        /// Attempts that may be made.
        max_attempts: u32,
    },
    /// Somebody asked it to stop.
    StopAsked {
        /// Only when the attempt has ended.
        after_attempt: bool,
    },
    /// Somebody brought the tree back to where an attempt left it.
    RolledBack {
        /// The attempt; 0 is before the first one.
        attempt: u32,
        /// Paths that changed.
        changed: u64,
        /// Paths that a person had edited since, and that were kept.
        kept: u64,
    },
    /// It ended.
    Ended {
        /// How.
        #[serde(flatten)]
        how: Ended,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// The word for it.
    pub status: Status,
    /// Why, for people.
    pub reason: String,
    /// What attempts had in common that got nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Stagnation>,
    /// Milliseconds that it ran in all.
    pub elapsed_ms: u64,
}
