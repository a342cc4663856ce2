//! What a second try comes to, which was made in the place of nobody and held against the first one.

use serde::{Deserialize, Serialize};

use super::settled::Settled;
use crate::outcome::Outcome;

/// A second try, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondTry {
    /// The pull request of the first.
    pub first: u64,
    /// Which of the two is kept, and why.
    pub end: Held,
}

/// Which of two tries is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// The second one, and why.
    Won(String),
    /// The first one, and why.
    Lost(String),
}

impl SecondTry {
    /// One that did not come as far as being held against the first.
    #[must_use]
    pub fn unfinished(first: u64) -> Self {
        Self {
            first,
            end: Held::Lost("it was not finished".to_owned()),
        }
    }

    /// Finished work that is not the better one is offered to nobody, and nobody closes an issue because of it;
    /// what was not finished ended as it did.
    pub(super) fn settled(&self, settled: Settled) -> Settled {
        let first = self.first;
        let stays = "the first one is kept";
        let (outcome, end) = match (settled.outcome, &self.end) {
            (Outcome::Ok, Held::Won(why)) => (Outcome::Ok, format!("it is kept: {why}")),
            (Outcome::Ok, Held::Lost(why)) => (Outcome::Silent, format!("{stays}: {why}")),
            (Outcome::AlreadyDone, _) => (Outcome::Silent, stays.to_owned()),
            (outcome, _) => (outcome, stays.to_owned()),
        };
        let reason = format!("second try beside #{first}, {end}; {}", settled.reason);
        Settled {
            outcome,
            reason,
            ..settled
        }
    }
}
