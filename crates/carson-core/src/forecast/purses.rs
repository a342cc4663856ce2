//! What firings take from the purses, one after the other.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::facts::Purse;
use crate::id::RoleName;
use crate::usage::Budget;

/// A firing of the night.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick<'f> {
    pub at: DateTime<Utc>,
    pub role: &'f RoleName,
    /// What it costs, where nothing cuts it; without a bound it is infinite.
    pub usd: f64,
}

/// A purse that is empty before the night is over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ended {
    /// The budget, with what was spent of it when the forecast was made.
    pub budget: Budget,
    /// Whose; the whole fleet's without it.
    pub of: Option<RoleName>,
    /// When.
    pub at: DateTime<Utc>,
    /// The role whose firing is the first that gets less than it would cost.
    pub cuts: RoleName,
}

/// What each firing takes, in their order, and the purses that end, earliest first. What no purse bounds
/// and has no bound of its own stays infinite.
pub(super) fn drawn(picks: &[Pick<'_>], purses: &[Purse]) -> (Vec<f64>, Vec<Ended>) {
    let mut left: Vec<f64> = purses.iter().map(Purse::left).collect();
    let mut ended: Vec<Option<Ended>> = vec![None; purses.len()];
    let mut taken = Vec::with_capacity(picks.len());
    for pick in picks {
        let own = |index: &usize| purses[*index].is_of(pick.role, pick.at);
        let own: Vec<usize> = (0..purses.len()).filter(own).collect();
        let least = own.iter().map(|index| left[*index]);
        let usd = least.fold(pick.usd, f64::min);
        for index in own {
            if left[index] < pick.usd && ended[index].is_none() {
                ended[index] = Some(Ended {
                    budget: purses[index].budget.clone(),
                    of: purses[index].role.clone(),
                    at: pick.at,
                    cuts: pick.role.clone(),
                });
            }
            left[index] = (left[index] - usd).max(0.0);
        }
        taken.push(usd);
    }
    let mut ended: Vec<Ended> = ended.into_iter().flatten().collect();
    ended.sort_by_key(|end| end.at);
    (taken, ended)
}
