//! How every firing ends, alive or dead: settle → salvage → report → teardown.

use carson_core::settle::{Facts, Goal, Settled};
use carson_core::{Effect, Outcome, Stage};
use tracing::{info, warn};

use crate::ctx::Ctx;
use crate::effects::{Bearer, Carried};
use crate::ended::{Ended, FiringError};
use crate::older_drafts;
use crate::reached::{Place, Reached};
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
    let seen = teardown::last_look(rec, reached.place.as_mut()).await;
    let reached = &*reached;
    // On the heap: each of them holds much while it waits.
    let ending = Box::pin(tell(ctx, rec, reached, settled, facts, &saved));
    let place = reached.place.as_ref();
    let ended = Box::pin(teardown::once_ended(ctx, (place, seen), &saved, ending));
    let noted = Box::pin(note_pushed(ctx, place, &saved));
    let (settled, ()) = tokio::join!(ended, noted);
    let settled = settled?;
    Ok(Ended {
        id: ctx.id,
        settled,
    })
}

/// The forge hears of it, and whoever waits for the row.
async fn tell(
    ctx: &Ctx<'_>,
    rec: &Record,
    reached: &Reached<'_>,
    settled: Settled,
    facts: &Facts,
    saved: &Saved,
) -> Result<Settled, FiringError> {
    let (mut settled, carried) = deliver(ctx, rec, reached, settled, facts, saved).await?;
    let taken = reached.taken.as_ref();
    let told = report::run(ctx, rec, taken, (&settled, facts), saved, &carried).await?;
    settled.reason = told;
    info!(firing.id = %ctx.id, firing.outcome = %settled.outcome, reason = %settled.reason, "firing ended");
    Ok(settled)
}

/// What was pushed is in the mirror, as if it had been fetched; where it is not, the next firing fetches it.
async fn note_pushed(ctx: &Ctx<'_>, place: Option<&Place>, saved: &Saved) {
    let (Some(place), Some(pushed)) = (place, &saved.pushed) else {
        return;
    };
    let (branch, base) = (place.pushed_as(), &place.worktree.base);
    if let Err(error) = place.mirror.note_pushed(branch, pushed, base).await {
        warn!(firing.id = %ctx.id, %error, "what was pushed is fetched by the next firing");
    }
}

fn is_pull(effect: &Effect) -> bool {
    matches!(effect, Effect::OpenPull { .. })
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
    let mut planned = ctx.as_firing().plan_effects(&settled, &effects).await?;
    let was_known = { planned.effects.iter() }.any(|planned| is_pull(&planned.effect));
    if effects.iter().any(is_pull) && !was_known {
        // Who decided it had no work to offer, which was found since.
        planned = { ctx.as_firing() }
            .plan_effects_anew(&settled, &effects)
            .await?;
    }
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
