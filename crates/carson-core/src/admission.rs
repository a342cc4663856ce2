//! May a due slot become a firing now?

use chrono::{DateTime, Utc};

use crate::id::AccountName;
pub use crate::skip::SkipReason;
pub use crate::stops::{BLOCK_HORIZON, Block, Gate, LastFiring, Overlap, Pause, admit_account};
use crate::stops::{standing, with_room};
pub use crate::usage::{Budget, Shares, Spent, UsageWindow};

/// The decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Claim the slot and start, with the first of the role's accounts that is not blocked; `None` for one
    /// that asks no model.
    Admit(Option<AccountName>),
    /// Not now, but the slot stays due.
    Wait(String),
    /// The slot ends here, as a quiet row.
    Skip(SkipReason),
}

/// Decides: the first of the [stops](crate::stops) that stands, else the first account that is free.
#[must_use]
pub fn admit(gate: &Gate, now: DateTime<Utc>) -> Admission {
    match standing(gate, now).next() {
        Some(stop) if stop.waits => Admission::Wait(stop.reason.to_string()),
        Some(stop) => Admission::Skip(stop.reason),
        None if !gate.asks_models => Admission::Admit(None),
        None => admit_account(&with_room(gate, now), &gate.blocks, now)
            .map_or_else(Admission::Skip, |account| Admission::Admit(Some(account))),
    }
}

#[cfg(test)]
mod tests;
