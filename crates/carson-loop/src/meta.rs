//! What is written down of an attempt.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::progress::Trace;

/// The word for how an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The promise was kept.
    Passed,
    /// It was not.
    Failed,
    /// The task was ended at the end of its time, and the promise was not kept.
    TimedOut,
    /// Somebody stopped it; it does not count.
    Stopped,
    /// The task could not be started.
    Unable,
    /// The loop itself was killed meanwhile.
    Interrupted,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Stopped => "stopped",
            Self::Unable => "unable",
            Self::Interrupted => "interrupted",
        })
    }
}

/// `meta.json` of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// Its number.
    pub attempt: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended, its check included.
    pub ended_at: DateTime<Utc>,
    /// The exit code of the task; `null` when a signal ended it.
    pub exit: Option<i32>,
    /// How the task ended, in words.
    pub ended_by: String,
    /// Milliseconds that the task took.
    pub took_ms: u64,
    /// What it printed, without times, ids and the like; `null` when that was nothing.
    pub output_hash: Option<Digest>,
    /// Bytes that it printed.
    pub output_bytes: u64,
    /// The tree as it left it.
    pub tree_hash: Option<Digest>,
    /// The tree as it found it.
    pub tree_before_hash: Option<Digest>,
    /// Paths that it changed.
    pub changed: u64,
    /// The task and what it was told.
    pub prompt_hash: Digest,
    /// What ran: what an agent CLI says of itself, of any other program the hash of its file.
    pub executor_version: Option<String>,
    /// The commit that HEAD named afterwards.
    pub head: Option<String>,
    /// Processes that it left behind, and that were ended.
    pub leaked: u32,
    /// Paths of which no copy could be kept.
    pub not_kept: u64,
    /// How the promise was asked; `null` when it was not.
    pub check: Option<Checked>,
}

/// How the promise was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checked {
    /// Whether it was kept, each time.
    pub passed: bool,
    /// Times that it was kept.
    pub passes: u32,
    /// Times that it was to be.
    pub runs: u32,
    /// The exit code of the last run; `null` when a signal ended it.
    pub exit: Option<i32>,
    /// How the last run ended, in words.
    pub ended_by: String,
    /// Milliseconds of all runs.
    pub took_ms: u64,
    /// How it failed, without times, ids and the like.
    pub failure_hash: Option<Digest>,
    /// Processes that it left behind, and that were ended.
    pub leaked: u32,
}

impl Checked {
    /// Whether it was kept once, but not each time.
    #[must_use]
    pub fn is_flaky(&self) -> bool {
        !self.passed && self.passes > 0
    }

    /// In words: `exit code 1`, or that it wavers.
    #[must_use]
    pub fn said(&self) -> String {
        match self.is_flaky() {
            true => format!(
                "{}, after it passed {} of {} times",
                self.ended_by, self.passes, self.runs
            ),
            false => self.ended_by.clone(),
        }
    }
}

impl Meta {
    /// What it is held against other attempts by.
    #[must_use]
    pub fn trace(&self) -> Trace {
        Trace {
            attempt: self.attempt,
            output: self.output_hash,
            failure: self.check.as_ref().and_then(|check| check.failure_hash),
            tree: self.tree_hash,
            is_idle: self.tree_hash.is_some() && self.tree_hash == self.tree_before_hash,
        }
    }
}
