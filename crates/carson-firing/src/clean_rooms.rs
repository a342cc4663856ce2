//! Clean rooms: where a firing's work is judged.
//!
//! The promise and every session that judges run where nothing lies that another session wrote, but
//! the commit itself (DESIGN P9): a fresh checkout of exactly that commit, a fresh home, temporary
//! directories and git settings. A plan is reviewed before there is any work, so its reviewer gets
//! the worktree as the planner could only read it, and a fresh home.

use carson_core::settle::Halt;
use carson_git::{Oid, Seen};
use tracing::warn;

use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::setup;
use carson_bench::bench::Bench;
use carson_home::halt::OrBroken;

/// A room with a checkout of one commit, and with what the setup left unless that has to be made anew.
pub(crate) async fn with_commit(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    seen: &Seen,
    (commit, with_setup): (&Oid, bool),
) -> Result<Bench, Halt> {
    clear(ctx, placed).await;
    let bench = &placed.place.bench;
    let bench = bench.room(next(bench), with_setup);
    bench.create(ctx.role).or_broken("making a clean room")?;
    let repo = placed.taken.repo;
    if bench.stands() {
        setup::include(rec, repo, &bench)?;
    }
    let layered = bench.layered();
    let made = seen
        .check_out(commit, &bench.tree(), layered.as_ref())
        .await;
    made.or_broken("checking out into a clean room")?;
    if bench.stands() {
        let told = bench.tell_git(ctx.home, &repo.include);
        told.or_broken("telling git what is not work")?;
    } else {
        setup::include(rec, repo, &bench)?;
    }
    Ok(bench)
}

/// The worktree itself, and a home that nobody has worked in.
pub(crate) async fn with_fresh_desk(ctx: &Ctx<'_>, placed: &Placed<'_, '_>) -> Result<Bench, Halt> {
    clear(ctx, placed).await;
    let bench = placed.place.bench.fresh_desk(next(&placed.place.bench));
    bench.create(ctx.role).or_broken("making a clean room")?;
    Ok(bench)
}

/// Removes the rooms of judgements before this one: the last of them goes with the bench, and so does
/// what cannot be removed now.
async fn clear(ctx: &Ctx<'_>, placed: &Placed<'_, '_>) {
    let bench = &placed.place.bench;
    if let Err(error) = bench.remove_dir(ctx.home, &bench.rooms()).await {
        warn!(firing.id = %ctx.id, %error, "clean rooms could not be removed");
    }
}

/// A number that no room of the bench has.
fn next(bench: &Bench) -> usize {
    1 + std::fs::read_dir(bench.rooms()).map_or(0, Iterator::count)
}
