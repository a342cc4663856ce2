//! What is asked again before every session.

use std::time::{Duration, Instant};

use carson_config::Account;
use carson_core::settle::Halt;
use carson_store::{Outage, Probe};

use super::failover;
use crate::admit;
use crate::budget;
use crate::ctx::Ctx;
use crate::record::Record;
use carson_home::halt::OrBroken;

/// How long a firing waits for another one that asks whether their provider is back.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it looks meanwhile.
const LOOKS_EVERY: Duration = Duration::from_millis(500);

/// Whether another session may begin. What the firing halts with, where only the provider of its account
/// is down: another account may do; an error is any other stop.
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
    let begun = Instant::now();
    let patience = PATIENCE.min(ctx.role.limits.wall_clock / 2);
    let may_wait = !failover::has_next(ctx, account);
    loop {
        if let Some(halt) = stopped(ctx, rec, account).await? {
            let outage = ctx.store().outage(&account.name, ctx.now()).await;
            match outage.or_broken("reading what is done about an outage")? {
                Some(Outage::IsAsked) if may_wait && begun.elapsed() < patience => {}
                Some(_) => return Ok(Some(halt)),
                None => return Err(halt),
            }
        } else if may_ask(ctx, account).await? {
            // Only who may go on asks.
            return Ok(None);
        }
        tokio::select! {
            () = ctx.cancel.cancelled() => return Err(Halt::Cancelled),
            () = tokio::time::sleep(LOOKS_EVERY) => {}
        }
    }
}

/// Whether the account's provider may be asked, by its next session or by this one alone.
async fn may_ask(ctx: &Ctx<'_>, account: &Account) -> Result<bool, Halt> {
    let probe = ctx.store().take_probe(&account.name, ctx.id, ctx.now());
    let probe = probe.await.or_broken("asking who asks the provider")?;
    Ok(probe != Probe::Others)
}

async fn stopped(ctx: &Ctx<'_>, rec: &Record, account: &Account) -> Result<Option<Halt>, Halt> {
    let has_begun = rec.tally().sessions > 0;
    let again = admit::again(ctx.home, ctx.role, &account.name, has_begun);
    again.await.or_broken("reading the stops")
}
