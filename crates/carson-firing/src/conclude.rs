//! How every firing ends, alive or dead: settle → salvage → report → teardown.

use carson_core::settle::{Facts, Goal, Settled};
use carson_core::{Outcome, Stage};
use tracing::info;

use crate::ctx::Ctx;
use crate::effects::{Bearer, Carried};
use crate::ended::{Ended, FiringError};
use crate::older_drafts;
use crate::reached::Reached;
use crate::record::Record;
use crate::roles::{self, Closing};
use crate::saved::{Saved, without_a_pull};
use crate::stages::{report, salvage, teardown};

/// Carries out what was settled. Safe to repeat from the start after a crash at any point.
///
/// The order of effects is what makes it safe: the outcome is written before anything is done
/// about it; the branch is pushed before the row says what follows from it; the row says so before the
/// forge hears of it, and that the firing ended before anything is deleted.
pub(crate) async fn conclude(
    ctx: &Ctx<'_>,
    rec: &Record,
    reached: &mut Reached<'_>,
    settled: Settled,
    facts: &Facts,
) -> Result<Ended, FiringError> {
    let sentinel = facts
        .sentinel
        .as_ref()
        .map(|sentinel| sentinel.token().to_owned());
    ctx.as_firing()
        .settle_firing(&settled, sentinel.as_deref(), facts)
        .await?;
    let saved = salvage::run(ctx, reached, &settled).await;
    let mut settled = saved.delivered(settled, facts.goal);
    settled.reason = ctx.redacted(&settled.reason);
    ctx.enter(Stage::Report).await;
    let (mut settled, carried) = deliver(ctx, rec, reached, settled, facts, &saved).await?;
    let taken = reached.taken.as_ref();
    let told = report::run(ctx, rec, taken, (&settled, facts), &saved, &carried).await?;
    settled.reason = told;
    info!(firing.id = %ctx.id, firing.outcome = %settled.outcome, reason = %settled.reason, "firing ended");
    teardown::run(ctx, rec, reached.place.as_mut(), &saved).await;
    Ok(Ended {
        id: ctx.id,
        settled,
    })
}

/// Decides what follows on the forge, writes it down, and does it. Finished work whose pull request
/// the forge will not have is not done.
async fn deliver(
    ctx: &Ctx<'_>,
    rec: &Record,
    reached: &Reached<'_>,
    settled: Settled,
    facts: &Facts,
    saved: &Saved,
) -> Result<(Settled, Carried), FiringError> {
    let Some(taken) = &reached.taken else {
        return Ok((settled, Carried::default()));
    };
    let closing = Closing {
        ctx,
        rec,
        taken,
        place: reached.place.as_ref(),
        settled: &settled,
        facts,
        saved,
        older: older_drafts::of_work(ctx, taken).await?,
    };
    let effects = (roles::kind_of(ctx.role).effects)(&closing);
    let planned = ctx.as_firing().plan_effects(&settled, &effects).await?;
    let settled = planned.delivered;
    let carried = Bearer::of(ctx, taken).carry_out(&planned.effects).await?;
    if let Some(why) = &carried.not_merged {
        let why = ctx.redacted(&format!("not merged: {why}"));
        return Ok((Settled::new(Outcome::Partial, why), carried));
    }
    let is_done = settled.outcome == Outcome::Ok;
    if is_done && facts.goal == Goal::Commits && carried.pull_refused.is_some() {
        return Ok((without_a_pull(&settled), carried));
    }
    Ok((settled, carried))
}
