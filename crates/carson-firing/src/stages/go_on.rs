//! Work that an earlier firing of the role left for the same issue, in a draft that is still open: the next
//! one goes on with it, on the same branch of the remote and in the same pull request.
//!
//! What was pushed there is joined with the base as it is now, by a merge inside the walls: a session wrote
//! it, or a person. The merge has both as parents, so that what is pushed in the end changes nothing that is
//! there, and the base is under it. Where they do not go together the firing begins anew, and the old
//! branch stays as it is.

use std::ops::ControlFlow;
use std::time::Duration;

use carson_core::settle::Halt;
use carson_engine::Access;
use carson_forge::PullState;
use carson_git::{Mirror, Oid};
use carson_proc::{Command, Limits, StopReason, run as supervise};
use tracing::{info, warn};

use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::reached::{GoesOn, Place, Taken};
use crate::record::Record;
use crate::sandboxed_run;
use carson_home::halt::OrBroken;

/// How long the merge may take.
const WITHIN: Duration = Duration::from_secs(120);
/// Bytes of what it prints that are kept.
const KEPT: usize = 4 * 1024;
/// `$1` is the commit, `$2` the message. What cannot be merged is taken back.
const MERGE: &str = "git merge --quiet --no-ff --no-verify --no-gpg-sign --no-edit -m \"$2\" \"$1\" && exit 0\n\
     git merge --abort || git reset --quiet --hard\nexit 1";

/// Where earlier work is.
pub(super) struct Earlier {
    branch: String,
    tip: Oid,
}

/// The newest draft of the role's earlier firings for this work, as long as it is open. What cannot be
/// asked is none.
pub(super) async fn find(ctx: &Ctx<'_>, taken: &Taken<'_>, mirror: &Mirror) -> Option<Earlier> {
    // Of an attempt at a story that did not pass nothing stays.
    taken.work.key.number()?;
    let rows = ctx.store().firings_of(&taken.repo.name, taken.work.key);
    let rows = rows.await.unwrap_or_default();
    let mut newest = rows.into_iter().rev();
    let row = newest.find(|row| row.role == ctx.role.name && row.pr_number.is_some())?;
    let branch = row.goes_on.or(row.branch)?;
    let pull = taken.forge.pull(row.pr_number?).await.ok()?;
    if pull.state != PullState::Open || !pull.draft || pull.head != branch {
        return None;
    }
    let tip = mirror.fetched(&branch).await.ok()??;
    Some(Earlier { branch, tip })
}

/// Brings the earlier work into the worktree, before any session is there.
pub(super) async fn bring(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    earlier: Earlier,
) -> Result<(), Halt> {
    let begun = placed.place.worktree.begin_joining();
    begun.or_broken("beginning to bring earlier work")?;
    if merge(ctx, rec, placed, &earlier.tip).await? {
        placed.place.goes_on = take_over(ctx, placed.place, earlier).await?;
    } else {
        info!(firing.id = %ctx.id, branch = earlier.branch, "earlier work does not go with the base: begun anew");
    }
    placed.place.forget();
    // Whoever dies before has left nothing of its own, and whoever dies later knows what was there before.
    let ended = placed.place.worktree.end_joining();
    ended.or_broken("ending to bring earlier work")
}

/// Notes what was joined, for whoever ends this firing: where its sessions begin, and the branch that they go on with.
async fn take_over(ctx: &Ctx<'_>, place: &Place, earlier: Earlier) -> Result<Option<GoesOn>, Halt> {
    let at = place.worktree.inspect_joined().await;
    let at = at.or_broken("looking at the earlier work")?;
    if at == place.worktree.base {
        warn!(firing.id = %ctx.id, branch = earlier.branch, "earlier work could not be taken over: begun anew");
        return Ok(None);
    }
    let begins = place.worktree.begins_at(&at).await;
    begins.or_broken("noting where it begins")?;
    let noted = ctx.as_firing().set_goes_on(&earlier.branch).await;
    noted.or_broken("noting the branch")?;
    info!(firing.id = %ctx.id, branch = earlier.branch, "goes on with earlier work");
    Ok(Some(GoesOn {
        branch: earlier.branch,
        at: Some(at),
    }))
}

/// Whether they go together.
async fn merge(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    tip: &Oid,
) -> Result<bool, Halt> {
    let limits = Limits {
        keep: KEPT,
        ..Limits::within(WITHIN.min(ctx.remaining()))
    };
    let (mirror, bench) = (&placed.place.mirror, &placed.place.bench);
    let walls = sandboxed_run::walls(ctx, rec, mirror, bench, Access::Write, "merge")?;
    let message = format!("Go on with {}", placed.taken.work.key.reference());
    let command = Command::new("/bin/sh", bench.seen_tree())
        .args(["-c", MERGE, "sh", tip.as_str(), &message])
        .exact_env(placed.environment(ctx, rec, bench, 0)?)
        .confined(walls.profile());
    let done = supervise(
        &command,
        &limits,
        &ctx.cancel,
        |_| ControlFlow::Continue(()),
    )
    .await;
    let done = done.or_broken("merging earlier work")?;
    sandboxed_run::record_level(ctx, rec, &walls, Some(done.exit), &done.stderr.text()).await?;
    match done.stopped {
        Some(StopReason::Cancelled) => Err(Halt::Cancelled),
        // Half a merge is nothing to work on.
        Some(_) => Err(Halt::Broken("merging earlier work did not end".to_owned())),
        None => Ok(done.success()),
    }
}
