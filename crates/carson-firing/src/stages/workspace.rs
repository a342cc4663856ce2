//! Worktree, branch, bench; the mirror was fetched when the work was found.

use carson_core::Stage;
use carson_core::settle::Halt;
use carson_git::branch_name;

use super::pick::Picked;
use super::{Brief, OrBroken, hook_check};
use crate::bench::Bench;
use crate::checks;
use crate::egress;
use crate::firing::{Firing, Place, Taken};
use crate::session;

/// The firing has a place to work in.
pub(crate) struct Placed<'f, 'h> {
    pub taken: &'f Taken<'h>,
    pub place: &'f Place,
    pub brief: Brief<'f>,
}

pub(crate) async fn run<'f, 'h>(
    firing: &'f Firing<'h>,
    picked: Picked<'f, 'h>,
) -> Result<Placed<'f, 'h>, Halt> {
    firing.enter(Stage::Workspace).await;
    let taken = picked.taken;
    let mirror = firing.house.mirror(taken.repo);
    let base = mirror
        .resolve(&taken.repo.base)
        .await
        .or_broken("finding the base branch")?;
    let bench = Bench::of(firing.house, firing.id);
    bench.create(firing.role).or_broken("making the bench")?;
    let branch = branch_name(
        firing.role.name.as_str(),
        &taken.work.key.to_string(),
        &firing.id.short(),
    );
    egress::begin(firing, session::account(firing)?, &bench.root)?;
    // The row knows the place before the place exists: whatever dies in between, recovery looks
    // there and finds either nothing or the worktree.
    let noted = firing
        .store()
        .set_place(firing.id, &branch, base.as_str(), &bench.root)
        .await;
    noted.or_broken("noting the place")?;
    let worktree = mirror.add_worktree(&bench.tree(), &branch, &base).await;
    let worktree = worktree.or_broken("making the worktree")?;
    let place = firing.set_place(Place::new(mirror, worktree, bench));
    checks::note_checkout(firing, taken.repo).await;
    let brief = picked.brief(firing, &place.worktree.branch);
    let placed = Placed {
        taken,
        place,
        brief,
    };
    hook_check::check(firing, &placed).await?;
    Ok(placed)
}
