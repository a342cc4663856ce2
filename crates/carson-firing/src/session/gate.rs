//! What is asked again before every session.

use carson_core::settle::Halt;

use crate::admit;
use crate::budget;
use crate::ctx::Ctx;
use crate::record::Record;
use carson_home::halt::OrBroken;

/// Whether another session may begin.
pub(super) async fn may_start(ctx: &Ctx<'_>, rec: &Record) -> Result<(), Halt> {
    if ctx.cancel.is_cancelled() {
        return Err(Halt::Cancelled);
    }
    if ctx.remaining().is_zero() {
        return Err(Halt::TimedOut("the wall clock ran out".into()));
    }
    if budget::own_left(ctx, rec).is_some_and(|left| left <= 0.0) {
        return Err(Halt::OutOfMoney);
    }
    let (account, has_begun) = (rec.required_account(ctx)?, rec.tally().sessions > 0);
    let again = admit::again(ctx.home, ctx.role, &account.name, has_begun);
    match again.await.or_broken("reading the stops")? {
        Some(halt) => Err(halt),
        None => Ok(()),
    }
}
