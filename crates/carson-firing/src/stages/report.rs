//! Row and chat: who waits for the firing learns how it ended.

use carson_core::breaker::Thresholds;
use carson_core::settle::{Facts, Settled};
use carson_store::{Ending, StoreError};

use crate::ctx::Ctx;
use crate::effects::Carried;
use crate::reached::Taken;
use crate::record::Record;
use crate::saved::Saved;
use crate::state_posts::End;
use crate::thread_posts;
use carson_checks::Streak;

/// Ends the row; the chat learns of it from the outbox, whenever it can. What there is to say of its end.
pub(crate) async fn run(
    ctx: &Ctx<'_>,
    rec: &Record,
    taken: Option<&Taken<'_>>,
    (settled, facts): (&Settled, &Facts),
    saved: &Saved,
    carried: &Carried,
) -> Result<String, StoreError> {
    let mut reason = settled.reason.clone();
    for trouble in saved.trouble.iter().chain(&carried.trouble) {
        reason.push_str("; ");
        reason.push_str(trouble);
    }
    let streak = Streak::moved_by(&ctx.firing(), &rec.checks).await?;
    if let Some(word) = &streak.word {
        thread_posts::word(ctx, word).await?;
    }
    streak.save(&ctx.firing()).await?;
    let reason = ctx.redacted(&reason);
    let told = match &carried.owed {
        Some(owed) => ctx.redacted(&format!("{reason}; {owed}")),
        None => reason.clone(),
    };
    let limits = &ctx.role.limits;
    let now = ctx.home.clock.now();
    let thresholds = (!facts.spares_the_role()).then_some(Thresholds {
        fail_streak: limits.fail_streak,
        max_rejections: limits.max_rejections,
    });
    let end = End {
        outcome: settled.outcome,
        reason: &told,
        saved,
        pull: carried.pull.as_ref(),
        thresholds,
        at: now,
    };
    let ending = Ending {
        outcome: settled.outcome,
        skip: settled.skip,
        posts: thread_posts::end(ctx, rec, taken, &end).await?,
        reason,
        at: now,
        thresholds,
    };
    ctx.as_firing().end_firing(&ending).await?;
    Ok(told)
}
