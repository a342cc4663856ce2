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
use crate::stages::{baseline, coverage, workspace};
use carson_bench::bench::{Bench, MARKER};

/// Time between SIGTERM and SIGKILL for what the check may have left running.
const GRACE: Duration = Duration::from_secs(2);

/// What was found out there.
pub(crate) struct Asked {
    /// How the check failed on the base, if it did.
    pub failed_before: Option<FailedBefore>,
    /// What its sessions would be told of the file that tests are to be written for.
    pub aim: Option<String>,
}

/// What a firing of this account that takes this work would halt with, or what it would find.
pub(crate) async fn ask(
    ctx: &Ctx<'_>,
    account: AccountName,
    taken: &Taken<'_>,
) -> Result<Asked, Halt> {
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
) -> Result<Asked, Halt> {
    let within = tokio::time::timeout(ctx.role.limits.wall_clock, async {
        let placed = workspace::run(ctx, rec, place, Picked { taken }).await?;
        let placed = baseline::run(ctx, rec, placed).await?;
        let placed = coverage::aim(ctx, rec, placed).await?;
        Ok(Asked {
            aim: placed.place.aim.as_ref().map(|aim| aim.told.clone()),
            failed_before: placed.failed_before,
        })
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
