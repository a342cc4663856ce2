//! Second tries: what a usage window would lose is spent on doing hard work once more, from the beginning.
//!
//! A firing that finds nothing new takes the hardest issue of its queue that it left as a draft, and does it anew: from
//! the base, on a branch of its own, and without having seen the first try. What comes of it is held against that
//! (`stages/held_against.rs`): the better one becomes, or stays, the pull request, and the other one stays on its ref. No attempt of
//! the issue is counted, and the first try is left alone until the second one is pushed.

use std::collections::BTreeMap;

use carson_config::{Repo, Role, Spare as Use};
use carson_core::outcome::Outcome;
use carson_core::settle::{Facts, SecondTry};
use carson_core::spare::{Kept, Known, SOON, Spare, spare};
use carson_core::work::WorkKey;
use carson_core::{AccountName, RoleName};
use carson_forge::{Forge, Issue, PullState};
use carson_home::Home;
use carson_store::{Filter, Firing as Row, StoreError};
use chrono::{DateTime, TimeDelta, Utc};

use crate::accounts::first_accounts;
use crate::ctx::Ctx;
use crate::reached::Taken;
use crate::record::Record;

/// Issues whose earlier firings are looked at.
const LOOKED_AT: usize = 20;
/// The longest window that is known.
const LONGEST: TimeDelta = TimeDelta::days(7);
/// Firings of that time that are counted, and slots of one role.
const FIRINGS: u32 = 2_000;
const SLOTS: usize = 120;

/// The draft beside which a firing tries again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FirstTry {
    /// Its pull request.
    pub pull: u64,
    /// The branch of that.
    pub branch: String,
}

/// What a role's account would lose, or why nothing; `None` of a role that does not ask for it.
///
/// # Errors
/// When the store does not answer.
pub async fn left_over(home: &Home, role: &Role) -> Result<Option<Result<Spare, Kept>>, StoreError> {
    let Some(account) = first_accounts(role).into_iter().next() else {
        return Ok(None);
    };
    of_account(home, role, &account).await
}

async fn of_account(
    home: &Home,
    role: &Role,
    account: &AccountName,
) -> Result<Option<Result<Spare, Kept>>, StoreError> {
    match role.spare {
        None => Ok(None),
        Some(Use::SecondTry) => {
            let now = home.clock.now();
            let known = known(home, role, account, now).await?;
            Ok(Some(spare(&known, now)))
        }
    }
}

/// The same of a firing's own account; nothing for who was told what to work on.
pub(crate) async fn spare_of(ctx: &Ctx<'_>, rec: &Record) -> Result<Option<Spare>, StoreError> {
    let account = rec.writer(ctx).map(|account| account.name.clone());
    let Some(account) = account.filter(|_| ctx.wanted.work.is_none()) else {
        return Ok(None);
    };
    let found = of_account(ctx.home, ctx.role, &account).await?;
    Ok(found.and_then(Result::ok))
}

async fn known(
    home: &Home,
    role: &Role,
    account: &AccountName,
    now: DateTime<Utc>,
) -> Result<Known, StoreError> {
    let settings = home.fleet.accounts.get(account);
    let filter = Filter {
        role: None,
        since: Some(now - LONGEST),
        skipped: false,
        limit: FIRINGS,
    };
    let rows = home.store.firings(&filter).await?;
    let of = |row: &&Row| row.account.as_ref() == Some(account) && row.sessions > 0;
    let tried = |row: &&Row| row.role == role.name && row.second_try.is_some();
    Ok(Known {
        account: account.clone(),
        windows: home.store.windows().await?,
        reserve: settings.map_or(0.0, |account| account.reserve),
        due: due(home, account, &role.name, now),
        began: rows.iter().filter(of).map(|row| row.claimed_at).collect(),
        tried: rows.iter().filter(tried).map(|row| row.claimed_at).collect(),
    })
}

/// When other roles that begin with the account are due soon. What this one finds at its slots is what it asks for.
fn due(home: &Home, account: &AccountName, asks: &RoleName, now: DateTime<Utc>) -> Vec<DateTime<Utc>> {
    let roles = home.fleet.roles.values();
    let others = roles.filter(|role| role.enabled && role.name != *asks);
    let theirs = others.filter(|role| first_accounts(role).first() == Some(account));
    let mut due = Vec::new();
    for role in theirs {
        let slots = std::iter::successors(role.cadence.next_after(now), |at| role.cadence.next_after(*at));
        due.extend(slots.take_while(|at| *at - now <= SOON).take(SLOTS));
    }
    due
}

/// The issues of a queue in the order in which a firing with something to spare takes them: what is new first, then
/// the hardest of those that have a first try, each with that.
pub(crate) async fn in_order(
    ctx: &Ctx<'_>,
    (repo, forge): (&Repo, &Forge),
    ready: Vec<Issue>,
) -> Result<Vec<(Issue, Option<FirstTry>)>, StoreError> {
    let mut tries = BTreeMap::new();
    for issue in ready.iter().take(LOOKED_AT) {
        if let Some(found) = first_try(ctx, repo, forge, issue.number).await? {
            tries.insert(issue.number, found);
        }
    }
    let hardness = |issue: &Issue| tries.get(&issue.number).map(|(_, failed)| *failed);
    let mut ordered = ready;
    // What is new keeps its order; of the others most failed attempts, then the oldest.
    ordered.sort_by_key(|issue| match hardness(issue) {
        None => (0, 0, 0),
        Some(failed) => (1, u32::MAX - failed, issue.number),
    });
    let with_first = |issue: Issue| {
        let first = tries.get(&issue.number).map(|(first, _)| first.clone());
        (issue, first)
    };
    Ok(ordered.into_iter().map(with_first).collect())
}

/// The open draft of the role's earlier firings, beside which none tried again yet, and how many attempts failed.
async fn first_try(
    ctx: &Ctx<'_>,
    repo: &Repo,
    forge: &Forge,
    issue: u64,
) -> Result<Option<(FirstTry, u32)>, StoreError> {
    let rows = ctx.store().firings_of(&repo.name, WorkKey::Issue(issue)).await?;
    let mut newest = rows.iter().rev();
    let newest = newest.find(|row| row.role == ctx.role.name && row.pr_number.is_some());
    let Some((row, pull)) = newest.and_then(|row| Some((row, row.pr_number?))) else {
        return Ok(None);
    };
    let branch = row.goes_on.as_ref().or(row.branch.as_ref());
    let Some(branch) = branch.filter(|_| rows.iter().all(|row| row.second_try != Some(pull))) else {
        return Ok(None);
    };
    // What cannot be asked is none.
    let Ok(found) = forge.pull(pull).await else {
        return Ok(None);
    };
    if found.state != PullState::Open || !found.draft || found.head != *branch {
        return Ok(None);
    }
    let failed = rows.iter().filter(|row| row.outcome.is_some_and(Outcome::blames_the_work));
    let first = FirstTry {
        pull,
        branch: branch.clone(),
    };
    Ok(Some((first, u32::try_from(failed.count()).unwrap_or(u32::MAX))))
}

/// What a firing that was one came to, as settle has it: until it was held against the first, that is not finished.
pub(crate) fn note(taken: Option<&Taken<'_>>, found: Option<SecondTry>, facts: &mut Facts) {
    let first = taken.and_then(|taken| taken.first.as_ref());
    facts.second = first.map(|first| found.unwrap_or_else(|| SecondTry::unfinished(first.pull)));
}
