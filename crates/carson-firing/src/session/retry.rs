//! A provider that was overloaded or not reached is asked again, within the same firing.
//!
//! Only while that is safe and cheap: a few times in a firing, each wait longer than the last and
//! jittered, inside the wall clock, and never once the session may have changed anything. All else
//! waits for the next slot.

use carson_core::settle::Halt;
use carson_core::{Event, Stage};
use carson_engine::{Access, Ended};
use chrono::{DateTime, TimeDelta, Utc};
use tracing::info;

use super::drive::Ran;
use super::verdict::{Pause, Standing};
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;

/// Whether the session left everything as it was. One that only reads does; one that writes does
/// when it called no tool and the worktree is as its base. Asked only where it matters.
pub(super) async fn is_harmless(
    placed: &mut Placed<'_, '_>,
    access: Access,
    ran: &Ran<'_>,
) -> bool {
    let matters = matches!(ran.end.ended, Ended::Unavailable { .. });
    matters && (access == Access::Read || ran.watch.calls == 0 && placed.place.is_untouched().await)
}

/// When the provider wants to be asked again, as the firing's proxy has seen it: its CLI may not say so.
pub(super) fn not_before(ctx: &Ctx<'_>, rec: &Record) -> Option<DateTime<Utc>> {
    let (headers, ago) = rec.proxy.as_ref()?.resets()?;
    let came = ctx.now() - TimeDelta::from_std(ago).ok()?;
    carson_engine::resets_at(&headers, came)
}

/// Where the firing stands now.
pub(super) fn standing(ctx: &Ctx<'_>, rec: &Record, harmless: bool) -> Standing {
    Standing {
        harmless,
        not_before: not_before(ctx, rec),
        retries: rec.tally().retries,
        id: *ctx.id.uuid().as_bytes(),
        remaining: ctx.remaining(),
        now: ctx.now(),
        max_output_mb: ctx.role.limits.max_output_mb,
    }
}

/// Says so, and waits.
pub(super) async fn wait(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    stage: Stage,
    pause: &Pause,
) -> Result<(), Halt> {
    let (status, wait) = (pause.status, pause.wait);
    info!(firing.id = %ctx.id, ?status, ?wait, "the provider is not available; trying again");
    rec.count(ctx, |tally| tally.retries += 1).await;
    let event = Event::SessionRetry {
        stage,
        status,
        message: ctx.redacted(&pause.message),
        wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
    };
    ctx.event(&event).await;
    tokio::select! {
        () = ctx.cancel.cancelled() => Err(Halt::Cancelled),
        () = tokio::time::sleep(wait) => Ok(()),
    }
}
