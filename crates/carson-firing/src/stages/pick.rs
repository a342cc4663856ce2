//! The role's kind finds exactly one piece of work and holds it, or there is nothing to do.

use carson_core::Stage;
use carson_core::settle::Halt;

use super::preflight::Ready;
use crate::ctx::Ctx;
use crate::reached::Taken;
use crate::record::Record;
use crate::roles;
use crate::thread_posts;

/// The firing holds a piece of work.
pub(crate) struct Picked<'r, 'h> {
    pub taken: &'r Taken<'h>,
}

pub(crate) async fn run<'r, 'h>(
    ctx: &Ctx<'h>,
    rec: &mut Record,
    reached: &'r mut Option<Taken<'h>>,
    _ready: Ready,
) -> Result<Picked<'r, 'h>, Halt> {
    let entered = ctx.enter(Stage::Pick);
    let kind = roles::kind_of(ctx.role);
    let (taken, ()) = tokio::join!((kind.pick)(ctx, rec), entered);
    let taken = reached.insert(taken?);
    ctx.took(&taken.repo.name, taken.work.key.number(), &taken.work.title);
    // Who asks no model is done in a moment: its end alone may be news.
    if ctx.role.kind.has_sessions() {
        thread_posts::begin(ctx, taken).await;
    }
    Ok(Picked { taken })
}
