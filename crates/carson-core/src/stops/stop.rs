//! What a stop is.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::change::Change;
use super::gate::Gate;
use crate::settle::Halt;
use crate::skip::{SkipKind, SkipReason};

/// Something that may keep a role from firing.
#[derive(Debug)]
pub struct Stop {
    /// The words of what it may say: what rows and `carson why` call it.
    pub kinds: &'static [SkipKind],
    /// Whether it stands at an instant.
    pub stands: fn(&Gate, DateTime<Utc>) -> Option<Standing>,
    /// It is asked again before each session: what a firing halts with that meets it after its first
    /// one. `None` where it only keeps firings from beginning.
    pub during: Option<fn(&Gate, DateTime<Utc>) -> Halt>,
    /// An operator who says why may fire over it once (`carson fire --force`): people set it, or the role earned it. What
    /// a provider, a forge, money or this host says holds in any case.
    pub yields: bool,
}

/// A stop that stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Its kind, and the sentence of a row that it skips.
    pub reason: SkipReason,
    /// The slot stays due: it is over soon, by itself.
    pub waits: bool,
    /// What is so; several where each account or budget has its own.
    pub causes: Vec<Cause>,
}

/// One thing that is so, and what would change it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// What is so.
    pub why: String,
    /// When it is over by itself, if that is known.
    pub until: Option<DateTime<Utc>>,
    /// What would change it.
    pub change: Change,
}

impl Standing {
    /// One that ends the slot, and has one cause.
    #[must_use]
    pub fn skips(reason: SkipReason, cause: Cause) -> Self {
        Self {
            reason,
            waits: false,
            causes: vec![cause],
        }
    }
}
