//! The bench goes, after salvage says that nothing is left in it.

use std::sync::Arc;

use carson_core::Stage;
use carson_git::{GitError, IdleRef, Seen};
use tokio::sync::oneshot;
use tracing::{info, warn};

use crate::ctx::Ctx;
use crate::pruned::Action;
use crate::reached::Place;
use crate::record::Record;
use crate::saved::Saved;
use crate::stuck_benches::Known;
use carson_bench::bench::{Bench, LOCKED};

/// What the last look saw, for who believes it: nobody has been there since, where sessions had processes of
/// their own, which all ended with the first of them. Elsewhere one may have survived: `None`, and it is
/// looked at again.
pub(crate) async fn last_look(
    rec: &Record,
    place: Option<&mut Place>,
) -> Option<Result<Arc<Seen>, GitError>> {
    match place {
        Some(place) if rec.processes_end_with_their_session() => Some(place.inspect().await),
        _ => None,
    }
}

/// Ends the firing and then removes the bench; who removes it gets ready meanwhile. What cannot be proved safe stays, for the next pass of pruning, and so does everything where the firing
/// could not be ended.
pub(crate) async fn once_ended<T, E>(
    ctx: &Ctx<'_>,
    (place, seen): (Option<&Place>, Option<Result<Arc<Seen>, GitError>>),
    saved: &Saved,
    ending: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let bench = Bench::of(ctx.home, ctx.id);
    let ended = async { Ok((ending.await?, ctx.enter(Stage::Teardown))) };
    let ended = match left(&bench, place) {
        Some(Left::Silently) => {
            let (ended, entered) = ended.await?;
            entered.await;
            ended
        }
        Some(Left::Because(why)) => {
            let (ended, entered) = ended.await?;
            entered.await;
            stays(ctx, why).await;
            ended
        }
        None => {
            let (frees, freed) = oneshot::channel();
            let put_aside = async {
                let (ended, entered) = ended.await.map_err(Kept::Unended)?;
                let idle = async {
                    match place {
                        Some(place) => put_aside(place, seen, saved).await,
                        None => Ok(Vec::new()),
                    }
                };
                let (idle, ()) = tokio::join!(idle, entered);
                match idle {
                    Ok(idle) => {
                        // Who deletes them waits for that.
                        let _ = frees.send(idle);
                        Ok(ended)
                    }
                    Err(error) => Err(Kept::Unproved(ended, error)),
                }
            };
            let removed = bench.remove_after(ctx.home, put_aside);
            let (removed, ()) = tokio::join!(removed, delete_refs(ctx, place, freed));
            let (ended, removed) = match removed {
                Ok(done) => done,
                Err(Kept::Unproved(ended, error)) => (ended, Err(error)),
                Err(Kept::Unended(error)) => return Err(error),
            };
            let removed = match removed {
                Ok(()) => Ok(()),
                // It waited for longer than it may live: for a slow forge.
                Err(GitError::Unseen { .. }) => bench.remove(ctx.home).await,
                Err(error) => Err(error),
            };
            match removed {
                Ok(()) => info!(firing.id = %ctx.id, "bench removed"),
                Err(error) => stays(ctx, &error.to_string()).await,
            }
            ended
        }
    };
    let written = ctx.as_firing().end_stage(ctx.now());
    ctx.best_effort("the end of the last stage", written).await;
    Ok(ended)
}

/// Deletes the refs that nothing needs any more, once the bench is out of sight and while it is removed.
async fn delete_refs(ctx: &Ctx<'_>, place: Option<&Place>, freed: oneshot::Receiver<Vec<IdleRef>>) {
    let (Some(place), Ok(idle)) = (place, freed.await) else {
        return;
    };
    if let Err(error) = place.worktree.kept().delete_refs(&idle).await {
        warn!(firing.id = %ctx.id, %error, "refs of a removed bench stay");
    }
}

/// Why a bench is not removed.
enum Kept<T, E> {
    Unended(E),
    Unproved(T, GitError),
}

/// How a bench is left where nobody tries to remove it.
enum Left {
    /// There is none, or nothing vouches for what is in there; pruning will look.
    Silently,
    Because(&'static str),
}

fn left(bench: &Bench, place: Option<&Place>) -> Option<Left> {
    if bench.root.symlink_metadata().is_err() {
        return Some(Left::Silently);
    }
    if bench.is_locked() {
        return Some(Left::Because(LOCKED));
    }
    match place {
        // Another look would take as long, and say the same.
        Some(place) if place.is_unseen() => Some(Left::Because("not all of it could be looked at")),
        Some(_) => None,
        None => bench.may_hold_work().then_some(Left::Silently),
    }
}

/// Takes what is in the bench out of sight, where all of it is saved; the refs that nothing needs any more.
async fn put_aside(
    place: &Place,
    seen: Option<Result<Arc<Seen>, GitError>>,
    saved: &Saved,
) -> Result<Vec<IdleRef>, GitError> {
    let pushed = saved.pushed.as_ref();
    match seen {
        Some(seen) => seen?.put_aside(pushed).await,
        None => place.worktree.inspect(false).await?.put_aside(pushed).await,
    }
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
