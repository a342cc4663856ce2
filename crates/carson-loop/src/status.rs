//! The word for how a loop stands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The word for how a loop stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing was run yet, or the tree was brought back since.
    #[default]
    Idle,
    /// It runs.
    Running,
    /// The promise was kept after an attempt.
    Done,
    /// It was kept before the first one.
    AlreadyDone,
    /// All attempts failed.
    Exhausted,
    /// Attempts got nowhere.
    Stagnated,
    /// Its whole time is over.
    TimedOut,
    /// Somebody stopped it, or broke one of its files.
    Stopped,
    /// The task or the promise cannot be started.
    Failed,
}

impl Status {
    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Done => "done",
            Self::AlreadyDone => "already_done",
            Self::Exhausted => "exhausted",
            Self::Stagnated => "stagnated",
            Self::TimedOut => "timed_out",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }

    /// What `carson loop run` exits with.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done | Self::AlreadyDone => 0,
            Self::Exhausted | Self::Stagnated | Self::Failed => 13,
            Self::TimedOut => 14,
            Self::Stopped | Self::Idle | Self::Running => 10,
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}
