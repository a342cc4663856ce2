//! May a due slot become a firing now?

use chrono::{DateTime, Utc};

use crate::id::AccountName;
pub use crate::skip::SkipReason;
pub use crate::stops::{BLOCK_HORIZON, Block, Gate, LastFiring, Overlap, Pause, admit_account};
use crate::stops::{STOPS, Standing, standing, with_room};
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
    decided(standing(gate, now).next(), gate, &with_room(gate, now), now)
}

/// The same for an operator who fires over what [yields](crate::stops::Stop::yields) to a reason.
#[must_use]
pub fn admit_forced(gate: &Gate, now: DateTime<Utc>) -> Admission {
    let mut holds = STOPS.iter().filter(|stop| !stop.yields);
    let first = holds.find_map(|stop| (stop.stands)(gate, now));
    // What is kept for people is theirs to give, once nothing else is left.
    let room = with_room(gate, now);
    let accounts = if room.is_empty() {
        &gate.accounts
    } else {
        &room
    };
    decided(first, gate, accounts, now)
}

/// The account that it would have if nothing else stood in its way; `None` where none is free.
#[must_use]
pub fn free_account(gate: &Gate, now: DateTime<Utc>) -> Option<AccountName> {
    admit_account(&with_room(gate, now), &gate.blocks, now).ok()
}

/// What stands and would give way to such an operator, in the order of the list.
#[must_use]
pub fn yielding(gate: &Gate, now: DateTime<Utc>) -> Vec<SkipReason> {
    let yielding = STOPS.iter().filter(|stop| stop.yields);
    let stand = yielding.filter_map(|stop| (stop.stands)(gate, now));
    stand.map(|stop| stop.reason).collect()
}

fn decided(
    first: Option<Standing>,
    gate: &Gate,
    accounts: &[AccountName],
    now: DateTime<Utc>,
) -> Admission {
    match first {
        Some(stop) if stop.waits => Admission::Wait(stop.reason.to_string()),
        Some(stop) => Admission::Skip(stop.reason),
        None if !gate.asks_models => Admission::Admit(None),
        None => admit_account(accounts, &gate.blocks, now)
            .map_or_else(Admission::Skip, |account| Admission::Admit(Some(account))),
    }
}

#[cfg(test)]
mod tests;
