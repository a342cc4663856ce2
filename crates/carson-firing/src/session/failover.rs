//! The next account of a role: when the first session of a firing meets a limit or a provider that is
//! down, or when a session could not do what it was asked.

use carson_config::Account;
use carson_core::event::Failover;
use carson_core::{AccountName, Event, Stage};
use tracing::info;

use super::route;
use crate::ctx::Ctx;
use crate::record::Record;
use crate::routing;

/// Moves the firing to the next account of this stage that is not blocked and can be used; `false`
/// when there is none.
pub(super) async fn moves_on(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    stage: Stage,
    from: &Account,
    why: Failover,
) -> bool {
    for name in after(ctx, rec, stage, from) {
        if routing::can_be_used(ctx, rec, &name).await {
            take(ctx, rec, stage, (from, &name), why).await;
            return true;
        }
    }
    false
}

/// Whether there is another account for this stage behind this one.
pub(super) fn has_next(ctx: &Ctx<'_>, rec: &Record, stage: Stage, from: &Account) -> bool {
    !after(ctx, rec, stage, from).is_empty()
}

fn after(ctx: &Ctx<'_>, rec: &Record, stage: Stage, from: &Account) -> Vec<AccountName> {
    let all = routing::accounts_of(ctx, rec, stage).into_iter();
    all.skip_while(|name| *name != from.name).skip(1).collect()
}

async fn take(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    stage: Stage,
    (from, to): (&Account, &AccountName),
    why: Failover,
) {
    info!(firing.id = %ctx.id, from = %from.name, %to, ?why, "the firing goes on with the next account");
    if !stage.judges() {
        rec.left.push(from.name.clone());
    }
    route::give(ctx, rec, stage, to).await;
    let event = Event::AccountFailover {
        from: from.name.clone(),
        to: to.clone(),
        why,
    };
    ctx.event(&event).await;
}
