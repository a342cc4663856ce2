//! Why an issue of a role's queue is not taken now.

use std::fmt;

use carson_core::text::instant;
use chrono::{DateTime, Utc};
use serde::Serialize;

/// An issue that carries the role's label and is not taken.
#[derive(Clone, Debug, Serialize)]
pub struct HeldIssue {
    /// Its number.
    pub number: u64,
    /// Why.
    #[serde(serialize_with = "as_text")]
    pub why: Held,
}

fn as_text<S: serde::Serializer>(why: &Held, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(why)
}

/// Why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// This label keeps the fleet away until a person removes it.
    ForPeople(&'static str),
    /// It lacks a label that the role requires beside its own.
    Lacks(String),
    /// A person does it.
    Assigned(String),
    /// Its author is nobody whose issues are work, and nobody who is has approved it as it stands.
    Stranger {
        /// Who wrote it.
        author: String,
        /// Names what it says now: an approval is of this and of nothing else.
        hash: String,
        /// Whether its people were told.
        told: bool,
    },
    /// It waits for another one.
    Waits {
        /// Which.
        on: String,
        /// Whether that is open, or why nobody knows.
        state: Blocking,
    },
    /// The next firing that comes to it gives it to people.
    Given(String),
    /// It failed a moment ago.
    Failed {
        /// When it may be tried again.
        until: DateTime<Utc>,
    },
    /// Its check fails on the untouched base, and failed in the same way after its sessions.
    FailsOnBase {
        /// What the check printed last, on one line.
        said: String,
        /// When the check is asked again, if the base stays where it is.
        until: DateTime<Utc>,
    },
}

/// What a person comments to approve the text with this hash.
pub(crate) fn approval_words(hash: &str) -> String {
    format!("/carson approve {hash}")
}

/// Why a dependency holds an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// It is open.
    Open,
    /// It cannot be read.
    Unreadable(String),
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForPeople(label) => write!(f, "it waits for a person: it carries {label}"),
            Self::Lacks(label) => write!(f, "it does not carry the label {label}"),
            Self::Assigned(name) => write!(f, "it is assigned to {name}"),
            Self::Stranger { author, hash, .. } => write!(
                f,
                "{author} wrote it, whose issues are no work here (approve it: comment `{}`)",
                approval_words(hash)
            ),
            Self::Waits { on, state } => match state {
                Blocking::Open => write!(f, "it waits for {on}, which is open"),
                Blocking::Unreadable(why) => {
                    write!(f, "it waits for {on}, which cannot be read: {why}")
                }
            },
            Self::Given(why) => write!(f, "people get it next: {why}"),
            Self::Failed { until } => {
                write!(
                    f,
                    "it failed a moment ago and is tried again at {}",
                    instant(*until)
                )
            }
            Self::FailsOnBase { said, until } => write!(
                f,
                "its check fails on the untouched base as it did after a session's work, so no other \
                 session is paid for it; the check is asked again when the base moves, or at {}: {said}",
                instant(*until)
            ),
        }
    }
}
