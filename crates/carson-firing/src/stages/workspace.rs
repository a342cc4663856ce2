//! Worktree, branch, bench; the mirror was fetched when the work was found.

use carson_core::Stage;
use carson_core::settle::Halt;
use carson_core::work::WorkKey;
use carson_git::branch_name;

use super::pick::Picked;
use crate::ctx::Ctx;
use crate::hook_check;
use crate::placed::Placed;
use crate::reached::Place;
use crate::record::Record;
use carson_bench::bench::Bench;
use carson_home::halt::OrBroken;

pub(crate) async fn run<'r, 'h>(
    ctx: &Ctx<'h>,
    rec: &mut Record,
    reached: &'r mut Option<Place>,
    picked: Picked<'r, 'h>,
) -> Result<Placed<'r, 'h>, Halt> {
    ctx.enter(Stage::Workspace).await;
    let taken = picked.taken;
    let mirror = ctx.home.mirror(taken.repo);
    let base = mirror
        .resolve(&taken.repo.base)
        .await
        .or_broken("finding the base branch")?;
    let bench = Bench::of(ctx.home, ctx.id);
    bench.create(ctx.role).or_broken("making the bench")?;
    let work = match taken.work.key {
        WorkKey::None => String::new(),
        key => key.to_string(),
    };
    let branch = branch_name(ctx.role.name.as_str(), &work, &ctx.id.short());
    rec.open_proxy(ctx, &bench.root)?;
    // The row knows the place before the place exists: whatever dies in between, recovery looks
    // there and finds either nothing or the worktree.
    let noted = ctx
        .store()
        .set_place(ctx.id, &branch, base.as_str(), &bench.root)
        .await;
    noted.or_broken("noting the place")?;
    let worktree = mirror.add_worktree(&bench.tree(), &branch, &base).await;
    let worktree = worktree.or_broken("making the worktree")?;
    let place = reached.insert(Place::new(mirror, worktree, bench));
    carson_checks::note_checkout(&ctx.firing(), taken.repo, &place.worktree).await;
    let placed = Placed { taken, place };
    hook_check::check(ctx, rec, &placed).await?;
    Ok(placed)
}
