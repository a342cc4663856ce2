//! Clean rooms: where a firing's work is judged.
//!
//! The promise and every session that judges run where nothing lies that another session wrote, but
//! the commit itself (DESIGN P9): a fresh checkout of exactly that commit, a fresh home, temporary
//! directories and git settings. A plan is reviewed before there is any work, so its reviewer gets
//! the worktree as the planner could only read it, and a fresh home.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use carson_core::settle::{Halt, drifted};
use carson_git::{ChangedTest, EmptyRoom, Ground, Oid, Seen, Worktree};
use tracing::{info, warn};

use crate::ctx::Ctx;
use crate::drift;
use crate::placed::Placed;
use crate::record::Record;
use crate::setup::{self, Then};
use crate::site::Site;
use carson_bench::bench::Bench;
use carson_bench::layers;
use carson_config::{Repo, Workspaces};
use carson_home::halt::OrBroken;
use carson_home::{Home, disk_space};

/// So many rooms of judgements before it a new one may have beside it: most firings need no more, and theirs go with
/// the bench. A check may leave gigabytes in one, so they go before it where there are more.
const BESIDE: usize = 3;

/// So often they may have to wait for being removed; from then on each new room has all before it beside it.
const OLD: usize = 64;

/// What lies in a room.
#[derive(Clone, Copy)]
pub(crate) struct Holds<'c> {
    /// The commit.
    pub commit: &'c Oid,
    /// Tests of the work that are laid over it.
    pub tests: &'c [ChangedTest],
}

impl<'c> Holds<'c> {
    /// Nothing but this commit.
    pub(crate) fn only(commit: &'c Oid) -> Self {
        Self { commit, tests: &[] }
    }
}

/// A room with a checkout of one commit, and with what the setup left, where that is of this commit, too.
pub(crate) async fn with_commit(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    seen: &Seen,
    commit: &Oid,
) -> Result<Bench, Halt> {
    let with_setup = has_setup(placed, seen, commit).await?;
    made(ctx, rec, placed, seen, (Holds::only(commit), with_setup)).await
}

/// Whether what the setup left for the base is what it would leave for this commit: who judges one that changes its
/// lock files is not to see the old packages.
pub(crate) async fn has_setup(
    placed: &Placed<'_, '_>,
    seen: &Seen,
    commit: &Oid,
) -> Result<bool, Halt> {
    let (repo, place) = (placed.taken.repo, &placed.place);
    let at = (seen, &place.worktree.base);
    let needed = setup::is_needed(repo, &place.bench, at, commit).await?;
    Ok(!needed)
}

/// A room in which the repository's setup has run, for this commit or once more; what that printed when it
/// failed.
pub(crate) async fn ready(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    seen: &Seen,
    holds: Holds<'_>,
) -> Result<Result<Bench, String>, Halt> {
    let with_setup = has_setup(placed, seen, holds.commit).await?;
    let room = made(ctx, rec, placed, seen, (holds, with_setup)).await?;
    set_up(ctx, rec, placed, seen, holds, (room, with_setup)).await
}

/// The same in a room that was begun for this commit; in another one, where that cannot be filled.
pub(crate) async fn ready_in(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    seen: &Seen,
    holds: Holds<'_>,
    begun: Begun,
) -> Result<Result<Bench, String>, Halt> {
    let with_setup = begun.with_setup;
    let room = match begun.fill(ctx, placed, seen, holds).await {
        Ok(room) => room,
        Err(_) => made(ctx, rec, placed, seen, (holds, with_setup)).await?,
    };
    set_up(ctx, rec, placed, seen, holds, (room, with_setup)).await
}

/// Runs the repository's setup in a room that has not what it leaves.
async fn set_up(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    seen: &Seen,
    holds: Holds<'_>,
    (room, with_setup): (Bench, bool),
) -> Result<Result<Bench, String>, Halt> {
    if with_setup {
        return Ok(Ok(room));
    }
    let site = Site {
        repo: placed.taken.repo,
        mirror: &placed.place.mirror,
        base: &placed.place.worktree.base,
        bench: &room,
    };
    // Tests that are laid over the commit differ from it, too, and are not the setup's.
    let then = match holds.tests {
        [] => Then::PutBack {
            commit: holds.commit,
            branch: &placed.place.worktree.branch,
        },
        _ => Then::Nothing,
    };
    if let Err(failed) = setup::in_place(ctx, rec, &site, then).await? {
        let (how, said) = (failed.how, failed.said);
        // Package managers refuse a lock file that does not fit, and few say which.
        let drift = drifted(&drift::of(Some(placed.taken.repo), seen)).unwrap_or_default();
        let said = format!("the setup {how} in the clean room\n{said}{drift}");
        return Ok(Err(said));
    }
    Ok(Ok(room))
}

/// A room on layers that has everything but its commit, and somebody who waits to check that out.
pub(crate) struct Begun {
    room: Bench,
    /// Whether it has what the setup left.
    with_setup: bool,
    empty: EmptyRoom,
}

/// Begins one, to be filled once its commit is known, and while something else runs. `None` without layers: there the files
/// themselves are made, which is no work for beside something. And `None` where rooms must go first: who makes the next one
/// takes all that are there out of the way. One that cannot be begun is made, and that said, where it is needed.
pub(crate) fn begin(
    ctx: &Ctx<'_>,
    repo: &Repo,
    (bench, worktree): (&Bench, &Worktree),
    with_setup: bool,
) -> Option<Begun> {
    if !bench.stands() || !may_stay(ctx.home, bench) {
        return None;
    }
    let room = bench.room(next(), with_setup);
    room.create(ctx.role).ok()?;
    room.include(&repo.include).ok()?;
    Begun::of(room, with_setup, worktree).ok()
}

impl Begun {
    fn of(room: Bench, with_setup: bool, worktree: &Worktree) -> Result<Self, Halt> {
        let layered = room
            .layered()
            .ok_or_else(|| Halt::Broken("the layers are gone".to_owned()))?;
        let empty = worktree.empty_room(&room.tree(), layered);
        Ok(Self {
            empty: empty.or_broken("making a clean room")?,
            room,
            with_setup,
        })
    }

    /// Whether it is one for a commit whose room has, or has not, what the setup left.
    pub(crate) fn fits(&self, with_setup: bool) -> bool {
        self.with_setup == with_setup
    }

    /// Checks a commit out.
    pub(crate) async fn fill(
        self,
        ctx: &Ctx<'_>,
        placed: &Placed<'_, '_>,
        seen: &Seen,
        holds: Holds<'_>,
    ) -> Result<Bench, Halt> {
        let Self { room, empty, .. } = self;
        let made = seen.check_out_in((holds.commit, holds.tests), empty);
        made.await.or_broken("checking out into a clean room")?;
        let base = &placed.place.worktree.base;
        let told = room.tell_git(ctx.home, &placed.taken.repo.include, base);
        told.or_broken("telling git what is not work")?;
        Ok(room)
    }
}

async fn made(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    seen: &Seen,
    (holds, with_setup): (Holds<'_>, bool),
) -> Result<Bench, Halt> {
    // Those before it are removed while it is made.
    let old = aside(ctx, placed);
    let room = make(ctx, rec, placed, seen, (holds, with_setup));
    let (room, ()) = tokio::join!(room, clear(ctx, placed, old));
    room
}

async fn make(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    seen: &Seen,
    (holds, with_setup): (Holds<'_>, bool),
) -> Result<Bench, Halt> {
    let bench = placed.place.bench.room(next(), with_setup);
    bench.create(ctx.role).or_broken("making a clean room")?;
    let repo = placed.taken.repo;
    if bench.stands() {
        setup::include(rec, repo, &bench)?;
        let begun = Begun::of(bench, with_setup, &placed.place.worktree)?;
        return begun.fill(ctx, placed, seen, holds).await;
    }
    let place = &placed.place;
    let source = match bench.kind() {
        Workspaces::Clone => {
            layers::source(
                ctx.home,
                ctx.role,
                repo,
                &place.mirror,
                &place.worktree.base,
            )
            .await
        }
        _ => None,
    };
    let ground = match &source {
        Some(source) => Ground::Clone(&source.layer),
        None => Ground::Nothing,
    };
    let bench = bench.cloned(source.is_some());
    let made = seen
        .check_out((holds.commit, holds.tests), &bench.tree(), ground)
        .await;
    made.or_broken("checking out into a clean room")?;
    setup::include(rec, repo, &bench)?;
    Ok(bench)
}

/// The worktree itself, and a home that nobody has worked in.
pub(crate) async fn with_fresh_desk(ctx: &Ctx<'_>, placed: &Placed<'_, '_>) -> Result<Bench, Halt> {
    clear(ctx, placed, aside(ctx, placed)).await;
    let bench = placed.place.bench.fresh_desk(next());
    bench.create(ctx.role).or_broken("making a clean room")?;
    Ok(bench)
}

/// Removes the rooms of a bench in which nobody judges any more, where the disk has no room for what comes next: a
/// check may have filled it, and nothing in a room is work. The bench can be looked at then, and rows can be written.
pub(crate) async fn make_way(home: &Home, bench: &Bench) {
    if has_space(home) {
        return;
    }
    let rooms = bench.rooms();
    let old = (1..=OLD).map(|number| rooms.with_extension(number.to_string()));
    for rooms in old.chain([rooms.clone()]).filter(|rooms| rooms.is_dir()) {
        match bench.remove_dir(home, &rooms).await {
            Ok(()) => info!(rooms = %rooms.display(), "the disk is full: clean rooms made way"),
            Err(error) => warn!(%error, "the disk is full, and clean rooms could not be removed"),
        }
    }
}

/// Whether the disk has room for what comes next.
fn has_space(home: &Home) -> bool {
    disk_space::check(&home.fleet).is_ok()
}

/// Takes the rooms of judgements before this one out of the way, if there are too many, or little room on the disk:
/// where they lie then.
fn aside(ctx: &Ctx<'_>, placed: &Placed<'_, '_>) -> Option<PathBuf> {
    let bench = &placed.place.bench;
    if may_stay(ctx.home, bench) {
        return None;
    }
    let rooms = bench.rooms();
    // What could not be removed before keeps its name.
    let mut names = (1..=OLD).map(|number| rooms.with_extension(number.to_string()));
    let old = names.find(|old| old.symlink_metadata().is_err())?;
    std::fs::rename(&rooms, &old).is_ok().then_some(old)
}

/// Removes them: the last rooms go with the bench, and so does what cannot be removed now.
async fn clear(ctx: &Ctx<'_>, placed: &Placed<'_, '_>, old: Option<PathBuf>) {
    let Some(old) = old else { return };
    let bench = &placed.place.bench;
    if let Err(error) = bench.remove_dir(ctx.home, &old).await {
        warn!(firing.id = %ctx.id, %error, "clean rooms could not be removed");
    }
}

/// Whether the rooms of judgements before a new one may lie beside it.
fn may_stay(home: &Home, bench: &Bench) -> bool {
    let before = std::fs::read_dir(bench.rooms()).map_or(0, Iterator::count);
    before <= BESIDE && has_space(home)
}

/// A number that no room of this firing has or had: two are made at once, and where one has gone there is no other that could
/// be taken for it.
fn next() -> usize {
    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    1 + GIVEN.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn no_two_rooms_have_the_same_number() {
        let given = std::iter::repeat_with(next).take(8);
        let all: std::collections::BTreeSet<usize> = given.collect();
        assert_eq!(all.len(), 8);
        assert!(!all.contains(&next()));
    }
}
