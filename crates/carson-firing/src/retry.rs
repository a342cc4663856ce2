//! A provider that was overloaded or not reached is asked again, within the same firing.
//!
//! Only while that is safe and cheap: a few times in a firing, each wait longer than the last and
//! jittered, inside the wall clock, and never once the session may have changed anything. All else
//! waits for the next slot.

use std::time::Duration;

use carson_core::Stage;
use carson_core::limits::MAX_RETRIES;
use carson_core::settle::Halt;
use carson_engine::Ended;
use serde_json::json;
use tracing::info;

use crate::firing::Firing;
use crate::stages::workspace::Placed;

/// The first wait; each further one is four times as long.
const FIRST: Duration = Duration::from_secs(2);
/// What must be left of the wall clock after a wait for another session to be worth it.
const WORTH: Duration = Duration::from_secs(30);

/// Waits and answers `true` when the session is to be tried again.
pub(crate) async fn again(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    stage: Stage,
    ended: &Ended,
    calls: u32,
) -> Result<bool, Halt> {
    let Ended::Unavailable {
        status,
        not_before,
        message,
    } = ended
    else {
        return Ok(false);
    };
    let done = firing.tally().retries;
    if done >= MAX_RETRIES || !is_harmless(placed, stage, calls).await {
        return Ok(false);
    }
    let asked = not_before.and_then(|at| (at - firing.house.clock.now()).to_std().ok());
    let wait = wait(done, firing.id.uuid().as_bytes()).max(asked.unwrap_or_default());
    if wait + WORTH > firing.remaining() {
        return Ok(false);
    }
    note(firing, stage, *status, message, wait).await;
    tokio::select! {
        () = firing.cancel.cancelled() => Err(Halt::Cancelled),
        () = tokio::time::sleep(wait) => Ok(true),
    }
}

/// Whether the session left everything as it was. One that only reads does; one that writes does
/// when it called no tool and the worktree is as its base.
async fn is_harmless(placed: &Placed<'_, '_>, stage: Stage, calls: u32) -> bool {
    stage != Stage::Execute || calls == 0 && is_untouched(placed).await
}

/// Whether no work exists: no commit, and nothing uncommitted.
pub(crate) async fn is_untouched(placed: &Placed<'_, '_>) -> bool {
    let seen = placed.place.look().await;
    seen.is_ok_and(|seen| {
        let facts = seen.facts();
        facts.exists && facts.commits == 0 && !facts.dirty && !facts.head_strayed
    })
}

async fn note(
    firing: &Firing<'_>,
    stage: Stage,
    status: Option<u16>,
    message: &str,
    wait: Duration,
) {
    info!(firing.id = %firing.id, ?status, ?wait, "the provider is not available; trying again");
    firing.count(|tally| tally.retries += 1).await;
    let message = firing.house.redactor.redact(message).into_owned();
    let data = json!({
        "stage": stage, "status": status, "message": message, "wait_ms": wait.as_millis(),
    });
    firing.event("session.retry", &data).await;
}

/// The wait before retry `done`: half to one and a half of its length, by the firing's own id, so
/// that firings which failed together do not come back together.
fn wait(done: u32, id: &[u8; 16]) -> Duration {
    let place = usize::try_from(done).unwrap_or(0) % 4;
    // The last bytes of an id are random.
    let share = 0.5 + f64::from(id[15 - place]) / 255.0;
    (FIRST * 4_u32.pow(done.min(MAX_RETRIES))).mul_f64(share)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn waits_grow_within_their_bounds(id in any::<[u8; 16]>(), done in 0..10_u32) {
            let mean = FIRST * 4_u32.pow(done.min(MAX_RETRIES));
            let wait = wait(done, &id);
            prop_assert!(wait >= mean.mul_f64(0.49) && wait <= mean.mul_f64(1.51));
            prop_assert!(wait < Duration::from_secs(200));
        }
    }
}
