//! The promise on the untouched base, before a session is paid.
//!
//! One that cannot be run there at all is the operator's to mend, whatever a session does. One that fails
//! may be what the work is about: the firing goes on, and knows how it failed before.

use carson_checks::{Baseline, BaselineEnd};
use carson_core::Stage;
use carson_core::settle::{Goal, Halt};
use carson_proc::{Exit, StopReason};

use super::verify;
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::{clean_rooms, roles};
use carson_home::halt::OrBroken;

/// What a shell says of a command that it cannot run: it is no program, or there is none (POSIX.1-2024,
/// Shell Command Language, 2.8.2).
const CANNOT_RUN: [i32; 2] = [126, 127];

/// Runs it, unless it was run on this base before.
pub(crate) async fn run<'r, 'h>(
    ctx: &Ctx<'h>,
    rec: &mut Record,
    mut placed: Placed<'r, 'h>,
) -> Result<Placed<'r, 'h>, Halt> {
    let Some(promise) = &ctx.role.promise else {
        return Ok(placed);
    };
    let judges_commits = (roles::kind_of(ctx.role).goal)(ctx.role) == Goal::Commits;
    if !ctx.has_stage(Stage::Verify) || !judges_commits {
        return Ok(placed);
    }
    let repo = placed.taken.repo;
    let base = placed.place.worktree.base.clone();
    let known = Baseline::known(ctx.home, ctx.role, &repo.name).await;
    let is_of_this = |known: &Baseline| known.base == base.as_str() && known.run == promise.run;
    match known.filter(is_of_this).map(|known| known.ended) {
        Some(BaselineEnd::Passed) => return Ok(placed),
        Some(BaselineEnd::Failed(how)) => {
            placed.failed_before = Some(how);
            return Ok(placed);
        }
        // What could not be run may have been mended on this machine.
        Some(BaselineEnd::Unable(_)) | None => {}
    }
    if !placed.place.bench.stands() && !repo.setup.lines.is_empty() {
        // A room would need the setup once more.
        return Ok(placed);
    }
    let ended = on_base(ctx, rec, &mut placed).await?;
    let found = Baseline {
        base: base.into(),
        run: promise.run.clone(),
        ended: ended.clone(),
    };
    found.keep(ctx.home, ctx.role, &repo.name).await;
    match ended {
        BaselineEnd::Passed => {}
        BaselineEnd::Failed(how) => placed.failed_before = Some(how),
        BaselineEnd::Unable(why) => {
            let id = format!("role.{}.promise", ctx.role.name);
            return Err(carson_checks::refuse(&mut rec.checks, id, why));
        }
    }
    Ok(placed)
}

async fn on_base(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
) -> Result<BaselineEnd, Halt> {
    let Some(promise) = &ctx.role.promise else {
        return Ok(BaselineEnd::Passed);
    };
    let base = placed.place.worktree.base.clone();
    let seen = placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    let room = clean_rooms::with_commit(ctx, rec, placed, &seen, (&base, true)).await?;
    let done = verify::run(ctx, rec, placed, promise, &room).await?;
    if done.stopped == Some(StopReason::Cancelled) {
        return Err(Halt::Cancelled);
    }
    let said = verify::described(ctx, promise, &done);
    Ok(match done.exit {
        Exit::Code(code) if CANNOT_RUN.contains(&code) => BaselineEnd::Unable(format!(
            "the promise cannot be run, and no session was paid: {}",
            verify::in_short(&said)
        )),
        _ if done.success() && done.stopped.is_none() => BaselineEnd::Passed,
        _ => BaselineEnd::Failed(verify::fingerprint(&said)),
    })
}
