//! What is asked again before every session.

use carson_config::Account;
use carson_core::settle::Halt;
use carson_store::Probe;

use crate::admit;
use crate::budget;
use crate::ctx::Ctx;
use crate::record::Record;
use carson_home::halt::OrBroken;

/// Whether another session may begin. What it would halt with, where only its account cannot be asked
/// now, because another firing asks whether the provider is back; an error is any other stop.
pub(super) async fn may_start(ctx: &Ctx<'_>, rec: &Record) -> Result<Option<Halt>, Halt> {
    if ctx.cancel.is_cancelled() {
        return Err(Halt::Cancelled);
    }
    if ctx.remaining().is_zero() {
        return Err(Halt::TimedOut("the wall clock ran out".into()));
    }
    if budget::own_left(ctx, rec).is_some_and(|left| left <= 0.0) {
        return Err(Halt::OutOfMoney);
    }
    let account = rec.required_account(ctx)?;
    if let Some(halt) = stopped(ctx, rec, account).await? {
        return Err(halt);
    }
    let probe = ctx.store().take_probe(&account.name, ctx.id, ctx.now());
    match probe.await.or_broken("asking who asks the provider")? {
        Probe::Unneeded | Probe::Ours => Ok(None),
        // By that the account is blocked again.
        Probe::Others => stopped(ctx, rec, account).await,
    }
}

async fn stopped(ctx: &Ctx<'_>, rec: &Record, account: &Account) -> Result<Option<Halt>, Halt> {
    let has_begun = rec.tally().sessions > 0;
    let again = admit::again(ctx.home, ctx.role, &account.name, has_begun);
    again.await.or_broken("reading the stops")
}
