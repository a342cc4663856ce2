//! Why a firing left its stages early.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{AccountName, RepoName, RoleName};
use crate::sentinel::Sentinel;
use crate::skip::{BlockKind, SkipReason};

/// Why a firing left its stages early. The only early exit there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Halt {
    /// The work source had nothing.
    NothingToDo,
    /// The work source had nothing but what is held until something else happens.
    AllHeld {
        /// How many issues.
        issues: u32,
        /// Whose queue it is.
        role: RoleName,
    },
    /// The work source had nothing that may be taken now, and why.
    NothingReady(String),
    /// The role looked by itself, and there is nothing to do that people do not know of; what it saw.
    NothingNew(String),
    /// The work source had nothing but what people are to look at first.
    WaitsForPeople(HeldWork),
    /// One of the stops, or preflight, said no.
    Skipped(SkipReason),
    /// The provider's limit was hit; the block flag is set.
    RateLimited {
        /// The account that is blocked now.
        account: AccountName,
        /// Until when; `None` until an operator clears it.
        until: Option<DateTime<Utc>>,
        /// What stands behind the block.
        #[serde(default)]
        kind: Option<BlockKind>,
        /// What the provider said, and what a person can do.
        #[serde(default)]
        why: String,
    },
    /// The firing's own wall clock ran out, or a session fell silent too long.
    TimedOut(String),
    /// The last allowed execute session used up its turns.
    OutOfTurns,
    /// A session used up its tool calls.
    OutOfToolCalls,
    /// A session went in circles, and how.
    InCircles(String),
    /// The money of this firing ran out.
    OutOfMoney,
    /// A plan session ended with a sentinel other than `[OK]`.
    Planned(Sentinel),
    /// A session says that the work was done before.
    DoneBefore {
        /// Where, as it says: `file:line` and a note.
        claim: String,
        /// Whether a second session, which had only the base to look at, says the same.
        confirmed: bool,
    },
    /// The plan review said no, or asked for more rounds than are allowed.
    PlanRejected(String),
    /// A session ended without a sentinel: its stage and, from the second line on, what it said last.
    NoSentinel(String),
    /// The promise did not pass within the allowed attempts.
    Exhausted(String),
    /// The work on a story did not keep to what the story says.
    StoryFailed(String),
    /// Neither, and it failed at last as it does on the untouched base.
    AsBefore(String),
    /// Attempts repeat themselves.
    Stagnated(String),
    /// The worktree vanished, or its branch was taken away, under the session.
    LostWorktree(String),
    /// The provider was overloaded or not reached, and stayed so.
    Unavailable(String),
    /// The CLI failed in a way that is not a limit.
    EngineFailed(String),
    /// The role requires a sandbox that this machine does not have.
    Unconfined(String),
    /// Git, the forge or the store failed underneath.
    Broken(String),
    /// Somebody asked the firing to stop.
    Cancelled,
}

/// Work that a label keeps the fleet away from until a person removes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldWork {
    /// How many issues.
    pub issues: u32,
    /// The repository of the first one.
    pub repo: RepoName,
    /// Its number.
    pub first: u64,
}

impl fmt::Display for HeldWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, repo) = (self.first, &self.repo);
        match self.issues {
            0 | 1 => write!(f, "#{first} of {repo} waits for a person"),
            all => write!(
                f,
                "{all} issues wait for a person, the first is #{first} of {repo}"
            ),
        }
    }
}
