//! Which accounts a session may have, in which order, and which of them can be used now.

use carson_config::{Account, Priority};
use carson_core::admission::{Gate, admit_account};
use carson_core::stops::with_room;
use carson_core::{AccountName, Stage};
use tracing::warn;

use crate::accounts::shares;
use crate::ctx::Ctx;
use crate::record::Record;

/// The accounts of a stage, in order of preference, without those that the firing left. Who judges is of
/// another vendor than who wrote, as long as there is one in the same list.
pub(crate) fn accounts_of(ctx: &Ctx<'_>, rec: &Record, stage: Stage) -> Vec<AccountName> {
    let [own, roles] = ctx.role.accounts_of(stage);
    // The plan and the work of a firing stay with whom it was given to; a judge without a route of its own
    // is the firing's own account before it is the role's.
    let (first, second) = match stage.judges() {
        true => (None, rec.tally().account.as_ref()),
        false => (rec.chosen.as_ref(), None),
    };
    let first = first.filter(|name| !rec.left.contains(name));
    let lists: [Vec<&AccountName>; 2] = [
        own.iter().collect(),
        second.into_iter().chain(roles).collect(),
    ];
    let writer = rec.writer(ctx).map(Account::vendor);
    let mut all: Vec<AccountName> = first.into_iter().cloned().collect();
    for mut list in lists {
        if stage.judges() && ctx.role.other_vendor {
            // The order within either vendor stays.
            list.sort_by_key(|name| vendor(ctx, name) == writer);
        }
        for name in list {
            if !all.contains(name) && !rec.left.contains(name) {
                all.push(name.clone());
            }
        }
    }
    all
}

/// Whose model an account asks; `None` for one that the settings do not have.
pub(crate) fn vendor<'h>(ctx: &Ctx<'h>, name: &AccountName) -> Option<&'h str> {
    let account = ctx.home.fleet.accounts.get(name);
    account.map(Account::vendor)
}

/// The first of these accounts that is of another vendor, and can be used.
pub(crate) async fn of_another_vendor(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    accounts: &[AccountName],
    than: &str,
) -> Option<AccountName> {
    for name in accounts {
        let is_other = vendor(ctx, name).is_some_and(|vendor| vendor != than);
        if is_other && can_be_used(ctx, rec, name).await {
            return Some(name.clone());
        }
    }
    None
}

/// Whether an account can be asked now: it is not blocked, its CLI is there, and somebody is signed in.
pub(crate) async fn can_be_used(ctx: &Ctx<'_>, rec: &mut Record, name: &AccountName) -> bool {
    is_free(ctx, name).await && is_ready(ctx, rec, name).await
}

/// The same, and its usage windows leave something for the role.
pub(crate) async fn has_room(ctx: &Ctx<'_>, rec: &mut Record, name: &AccountName) -> bool {
    let Ok(windows) = ctx.store().windows().await else {
        return false;
    };
    let gate = Gate {
        accounts: vec![name.clone()],
        windows,
        shares: shares(ctx.home, ctx.role),
        is_low: ctx.role.priority == Priority::Low,
        ..Gate::of(ctx.role.name.clone())
    };
    let leaves_room = !with_room(&gate, ctx.now()).is_empty();
    leaves_room && can_be_used(ctx, rec, name).await
}

async fn is_free(ctx: &Ctx<'_>, name: &AccountName) -> bool {
    let now = ctx.home.clock.now();
    let blocks = ctx.store().blocks().await;
    blocks.is_ok_and(|blocks| admit_account(std::slice::from_ref(name), &blocks, now).is_ok())
}

async fn is_ready(ctx: &Ctx<'_>, rec: &mut Record, name: &AccountName) -> bool {
    let Some(account) = ctx.home.fleet.accounts.get(name) else {
        return false;
    };
    let ready = carson_checks::account_is_usable(&ctx.firing(), &mut rec.checks, account).await;
    if let Err(failed) = &ready {
        warn!(firing.id = %ctx.id, account = %name, ?failed, "an account cannot be used");
    }
    ready.is_ok()
}
