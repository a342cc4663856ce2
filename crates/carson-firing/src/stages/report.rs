//! Row, forge, chat: everyone who waits for the firing learns how it ended.

use carson_core::breaker::Thresholds;
use carson_core::outcome::WorkEffect;
use carson_core::settle::{Facts, Settled};
use carson_core::{Outcome, Stage};
use carson_forge::{IN_FLIGHT, Release};
use carson_store::{Ending, StoreError};
use tracing::warn;

use crate::chat;
use crate::checks;
use crate::firing::{Firing, Taken};
use crate::messages;
use crate::saved::Saved;

/// Tells the forge, then ends the row; the chat learns of it from the outbox, whenever it can.
pub(crate) async fn run(
    firing: &Firing<'_>,
    settled: &Settled,
    saved: &Saved,
    facts: &Facts,
) -> Result<(), StoreError> {
    firing.enter(Stage::Report).await;
    let mut reason = settled.reason.clone();
    for trouble in &saved.trouble {
        reason.push_str("; ");
        reason.push_str(trouble);
    }
    if let Some(taken) = firing.taken()
        && let Err(error) = tell_forge(firing, taken, settled, saved, facts).await
    {
        warn!(firing.id = %firing.id, %error, "the forge could not be told");
        reason.push_str(&format!("; the forge could not be told: {error}"));
    }
    checks::note_streak(firing).await?;
    let reason = firing.house.redactor.redact(&reason).into_owned();
    let limits = &firing.role.limits;
    let now = firing.house.clock.now();
    let thresholds = Thresholds {
        fail_streak: limits.fail_streak,
        max_rejections: limits.max_rejections,
    };
    let end = chat::End {
        outcome: settled.outcome,
        reason: &reason,
        saved,
        thresholds,
        at: now,
    };
    let ending = Ending {
        outcome: settled.outcome,
        skip: settled.skip,
        posts: chat::end(firing, &end).await?,
        reason,
        at: now,
        thresholds,
    };
    firing
        .store()
        .end_firing(firing.id, &ending)
        .await
        .map(|_| ())
}

/// The labels that an outcome gives an issue, and whether the attempt counts. A role that is gone
/// has no queue to go back to: then a person decides.
pub(crate) fn labels_after(outcome: Outcome, ready: Option<&str>) -> (Vec<String>, bool) {
    let ready = ready.unwrap_or("needs:human");
    let (add, counts) = match outcome.work_effect() {
        WorkEffect::PullRequestOpen => (vec!["carson:pr-open"], false),
        WorkEffect::Done => (vec!["carson:done"], false),
        // Whoever removes the label lets the fleet try again.
        WorkEffect::NeedsHuman => (vec![ready, "needs:human"], true),
        WorkEffect::BackToQueue => (vec![ready], true),
        WorkEffect::BackUncounted => (vec![ready], false),
        // Work that turned out to be none would be found again at every slot: it counts too.
        WorkEffect::Nothing => (vec![ready], outcome == Outcome::Silent),
    };
    (add.into_iter().map(str::to_owned).collect(), counts)
}

async fn tell_forge(
    firing: &Firing<'_>,
    taken: &Taken<'_>,
    settled: &Settled,
    saved: &Saved,
    facts: &Facts,
) -> Result<(), carson_forge::ForgeError> {
    let number = taken.work.key.number();
    let (add, counts) = labels_after(settled.outcome, firing.role.work.label());
    let release = Release {
        outcome: settled.outcome.to_string(),
        note: messages::forge_note(firing, settled, saved)
            .without(|text| firing.house.redactor.redact(text).into_owned()),
        attempt_counts: counts && !facts.spares_the_work(),
        add,
        remove: vec![IN_FLIGHT.to_owned()],
    };
    taken.forge.release(number, &taken.claim, &release).await?;
    if settled.outcome == Outcome::AlreadyDone {
        taken.forge.close_issue(number).await?;
    }
    Ok(())
}
