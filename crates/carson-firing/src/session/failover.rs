//! The next account of a role: when the first session of a firing meets a limit or a provider that is
//! down, or when a session could not do what it was asked.

use carson_config::Account;
use carson_core::admission::admit_account;
use carson_core::event::Failover;
use carson_core::{AccountName, Event};
use tracing::{info, warn};

use crate::ctx::Ctx;
use crate::record::Record;

/// Moves the firing to the next account of its role that is not blocked and can be used; `false`
/// when there is none.
pub(super) async fn moves_on(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    from: &Account,
    why: Failover,
) -> bool {
    for name in after(ctx, from) {
        if is_free(ctx, name).await && can_be_used(ctx, rec, name).await {
            take(ctx, rec, from, name, why).await;
            return true;
        }
    }
    false
}

/// Whether the role lists another account behind this one.
pub(super) fn has_next(ctx: &Ctx<'_>, from: &Account) -> bool {
    after(ctx, from).next().is_some()
}

fn after<'c>(ctx: &'c Ctx<'_>, from: &'c Account) -> impl Iterator<Item = &'c AccountName> {
    let all = ctx.role.engines.iter();
    all.skip_while(|name| **name != from.name).skip(1)
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

async fn take(ctx: &Ctx<'_>, rec: &mut Record, from: &Account, to: &AccountName, why: Failover) {
    info!(firing.id = %ctx.id, from = %from.name, %to, ?why, "the firing goes on with the next account");
    rec.count(ctx, |tally| tally.account = Some(to.clone()))
        .await;
    let event = Event::AccountFailover {
        from: from.name.clone(),
        to: to.clone(),
        why,
    };
    ctx.event(&event).await;
}
