//! What settle made of a firing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The end of a firing. DESIGN §6 has the table of what follows from each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// Commits exist, the promise passes, the diff review approved.
    Ok,
    /// Some of the work is there.
    Partial,
    /// The session said OK and left its work uncommitted.
    NoCommit,
    /// There was nothing to do.
    Silent,
    /// The work had been done before, and the reference to it exists.
    AlreadyDone,
    /// The hook, the scope check, the sandbox or the session itself stopped it.
    Blocked,
    /// A review refused the plan or the diff.
    Rejected,
    /// Engine error, promise never passed, no sentinel, or a claim without a change.
    Failed,
    /// The wall clock ran out.
    TimedOut,
    /// The provider's limit.
    RateLimited,
    /// The provider refuses the credentials.
    Auth,
    /// Never started: one of the stops, or preflight.
    Skipped,
    /// The row said running, but the process was gone.
    Crashed,
}

/// What an outcome does to the role's fail streak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreakEffect {
    /// Back to zero.
    Resets,
    /// As it was.
    Unchanged,
    /// One more.
    Counts,
    /// One more only once rejections have become a habit (`max_rejections`).
    CountsAfterRejections,
}

/// How loud a message about the outcome is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good news.
    Info,
    /// Somebody may want to look. Rows of older versions say `warn`.
    #[serde(alias = "warn")]
    Warning,
    /// Somebody must look. Rows of older versions say `alert`.
    #[serde(alias = "alert")]
    Error,
}

/// What happens to the claimed work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkEffect {
    /// A pull request waits for people: label `carson:pr-open`.
    PullRequestOpen,
    /// Comment and label `carson:done`.
    Done,
    /// Back to the queue; the attempt counts.
    BackToQueue,
    /// Back to the queue; the attempt does not count.
    BackUncounted,
    /// A person must look: label `needs:human`.
    NeedsHuman,
    /// Nothing was claimed.
    Nothing,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 13] = [
        Self::Ok,
        Self::Partial,
        Self::NoCommit,
        Self::Silent,
        Self::AlreadyDone,
        Self::Blocked,
        Self::Rejected,
        Self::Failed,
        Self::TimedOut,
        Self::RateLimited,
        Self::Auth,
        Self::Skipped,
        Self::Crashed,
    ];

    /// The name in rows, tables and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Partial => "PARTIAL",
            Self::NoCommit => "NO_COMMIT",
            Self::Silent => "SILENT",
            Self::AlreadyDone => "ALREADY_DONE",
            Self::Blocked => "BLOCKED",
            Self::Rejected => "REJECTED",
            Self::Failed => "FAILED",
            Self::TimedOut => "TIMED_OUT",
            Self::RateLimited => "RATE_LIMITED",
            Self::Auth => "AUTH",
            Self::Skipped => "SKIPPED",
            Self::Crashed => "CRASHED",
        }
    }

    /// Exit code of `carson fire` (DESIGN §14). A crash has none of its own: it is a failure.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Ok | Self::Silent | Self::AlreadyDone => 0,
            Self::Partial | Self::NoCommit => 10,
            Self::Blocked => 11,
            Self::Rejected => 12,
            Self::Failed | Self::Crashed => 13,
            Self::TimedOut => 14,
            Self::RateLimited => 15,
            Self::Skipped => 16,
            Self::Auth => 17,
        }
    }

    /// What it does to the role's fail streak.
    #[must_use]
    pub fn streak(self) -> StreakEffect {
        match self {
            Self::Ok | Self::AlreadyDone => StreakEffect::Resets,
            Self::Partial
            | Self::NoCommit
            | Self::Silent
            | Self::RateLimited
            | Self::Auth
            | Self::Skipped => StreakEffect::Unchanged,
            Self::Blocked | Self::Failed | Self::TimedOut | Self::Crashed => StreakEffect::Counts,
            Self::Rejected => StreakEffect::CountsAfterRejections,
        }
    }

    /// Whether it may be for the work's sake that it ended so: another try counts.
    #[must_use]
    pub fn blames_the_work(self) -> bool {
        matches!(
            self.work_effect(),
            WorkEffect::BackToQueue | WorkEffect::NeedsHuman
        )
    }

    /// How loud its message is; `None` posts nothing.
    #[must_use]
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Ok | Self::AlreadyDone => Some(Severity::Info),
            Self::Partial
            | Self::NoCommit
            | Self::Rejected
            | Self::Failed
            | Self::TimedOut
            | Self::RateLimited => Some(Severity::Warning),
            Self::Blocked | Self::Auth | Self::Crashed => Some(Severity::Error),
            Self::Silent | Self::Skipped => None,
        }
    }

    /// What happens to the claimed work.
    #[must_use]
    pub fn work_effect(self) -> WorkEffect {
        match self {
            Self::Ok => WorkEffect::PullRequestOpen,
            Self::AlreadyDone => WorkEffect::Done,
            Self::Blocked => WorkEffect::NeedsHuman,
            Self::Partial
            | Self::NoCommit
            | Self::Rejected
            | Self::Failed
            | Self::TimedOut
            | Self::Crashed => WorkEffect::BackToQueue,
            Self::RateLimited | Self::Auth => WorkEffect::BackUncounted,
            Self::Silent | Self::Skipped => WorkEffect::Nothing,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Outcome {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not an outcome"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_match_their_json() {
        for outcome in Outcome::ALL {
            assert_eq!(outcome.as_str().parse(), Ok(outcome));
            let json = serde_json::to_string(&outcome).unwrap();
            assert_eq!(json, format!("{:?}", outcome.as_str()));
        }
    }

    #[test]
    fn a_quiet_end_costs_nothing() {
        for quiet in [Outcome::Silent, Outcome::Skipped] {
            assert_eq!(quiet.severity(), None);
            assert_eq!(quiet.streak(), StreakEffect::Unchanged);
            assert_eq!(quiet.work_effect(), WorkEffect::Nothing);
        }
    }
}
