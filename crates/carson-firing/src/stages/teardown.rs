//! The bench goes, after salvage says that nothing is left in it.

use carson_core::Stage;
use carson_git::GitError;
use tracing::{info, warn};

use crate::ctx::Ctx;
use crate::pruned::Action;
use crate::reached::Place;
use crate::record::Record;
use crate::saved::Saved;
use crate::stuck_benches::Known;
use carson_bench::bench::{Bench, LOCKED, MARKER};

/// Time between SIGTERM and SIGKILL for what the sessions may have left running.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);

/// Removes the bench. What cannot be proved safe stays, for the next pass of pruning.
pub(crate) async fn run(ctx: &Ctx<'_>, rec: &Record, place: Option<&mut Place>, saved: &Saved) {
    ctx.enter(Stage::Teardown).await;
    remove(ctx, rec, place, saved).await;
    let written = ctx.as_firing().end_stage(ctx.now());
    ctx.best_effort("the end of the last stage", written).await;
}

async fn remove(ctx: &Ctx<'_>, rec: &Record, place: Option<&mut Place>, saved: &Saved) {
    let bench = Bench::of(ctx.home, ctx.id);
    if bench.root.symlink_metadata().is_err() {
        return;
    }
    if bench.is_locked() {
        stays(ctx, LOCKED).await;
        return;
    }
    let id = ctx.id.to_string();
    let ended = async {
        carson_proc::reap_marked(MARKER, &id, GRACE).await;
    };
    let removed = match place {
        // Another look would take as long, and say the same.
        Some(place) if place.is_unseen() => {
            ended.await;
            stays(ctx, "not all of it could be looked at").await;
            return;
        }
        Some(place) => {
            let put_away = async {
                ended.await;
                put_away(rec, place, saved).await
            };
            bench.remove_after(ctx.home, put_away).await
        }
        None => {
            ended.await;
            if bench.may_hold_work() {
                // Without a place nothing vouches for what is in there; pruning will look.
                return;
            }
            bench.remove(ctx.home).await
        }
    };
    match removed {
        Ok(()) => info!(firing.id = %ctx.id, "bench removed"),
        Err(error) => stays(ctx, &error.to_string()).await,
    }
}

/// Nobody has been there since the last look, where sessions had processes of their own: they all
/// ended with the first of them. Elsewhere one may have survived, and it is looked at again.
async fn put_away(rec: &Record, place: &mut Place, saved: &Saved) -> Result<(), GitError> {
    let pushed = saved.pushed.as_ref();
    if rec.processes_end_with_their_session() {
        return place.inspect().await?.put_away(pushed).await;
    }
    place.worktree.inspect(false).await?.put_away(pushed).await
}

/// It is listed as stuck; pruning looks at it again.
async fn stays(ctx: &Ctx<'_>, why: &str) {
    warn!(firing.id = %ctx.id, why, "the bench stays");
    let known = Known::of(ctx.home).await;
    let action = Action::Kept(why.to_owned());
    match known {
        Ok(known) => known.record_action(ctx.home, ctx.id, &action).await,
        Err(error) => {
            warn!(firing.id = %ctx.id, %error, "a bench that stays could not be noted");
        }
    }
}
