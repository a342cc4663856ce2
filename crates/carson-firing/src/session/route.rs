//! Each stage's session has the account that the role wants for it: another one for who judges, until it
//! has judged, and for good where the role gives the work to another one.

use carson_config::Account;
use carson_core::event::Routed;
use carson_core::settle::Halt;
use carson_core::{AccountName, Event, Stage};
use tracing::info;

use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::routing;

/// Gives the stage to the first of its accounts that can be used, and says which, where that is not simply
/// the firing's own.
pub(super) async fn enter(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    stage: Stage,
) -> Result<(), Halt> {
    let own = rec.required_account(ctx)?.name.clone();
    let listed = routing::accounts_of(ctx, rec, stage);
    let picked = pick(ctx, rec, &listed, &own).await;
    let why = why(ctx, rec, stage, &listed, &picked);
    if picked != own {
        info!(firing.id = %ctx.id, %stage, from = %own, to = %picked, ?why, "the stage has another account");
    }
    give(ctx, rec, stage, &picked).await;
    let is_news = |why: &Routed| picked != own || *why != Routed::Route;
    if let Some(why) = why.filter(is_news) {
        let account = picked.clone();
        ctx.event(&Event::RoutedTo {
            stage,
            account,
            why,
        })
        .await;
        if why == Routed::SameVendor {
            ctx.warns(&format!(
                "no account of another vendor can be used now: {picked} judges what its own vendor wrote"
            ));
        }
    }
    if picked == own {
        return Ok(());
    }
    rec.open_proxy_anew(ctx, &placed.place.bench.root).await
}

/// Whoever judged has judged: what follows is the firing's own account's again.
pub(super) async fn leave(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
) -> Result<(), Halt> {
    match rec.judge.take() {
        Some(_) => rec.open_proxy_anew(ctx, &placed.place.bench.root).await,
        None => Ok(()),
    }
}

/// From now on this account answers for the stage.
pub(super) async fn give(ctx: &Ctx<'_>, rec: &mut Record, stage: Stage, to: &AccountName) {
    if stage.judges() {
        let is_own = rec.tally().account.as_ref() == Some(to);
        rec.judge = (!is_own).then(|| to.clone());
        if rec.tally().reviewed_by.as_ref() != Some(to) {
            rec.count(ctx, |tally| tally.reviewed_by = Some(to.clone()))
                .await;
        }
    } else if rec.tally().account.as_ref() != Some(to) {
        rec.count(ctx, |tally| tally.account = Some(to.clone()))
            .await;
    }
}

/// The first that can be used; where none can be, the gate says why of the first. The firing's own account is
/// left to the gate, as before every session.
async fn pick(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    listed: &[AccountName],
    own: &AccountName,
) -> AccountName {
    for name in listed {
        if name == own || routing::has_room(ctx, rec, name).await {
            return name.clone();
        }
    }
    listed.first().unwrap_or(own).clone()
}

/// Why it is this one; `None` where there is nothing to say.
fn why(
    ctx: &Ctx<'_>,
    rec: &Record,
    stage: Stage,
    listed: &[AccountName],
    picked: &AccountName,
) -> Option<Routed> {
    let writer = rec.writer(ctx).map(Account::vendor);
    let is_other = |name: &AccountName| routing::vendor(ctx, name) != writer;
    let judges = stage.judges() && ctx.role.other_vendor;
    if judges && !is_other(picked) && listed.iter().any(is_other) {
        return Some(Routed::SameVendor);
    }
    let [route, _] = ctx.role.accounts_of(stage);
    if route.first() == Some(picked) {
        return Some(Routed::Route);
    }
    if judges && is_other(picked) {
        return Some(Routed::OtherVendor);
    }
    (listed.first() != Some(picked)).then_some(Routed::Fallback)
}
