//! From a due slot, or an operator's wish, to a claimed row.

use carson_config::Role;
use carson_core::admission::{Admission, Gate, SkipReason, admit};
use carson_core::work::WorkKey;
use carson_core::{FiringId, RepoName};
use carson_store::{Claim, NewFiring, StoreError};
use chrono::{DateTime, TimeDelta, TimeZone, Utc};

use crate::household::Household;

/// What became of the wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The row is ours: start its process.
    Won(FiringId),
    /// Not now; the slot stays due.
    Wait(&'static str),
    /// The slot ended as a quiet row.
    Skipped(SkipReason),
    /// Somebody else has the slot, or runs a firing of the role.
    Taken,
}

/// A claim that could not be made.
pub type ClaimError = StoreError;

/// What to claim.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The slot; `None` for a firing that an operator asks for.
    pub slot: Option<DateTime<Utc>>,
    /// Older slots that this one stands for.
    pub missed: u32,
    /// Only this repository.
    pub repo: Option<RepoName>,
    /// Only this piece of work.
    pub work: Option<WorkKey>,
}

/// Asks admission and claims the row, or writes the quiet row that says why not.
///
/// # Errors
/// When the store does not answer.
pub async fn claim(house: &Household, role: &Role, wish: &Wish) -> Result<Claimed, ClaimError> {
    let now = house.clock.now();
    let gate = gate(house, role, now).await?;
    match admit(&gate, now) {
        Admission::Wait(why) => Ok(Claimed::Wait(why)),
        Admission::Skip(reason) => skip(house, role, wish, reason, now).await,
        Admission::Admit(account) => {
            let limit = TimeDelta::from_std(role.limits.wall_clock).unwrap_or(TimeDelta::days(1));
            let firing = NewFiring {
                id: FiringId::new(),
                role: role.name.clone(),
                slot: wish.slot,
                host: house.fleet.host.clone(),
                account: Some(account),
                deadline_at: now + limit,
                claimed_at: now,
                missed: wish.missed,
                repo: wish.repo.clone(),
                work: wish.work,
            };
            Ok(match house.store.claim_firing(&firing).await? {
                Claim::Won => Claimed::Won(firing.id),
                Claim::SlotTaken | Claim::RoleBusy(_) => Claimed::Taken,
            })
        }
    }
}

async fn skip(
    house: &Household,
    role: &Role,
    wish: &Wish,
    reason: SkipReason,
    now: DateTime<Utc>,
) -> Result<Claimed, ClaimError> {
    if let Some(slot) = wish.slot {
        house
            .store
            .record_skip(&role.name, slot, &house.fleet.host, &reason, now)
            .await?;
    }
    Ok(Claimed::Skipped(reason))
}

/// Everything admission looks at.
///
/// # Errors
/// When the store does not answer.
pub async fn gate(house: &Household, role: &Role, now: DateTime<Utc>) -> Result<Gate, StoreError> {
    let (from, to) = day_of(role, now);
    let mut gate = house
        .store
        .gate(&role.name, &role.repos, &house.fleet.host, from, to)
        .await?;
    gate.accounts.clone_from(&role.engines);
    gate.max_per_day = role.limits.max_firings_per_day;
    gate.max_here = house.fleet.max_firings;
    gate.overlap = role.overlap;
    Ok(gate)
}

/// The day of the role's zone in which `now` lies. It may have 23 or 25 hours.
fn day_of(role: &Role, now: DateTime<Utc>) -> (DateTime<Utc>, DateTime<Utc>) {
    let zone = role.cadence.zone();
    let today = now.with_timezone(&zone).date_naive();
    let midnight = |date: chrono::NaiveDate| {
        // Where midnight falls into a gap, the day begins with the first instant after it.
        (0..24)
            .filter_map(|hour| date.and_hms_opt(hour, 0, 0))
            .find_map(|local| zone.from_local_datetime(&local).earliest())
            .map_or(now, |local| local.with_timezone(&Utc))
    };
    (midnight(today), today.succ_opt().map_or(now, midnight))
}
