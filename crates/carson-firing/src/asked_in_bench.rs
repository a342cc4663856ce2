//! What a firing asks in its bench before a model is paid, asked without a firing: the setup, who its sessions
//! would be, and the promise on the untouched base.
//!
//! The bench is one of its own and goes again. Should this process be killed, it is one that no row knows,
//! and `prune` removes it.

use std::time::Duration;

use carson_core::AccountName;
use carson_core::settle::Halt;
use carson_git::GitError;

use crate::ctx::Ctx;
use crate::placed::FailedBefore;
use crate::reached::{Place, Taken};
use crate::record::Record;
use crate::stages::pick::Picked;
use crate::stages::{baseline, workspace};
use carson_bench::bench::{Bench, MARKER};

/// Time between SIGTERM and SIGKILL for what the check may have left running.
const GRACE: Duration = Duration::from_secs(2);

/// What a firing of this account that takes this work would halt with, or how its check failed on the base.
pub(crate) async fn ask(
    ctx: &Ctx<'_>,
    account: AccountName,
    taken: &Taken<'_>,
) -> Result<Option<FailedBefore>, Halt> {
    let (mut rec, mut place) = (Record::with(account), None);
    let asked = asked(ctx, &mut rec, &mut place, taken).await;
    rec.close_proxy(ctx).await;
    if let Err(error) = remove(ctx, place).await {
        ctx.warns(&format!(
            "the workspace that was looked in stays, and `carson prune` removes it: {error}"
        ));
    }
    asked
}

async fn asked(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    place: &mut Option<Place>,
    taken: &Taken<'_>,
) -> Result<Option<FailedBefore>, Halt> {
    let within = tokio::time::timeout(ctx.role.limits.wall_clock, async {
        let placed = workspace::run(ctx, rec, place, Picked { taken }).await?;
        let placed = baseline::run(ctx, rec, placed).await?;
        Ok(placed.failed_before)
    });
    within
        .await
        .unwrap_or_else(|_| Err(Halt::TimedOut("the wall clock ran out".into())))
}

async fn remove(ctx: &Ctx<'_>, place: Option<Place>) -> Result<(), GitError> {
    carson_proc::reap_marked(MARKER, &ctx.id.to_string(), GRACE).await;
    if let Some(mut place) = place {
        place.inspect().await?.put_away(None).await?;
    }
    let bench = Bench::of(ctx.home, ctx.id);
    match bench.root.symlink_metadata() {
        Ok(_) => bench.remove(ctx.home).await,
        // It did not come that far.
        Err(_) => Ok(()),
    }
}
