//! Clean rooms: where a firing's work is judged.
//!
//! The promise and every session that judges run where nothing lies that another session wrote, but
//! the commit itself (DESIGN P9): a fresh checkout of exactly that commit, a fresh home, temporary
//! directories and git settings. A plan is reviewed before there is any work, so its reviewer gets
//! the worktree as the planner could only read it, and a fresh home.

use carson_core::settle::Halt;
use carson_git::{Oid, Seen};
use tracing::warn;

use crate::bench::Bench;
use crate::firing::Firing;
use crate::stages::OrBroken;
use crate::stages::workspace::Placed;

/// A room with a checkout of one commit.
pub(crate) async fn with_commit(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    seen: &Seen,
    commit: &Oid,
) -> Result<Bench, Halt> {
    let bench = placed.place.bench.room(next(&placed.place.bench));
    bench.create(firing.role).or_broken("making a clean room")?;
    let made = seen.check_out(commit, &bench.tree()).await;
    made.or_broken("checking out into a clean room")?;
    Ok(bench)
}

/// The worktree itself, and a home that nobody has worked in.
pub(crate) fn with_fresh_desk(firing: &Firing<'_>, placed: &Placed<'_, '_>) -> Result<Bench, Halt> {
    let bench = placed.place.bench.fresh_desk(next(&placed.place.bench));
    bench.create(firing.role).or_broken("making a clean room")?;
    Ok(bench)
}

/// Removes the rooms. What stays goes with the bench.
pub(crate) async fn clear(firing: &Firing<'_>, placed: &Placed<'_, '_>) {
    let bench = &placed.place.bench;
    if let Err(error) = bench.remove_dir(firing.house, &bench.rooms()).await {
        warn!(firing.id = %firing.id, %error, "clean rooms could not be removed");
    }
}

/// A number that no room of the bench has.
fn next(bench: &Bench) -> usize {
    1 + std::fs::read_dir(bench.rooms()).map_or(0, Iterator::count)
}
