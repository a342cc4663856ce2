//! From a due slot, or an operator's wish, to a claimed row.

use std::collections::BTreeSet;

use carson_config::{Priority, Role};
use carson_core::admission::{Admission, Gate, LastFiring, SkipReason, Spent, admit, admit_forced};
use carson_core::settle::Halt;
use carson_core::stops::{during, forge_account};
use carson_core::work::WorkKey;
use carson_core::{AccountName, FiringId, RepoName};
use carson_store::{Claim, GateQuery, NewFiring, NewSkip, StoreError};
use chrono::{DateTime, TimeDelta, Utc};

use crate::accounts::{first_accounts, shares};
use crate::budget::{fleet_budgets, role_budget};
use crate::life;
use carson_home::Home;
use carson_home::calendar::day_of;

/// What became of the wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The row is ours: start its process.
    Won(FiringId),
    /// Not now; the slot stays due.
    Wait(String),
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
    /// When it is due, where that is still ahead: it begins no sooner.
    pub at: Option<DateTime<Utc>>,
    /// Older slots that this one stands for.
    pub missed: u32,
    /// Only this repository.
    pub repo: Option<RepoName>,
    /// Only this piece of work.
    pub work: Option<WorkKey>,
    /// Over what people set, by an operator who said why.
    pub forced: bool,
}

/// Asks admission and claims the row, or writes the quiet row that says why not.
///
/// # Errors
/// When the store does not answer.
pub async fn claim(home: &Home, role: &Role, wish: &Wish) -> Result<Claimed, ClaimError> {
    let mut claimed = claim_all(home, &[(role, wish.clone())]).await?;
    Ok(claimed.pop().unwrap_or(Claimed::Taken))
}

/// The same for many roles that are due together, in one read and one durable write for those that
/// fire, and one for those that do not: the last of them must not wait for all the others.
///
/// # Errors
/// When the store does not answer.
pub async fn claim_all(home: &Home, wishes: &[(&Role, Wish)]) -> Result<Vec<Claimed>, ClaimError> {
    let now = home.clock.now();
    // What ends with the hour, as limits and days do, does not stop the slot of the next one.
    let due = wishes.iter().filter_map(|(_, wish)| wish.at);
    let begins = due.max().map_or(now, |at| at.max(now));
    let roles: Vec<&Role> = wishes.iter().map(|(role, _)| *role).collect();
    let gates = gates(home, &roles, begins).await?;
    let mut claimed = Vec::with_capacity(wishes.len());
    let (mut wanted, mut skips) = (Vec::new(), Vec::new());
    for ((role, wish), mut gate) in wishes.iter().zip(gates) {
        // Those before it in this very pass will run too.
        gate.running_here += u32::try_from(wanted.len()).unwrap_or(u32::MAX);
        let admission = match wish.forced {
            true => admit_forced(&gate, begins),
            false => admit(&gate, begins),
        };
        claimed.push(match admission {
            Admission::Wait(why) => Claimed::Wait(why),
            Admission::Skip(reason) => {
                skips.extend(wish.slot.map(|slot| NewSkip {
                    role: role.name.clone(),
                    slot,
                    missed: wish.missed,
                    reason: reason.clone(),
                }));
                Claimed::Skipped(reason)
            }
            Admission::Admit(account) => {
                let mut firing = new_firing(home, role, wish, account, now);
                firing.probes = gate.breaker.opened_at;
                let id = firing.id;
                wanted.push(firing);
                Claimed::Won(id)
            }
        });
    }
    let store = &home.store;
    store.record_skips(&home.fleet.host, &skips, now).await?;
    let mut lost = lost(home, &wanted).await?;
    for one in &mut claimed {
        if matches!(one, Claimed::Won(id) if lost.remove(id)) {
            *one = Claimed::Taken;
        }
    }
    Ok(claimed)
}

/// Claims them; those that somebody else has, or runs.
async fn lost(home: &Home, wanted: &[NewFiring]) -> Result<BTreeSet<FiringId>, StoreError> {
    if wanted.is_empty() {
        return Ok(BTreeSet::new());
    }
    let claims = home.store.claim_firings(wanted).await?;
    let lost = wanted
        .iter()
        .zip(claims)
        .filter(|(_, claim)| *claim != Claim::Won);
    Ok(lost.map(|(firing, _)| firing.id).collect())
}

fn new_firing(
    home: &Home,
    role: &Role,
    wish: &Wish,
    account: Option<AccountName>,
    now: DateTime<Utc>,
) -> NewFiring {
    let limit = TimeDelta::from_std(role.limits.wall_clock).unwrap_or(TimeDelta::days(1));
    // What is claimed a moment before midnight, for midnight, counts to the day that it works in.
    let begins = wish.at.map_or(now, |at| at.max(now));
    NewFiring {
        id: FiringId::new(),
        role: role.name.clone(),
        slot: wish.slot,
        host: home.fleet.host.clone(),
        account,
        deadline_at: begins + limit,
        claimed_at: begins,
        missed: wish.missed,
        repo: wish.repo.clone(),
        work: wish.work,
        probes: None,
    }
}

/// What a firing of `role` halts with before its next session, which `account` would run: the stops
/// that are asked [again](carson_core::stops::during).
///
/// # Errors
/// When the store does not answer.
pub(crate) async fn again(
    home: &Home,
    role: &Role,
    account: &AccountName,
    has_begun: bool,
) -> Result<Option<Halt>, StoreError> {
    let now = home.clock.now();
    let mut gate = gate(home, role, now).await?;
    gate.accounts = vec![account.clone()];
    Ok(during(&gate, now, has_begun))
}

/// Everything admission looks at, for one role.
///
/// # Errors
/// When the store does not answer.
pub async fn gate(home: &Home, role: &Role, now: DateTime<Utc>) -> Result<Gate, StoreError> {
    let mut gates = gates(home, &[role], now).await?;
    Ok(gates.pop().unwrap_or_else(|| Gate::of(role.name.clone())))
}

/// The same of several roles, in their order.
///
/// # Errors
/// When the store does not answer.
pub async fn gates(
    home: &Home,
    roles: &[&Role],
    now: DateTime<Utc>,
) -> Result<Vec<Gate>, StoreError> {
    let queries: Vec<GateQuery<'_>> = roles
        .iter()
        .map(|role| GateQuery {
            role: &role.name,
            repos: &role.repos,
            day: day_of(role.cadence.zone(), now),
        })
        .collect();
    let mut gates = home.store.gates(&home.fleet.host, &queries).await?;
    // Asked of the system only when it matters.
    if gates.iter().any(|gate| gate.last == LastFiring::Runs) {
        let dead = life::dead(home).await?;
        for gate in &mut gates {
            if dead.iter().any(|row| row.role == gate.role) {
                gate.last = LastFiring::Died;
            }
        }
    }
    let fleet_budgets = fleet_budgets(&home.store, &home.fleet, now).await?;
    for (role, gate) in roles.iter().zip(&mut gates) {
        gate.shares = shares(home, role);
        gate.is_low = role.priority == Priority::Low;
        gate.cooldown = role.limits.cooldown;
        gate.budgets.clone_from(&fleet_budgets);
        gate.budgets.extend(role_budget(role, gate.spent_today));
        gate.asks_models = role.kind.has_sessions();
        gate.accounts = first_accounts(role);
        gate.forges = forges(home, role);
        gate.max_per_day = role.limits.max_firings_per_day;
        gate.max_here = home.fleet.max_firings;
        gate.elsewhere = (!home.fleet.runs(role)).then(|| role.hosts.clone());
        gate.overlap = role.overlap;
        gate.zone = role.cadence.zone();
    }
    Ok(gates)
}

/// What the whole fleet spent in its zone's day.
///
/// # Errors
/// When the store does not answer.
pub async fn spent_today(home: &Home, now: DateTime<Utc>) -> Result<Spent, StoreError> {
    home.store.spent(today(home, now)).await
}

/// The fleet's day: its first instant, and that of the next.
#[must_use]
pub fn today(home: &Home, now: DateTime<Utc>) -> (DateTime<Utc>, DateTime<Utc>) {
    day_of(home.fleet.zone, now)
}

/// The forges that the role works on, each once.
fn forges(home: &Home, role: &Role) -> Vec<AccountName> {
    let repos = role.repos.iter();
    let known = repos.filter_map(|name| home.fleet.repos.get(name));
    let forges: BTreeSet<AccountName> = known
        .filter_map(|repo| forge_account(repo.forge.name()))
        .collect();
    forges.into_iter().collect()
}
