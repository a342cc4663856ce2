//! Second tries: what a usage window would lose is spent on doing hard work once more, from the beginning.
//!
//! A firing that finds nothing new takes the hardest of the issues that it left as drafts, and does it anew: from the
//! base, on a branch of its own, and without having seen the first try. What comes of it is held against that
//! (`stages/held_against.rs`): the better one becomes, or stays, the pull request, and the other one stays on its ref.
//!
//! It keeps nobody from a first try: new work of every repository comes before it, it is made only while the host has
//! a place beside it, it counts as no attempt of the issue, and one that is not kept moves no breaker. The first try is
//! left alone until the second one is pushed.

use std::collections::BTreeMap;

use carson_config::{Repo, Role, Spare as Use};
use carson_core::outcome::Outcome;
use carson_core::spare::{Asks, Kept, SOON, Spare, soon, spare};
use carson_core::work::WorkKey;
use carson_core::{AccountName, FiringId, RoleName};
use carson_forge::{Forge, Issue, PullState};
use carson_home::Home;
use carson_store::{Firing as Row, StoreError};
use tracing::debug;

use crate::accounts::first_accounts;
use crate::admit;
use crate::ctx::Ctx;
use crate::night::night;
use crate::reached::FirstTry;
use crate::record::Record;

/// Issues of one repository whose earlier firings are looked at.
const LOOKED_AT: usize = 20;

/// What a role's account would lose, or why nothing; `None` of a role that does not ask for it.
///
/// # Errors
/// When the store does not answer.
pub async fn left_over(
    home: &Home,
    role: &Role,
) -> Result<Option<Result<Spare, Kept>>, StoreError> {
    match first_accounts(role).first() {
        Some(account) => of_account(home, role, account, None).await,
        None => Ok(None),
    }
}

/// The same of a firing's own account; nothing for who was told what to work on.
pub(crate) async fn spare_of(ctx: &Ctx<'_>, rec: &Record) -> Result<Option<Spare>, StoreError> {
    let account = rec.writer(ctx).map(|account| account.name.clone());
    let Some(account) = account.filter(|_| ctx.wanted.work.is_none()) else {
        return Ok(None);
    };
    let found = of_account(ctx.home, ctx.role, &account, Some(ctx.id)).await?;
    if let Some(Err(kept)) = &found {
        debug!(firing.id = %ctx.id, %kept, "nothing is left over for a second try");
    }
    Ok(found.and_then(Result::ok))
}

/// What is asked last costs most: the night is read only where a window is about to start again.
async fn of_account(
    home: &Home,
    role: &Role,
    account: &AccountName,
    firing: Option<FiringId>,
) -> Result<Option<Result<Spare, Kept>>, StoreError> {
    match role.spare {
        Some(Use::SecondTry) if role.enabled => {}
        _ => return Ok(None),
    }
    let now = home.clock.now();
    let windows = home.store.windows().await?;
    let begins = match soon(&windows, account, now) {
        Ok(begins) => begins,
        Err(kept) => return Ok(Some(Err(kept))),
    };
    let gate = admit::gate(home, role, now).await?;
    // Its own place is one of them once it runs.
    let taken = gate.running_here + u32::from(firing.is_none());
    if taken >= gate.max_here {
        return Ok(Some(Err(Kept::Crowded)));
    }
    let tried = home.store.second_tries(account, begins).await?;
    let running = running(home, firing).await?;
    let night = night(home, windows, (now, now + SOON)).await?;
    let mut roles = night.roles.iter();
    let own = roles.find(|facts| facts.role == role.name);
    Ok(own.map(|own| {
        let asks = Asks {
            role: own,
            account,
            is_counted: firing.is_some(),
            running: &running,
            begins,
            tried,
        };
        spare(&night, &asks)
    }))
}

/// Roles of which a firing runs now, on whichever host; this one is none of them.
async fn running(home: &Home, asks: Option<FiringId>) -> Result<Vec<RoleName>, StoreError> {
    let rows = home.store.live_firings(None).await?.into_iter();
    let others = rows.filter(|row| asks != Some(row.id));
    Ok(others.map(|row| row.role).collect())
}

/// Those of a queue's issues that have a first try, each with that.
pub(crate) async fn first_tries(
    ctx: &Ctx<'_>,
    (repo, forge): (&Repo, &Forge),
    ready: &[Issue],
    spare: &Spare,
) -> Result<BTreeMap<u64, FirstTry>, StoreError> {
    let mut tries = BTreeMap::new();
    for issue in ready.iter().take(LOOKED_AT) {
        let key = WorkKey::Issue(issue.number);
        let rows = ctx.store().firings_of(&repo.name, key).await?;
        if let Some((first, branch)) = first_try(&rows, &ctx.role.name, spare)
            && is_open(forge, first.pull, branch).await
        {
            tries.insert(issue.number, first);
        }
    }
    Ok(tries)
}

/// The draft that the role's earlier firings left, and its branch, as rows have them. There is one second try beside a
/// draft, and in a window one of an issue; and what took more than is left over is not begun again.
fn first_try<'r>(rows: &'r [Row], role: &RoleName, spare: &Spare) -> Option<(FirstTry, &'r str)> {
    let mut newest = rows.iter().rev();
    let row = newest.find(|row| row.role == *role && row.pr_number.is_some())?;
    let pull = row.pr_number?;
    let was_tried = |row: &Row| {
        let lately = row.claimed_at >= spare.begins;
        row.second_try.is_some_and(|first| first == pull || lately)
    };
    let tokens = |row: &Row| row.tokens_in.saturating_add(row.tokens_out);
    let most = rows.iter().map(tokens).max().unwrap_or(0);
    if rows.iter().any(was_tried) || !spare.has_room_for(most) {
        return None;
    }
    let blamed = |row: &&Row| row.outcome.is_some_and(Outcome::blames_the_work);
    let failed = u32::try_from(rows.iter().filter(blamed).count());
    let first = FirstTry {
        pull,
        failed: failed.unwrap_or(u32::MAX),
    };
    let branch = row.goes_on.as_ref().or(row.branch.as_ref())?;
    Some((first, branch))
}

/// Whether people have neither taken it up nor ended it. What cannot be asked is none.
async fn is_open(forge: &Forge, pull: u64, branch: &str) -> bool {
    let pull = forge.pull(pull).await;
    pull.is_ok_and(|pull| pull.state == PullState::Open && pull.draft && pull.head == branch)
}

#[cfg(test)]
mod tests;
