//! The kinds of skipped firings and of blocks: what a row holds beside the sentence for people.
//!
//! Control flow reads these words and never the sentence.

mod before;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which of the stops kept a slot or a firing from its work. `carson why` names them by the same
/// words. [`kinds`](crate::stops::kinds) lists all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SkipKind(&'static str);

impl SkipKind {
    /// The role's firing still runs.
    pub const OVERLAP: Self = Self("overlap");
    /// People have enough of this role's pull requests to read.
    pub const OPEN_PRS: Self = Self("open-prs");
    /// People have enough of the fleet's pull requests of a repository to read for a day.
    pub const REVIEW_MINUTES: Self = Self("review-minutes");
    /// The slot is too old.
    pub const TOO_LATE: Self = Self("too-late");
    /// A preflight check failed.
    pub const PREFLIGHT: Self = Self("preflight");
    /// Another firing still runs the setup of the repository.
    pub const SETUP_RUNS: Self = Self("setup-runs");
    /// A person ended the firing before it had made anything.
    pub const STOPPED: Self = Self("stopped");
    /// People took the work back while the firing held it.
    pub const WITHDRAWN: Self = Self("withdrawn");

    /// What a slot or a firing meets beside the stops of admission.
    pub(crate) const OTHERS: [Self; 7] = [
        Self::OPEN_PRS,
        Self::REVIEW_MINUTES,
        Self::TOO_LATE,
        Self::PREFLIGHT,
        Self::SETUP_RUNS,
        Self::STOPPED,
        Self::WITHDRAWN,
    ];

    /// The kind of a stop, in the stop's own file.
    pub(crate) const fn new(word: &'static str) -> Self {
        Self(word)
    }

    /// The word in rows, tables and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for SkipKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// Why a slot or a firing was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "before::Read")]
pub struct SkipReason {
    /// The kind alone: what a row holds, and what control flow may read.
    kind: SkipKind,
    /// The sentence for people.
    why: String,
}

impl SkipReason {
    /// A stop stands.
    pub(crate) fn new(kind: SkipKind, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { kind, why }
    }

    /// People have `count` of this role's pull requests to read, where `most` is enough.
    #[must_use]
    pub fn open_pull_requests(count: u32, most: u32) -> Self {
        let why = format!(
            "review queue {count}/{most}: merge or close one (carson pr list), or raise limits.max_open_prs"
        );
        Self::new(SkipKind::OPEN_PRS, why)
    }

    /// What people have to read fills their day.
    #[must_use]
    pub fn review_minutes(why: &str) -> Self {
        Self::new(SkipKind::REVIEW_MINUTES, why)
    }

    /// The slot is too old (`max_late`, or `catch_up = "none"`).
    #[must_use]
    pub fn too_late() -> Self {
        Self::new(SkipKind::TOO_LATE, "the slot is too old to catch up")
    }

    /// A preflight check failed.
    #[must_use]
    pub fn preflight(why: &str) -> Self {
        Self::new(SkipKind::PREFLIGHT, format!("preflight: {why}"))
    }

    /// Another firing still runs the setup of `repo`.
    #[must_use]
    pub fn setup_runs(repo: &str, waited_s: u64) -> Self {
        let why = format!(
            "another firing still runs the setup of {repo}, and {waited_s} s were waited for it: the next slot finds \
             what it leaves; one that takes too long is bounded by setup_timeout"
        );
        Self::new(SkipKind::SETUP_RUNS, why)
    }

    /// A person ended the firing before it had made anything.
    #[must_use]
    pub fn stopped() -> Self {
        Self::new(SkipKind::STOPPED, "stopped on request")
    }

    /// People took the work back while the firing held it.
    #[must_use]
    pub fn withdrawn(why: &str) -> Self {
        Self::new(
            SkipKind::WITHDRAWN,
            format!("the work was withdrawn: {why}"),
        )
    }

    /// The kind alone: what a row holds, and what control flow may read.
    #[must_use]
    pub fn kind(&self) -> SkipKind {
        self.kind
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// What stands behind a block flag: who can end it follows from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockKind {
    /// The provider's limit: it ends by itself.
    Limit,
    /// The provider is down: it ends by itself, and one session asks then whether it is back.
    Outage,
    /// The sign-in is not valid: a person signs in.
    Auth,
    /// The account is not paid for: a person pays.
    Billing,
    /// An operator set the flag.
    Operator,
    /// An operator paused the account: it is no flag, and `resume` ends it.
    Pause,
}

impl BlockKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Limit,
        Self::Outage,
        Self::Auth,
        Self::Billing,
        Self::Operator,
        Self::Pause,
    ];

    /// The word in rows, tables and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Outage => "outage",
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::Operator => "operator",
            Self::Pause => "pause",
        }
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for BlockKind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| kind.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not the kind of a block"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_and_match_their_json() {
        for kind in crate::stops::kinds() {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            let json = serde_json::to_value(kind).unwrap();
            assert_eq!(json, kind.as_str());
            assert_eq!(serde_json::from_value(json).ok(), Some(kind));
            let same = crate::stops::kinds().filter(|other| *other == kind);
            assert_eq!(same.count(), 1, "{kind} is said twice");
        }
        for kind in BlockKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            let json = serde_json::to_value(kind).unwrap();
            assert_eq!(json, kind.as_str());
        }
        assert!("paused".parse::<SkipKind>().is_err());
    }
}
