//! Whether an execute session changes anything at all: somebody looks at its tree every so many calls.
//!
//! Not at its words: a tool that writes is no sign of a change, and a shell may change anything.

use carson_core::repetition::{Circle, LOOK_EVERY, Stillness};
use carson_engine::Access;
use carson_git::Worktree;
use tokio::sync::watch;

/// Comes to an end when so many calls changed nothing. A session that only reads may look as long as it
/// likes, and of a tree that nobody can look at nothing is said.
pub(super) async fn circle(
    access: Access,
    tree: &Worktree,
    mut calls: watch::Receiver<u32>,
) -> Circle {
    if access == Access::Write
        && let Some(circle) = idle(tree, &mut calls).await
    {
        return circle;
    }
    std::future::pending().await
}

async fn idle(tree: &Worktree, calls: &mut watch::Receiver<u32>) -> Option<Circle> {
    reached(calls, 1).await?;
    let mut stillness = Stillness::new(tree.last_touched().await.ok()?);
    let mut next = LOOK_EVERY;
    loop {
        let now = reached(calls, next).await?;
        let found = stillness.look(now, tree.last_touched().await.ok()?);
        if found.is_some() {
            return found;
        }
        next = (now / LOOK_EVERY)
            .saturating_add(1)
            .saturating_mul(LOOK_EVERY);
    }
}

/// So many calls, or more, once there are.
async fn reached(calls: &mut watch::Receiver<u32>, next: u32) -> Option<u32> {
    let now = calls.wait_for(|calls| *calls >= next).await.ok()?;
    Some(*now)
}
