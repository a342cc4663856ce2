//! How a loop stands: what its events come to.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::status::Status;

/// `state.json` of a loop. It is what `events.jsonl` comes to; `status`, `attempt` and `max_attempts` may be edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Of this form.
    pub version: u32,
    /// How it stands.
    pub status: Status,
    /// Attempts that count.
    pub attempt: u32,
    /// So many may.
    pub max_attempts: u32,
    /// What the last attempt printed, without times, ids and the like.
    pub last_output_hash: Option<Digest>,
    /// Whether the promise was kept when it was asked last.
    pub promise_fulfilled: bool,
    /// Why it ended, or what is to be said of it meanwhile.
    pub reason: Option<String>,
    /// The number of the last attempt; stopped ones have numbers, too.
    pub last_attempt: u32,
    /// The attempt behind which attempts are held against each other.
    pub judged_from: u32,
    /// Milliseconds that it ran so far.
    pub elapsed_ms: u64,
    /// What it is about: the same for the same task and promise.
    pub subject: Option<Digest>,
    /// When it began.
    pub started_at: Option<DateTime<Utc>>,
    /// When something happened last.
    pub updated_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// How many events it comes of.
    pub events: u64,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: 1,
            status: Status::Idle,
            attempt: 0,
            max_attempts: 0,
            last_output_hash: None,
            promise_fulfilled: false,
            reason: None,
            last_attempt: 0,
            judged_from: 0,
            elapsed_ms: 0,
            subject: None,
            started_at: None,
            updated_at: None,
            ended_at: None,
            events: 0,
        }
    }
}
