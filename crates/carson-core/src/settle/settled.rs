//! What settle says.

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::skip::SkipKind;

/// An outcome with the reason an operator reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// The outcome.
    pub outcome: Outcome,
    /// One line that says why.
    pub reason: String,
    /// Which stop it was, when it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<SkipKind>,
}

impl Settled {
    /// An outcome that no stop made.
    #[must_use]
    pub fn new(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self {
            outcome,
            reason: reason.into(),
            skip: None,
        }
    }
}

pub(super) fn settled(outcome: Outcome, reason: impl Into<String>) -> Settled {
    Settled::new(outcome, reason)
}
