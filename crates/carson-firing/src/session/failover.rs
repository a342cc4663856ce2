//! The next account, when the first session of a firing meets a limit.

use carson_config::Account;
use carson_core::admission::admit_account;
use carson_core::{AccountName, Event};
use tracing::{info, warn};

use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;

/// Moves the firing to the next account of its role that is not blocked and can be used; `false`
/// when there is none, or when work exists already.
pub(super) async fn moves_on(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    from: &Account,
) -> bool {
    if !placed.place.is_untouched().await {
        return false;
    }
    let after = ctx
        .role
        .engines
        .iter()
        .skip_while(|name| **name != from.name);
    for name in after.skip(1) {
        if is_free(ctx, name).await && can_be_used(ctx, rec, name).await {
            take(ctx, rec, from, name).await;
            return true;
        }
    }
    false
}

pub(crate) async fn is_free(ctx: &Ctx<'_>, name: &AccountName) -> bool {
    let now = ctx.home.clock.now();
    let blocks = ctx.store().blocks().await;
    blocks.is_ok_and(|blocks| admit_account(std::slice::from_ref(name), &blocks, now).is_ok())
}

pub(crate) async fn can_be_used(ctx: &Ctx<'_>, rec: &mut Record, name: &AccountName) -> bool {
    let Some(account) = ctx.home.fleet.accounts.get(name) else {
        return false;
    };
    let ready = carson_checks::account_is_usable(&ctx.firing(), &mut rec.checks, account).await;
    if let Err(failed) = &ready {
        warn!(firing.id = %ctx.id, account = %name, ?failed, "the next account cannot be used");
    }
    ready.is_ok()
}

async fn take(ctx: &Ctx<'_>, rec: &mut Record, from: &Account, to: &AccountName) {
    info!(firing.id = %ctx.id, from = %from.name, %to, "the firing goes on with the next account");
    rec.count(ctx, |tally| tally.account = Some(to.clone()))
        .await;
    let event = Event::AccountFailover {
        from: from.name.clone(),
        to: to.clone(),
    };
    ctx.event(&event).await;
}
