//! The kinds of skipped firings and of blocks: what a row holds beside the sentence for people.
//!
//! Control flow reads these words and never the sentence.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which of the stops kept a slot or a firing from its work. `carson why` names them by the same
/// words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipKind {
    /// An operator's pause of the fleet, the role or its repository.
    Pause,
    /// Every account of the role is blocked, or paused.
    Block,
    /// What is left of every account's usage windows is kept for people.
    Reserved,
    /// The usage windows are nearly used up, and the role is of low priority.
    LowPriority,
    /// Money is used up.
    Budget,
    /// The role's breaker is open.
    Breaker,
    /// The role's firings of the day are used up.
    DailyCap,
    /// The role's firing still runs.
    Overlap,
    /// People have enough of this role's pull requests to read.
    OpenPrs,
    /// The slot is too old.
    TooLate,
    /// A preflight check failed.
    Preflight,
}

impl SkipKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Pause,
        Self::Block,
        Self::Reserved,
        Self::LowPriority,
        Self::Budget,
        Self::Breaker,
        Self::DailyCap,
        Self::Overlap,
        Self::OpenPrs,
        Self::TooLate,
        Self::Preflight,
    ];

    /// The word in rows, tables and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Block => "block",
            Self::Reserved => "reserved",
            Self::LowPriority => "low-priority",
            Self::Budget => "budget",
            Self::Breaker => "breaker",
            Self::DailyCap => "daily-cap",
            Self::Overlap => "overlap",
            Self::OpenPrs => "open-prs",
            Self::TooLate => "too-late",
            Self::Preflight => "preflight",
        }
    }
}

/// What stands behind a block flag: who can end it follows from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockKind {
    /// The provider's limit: it ends by itself.
    Limit,
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
    pub const ALL: [Self; 5] = [
        Self::Limit,
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
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::Operator => "operator",
            Self::Pause => "pause",
        }
    }
}

macro_rules! word {
    ($kind:ty, $what:literal) => {
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $kind {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                let mut all = Self::ALL.into_iter();
                all.find(|kind| kind.as_str() == text)
                    .ok_or_else(|| format!("{text:?} is not the kind of a {}", $what))
            }
        }
    };
}

word!(SkipKind, "skip");
word!(BlockKind, "block");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_and_match_their_json() {
        for kind in SkipKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            let json = serde_json::to_value(kind).unwrap();
            assert_eq!(json, kind.as_str());
        }
        for kind in BlockKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            let json = serde_json::to_value(kind).unwrap();
            assert_eq!(json, kind.as_str());
        }
        assert!("paused".parse::<SkipKind>().is_err());
    }
}
