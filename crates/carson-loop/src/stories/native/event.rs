//! What happened to a plan, a line each in `.carson/stories/events.jsonl`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::written::Status;
use crate::digest::Digest;
use crate::stories::json::Json;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: DateTime<Utc>,
    /// Which plan, from the top of the tree.
    pub plan: String,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The plan was another one than the events before made: the first, or one that a person edited.
    Loaded {
        /// All of it.
        document: Json,
    },
    /// A run began.
    RunBegan {
        /// Its own name; what it started carries it in its environment.
        run: String,
        /// What does the stories.
        executor: String,
        /// Stories that it takes at most.
        stories: u64,
        /// Attempts of each.
        max_attempts: u32,
        /// What stands at the end of every prompt.
        policy_hash: Option<Digest>,
    },
    /// An attempt began.
    AttemptBegan {
        /// Its story.
        story: String,
        /// Its number; the story has had so many.
        attempt: u32,
        /// What the executor was asked.
        prompt_hash: Digest,
        /// The tree as it was.
        tree_hash: Digest,
        /// The commit that HEAD named.
        head: Option<String>,
        /// What the executor is, where it says so.
        executor_version: Option<String>,
    },
    /// An attempt ended.
    AttemptEnded {
        /// Its story.
        story: String,
        /// Its number.
        attempt: u32,
        /// How.
        outcome: Outcome,
        /// Why, in words.
        why: Vec<String>,
        /// How the executor ended.
        ended_by: String,
        /// Milliseconds that it took.
        took_ms: u64,
        /// Files that it changed.
        changed: u64,
        /// The tree afterwards.
        tree_hash: Option<Digest>,
        /// What it changed, where that was undone.
        patch: Option<String>,
        /// Refs that keep its commits, where those were undone.
        kept: Vec<String>,
    },
    /// What became of a story.
    StoryEnded {
        /// Its name.
        story: String,
        /// How far it is now.
        status: Status,
    },
    /// A run ended.
    RunEnded {
        /// Stories that it took.
        taken: u64,
        /// Those that passed.
        passed: u64,
        /// Those that are still open.
        open: u64,
    },
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All that was to be is so.
    Passed,
    /// Something was changed that may not be.
    OutOfScope,
    /// The executor failed.
    ToolFailed,
    /// Its time was over.
    TimedOut,
    /// What was to be created was not.
    Missing,
    /// The promise did not hold.
    PromiseFailed,
    /// The run was stopped, or killed.
    Interrupted,
    /// The executor could not be started.
    Unable,
}

impl Outcome {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::OutOfScope => "out_of_scope",
            Self::ToolFailed => "tool_failed",
            Self::TimedOut => "timed_out",
            Self::Missing => "missing",
            Self::PromiseFailed => "promise_failed",
            Self::Interrupted => "interrupted",
            Self::Unable => "unable",
        }
    }
}
