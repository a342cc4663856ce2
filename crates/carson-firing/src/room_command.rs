//! A command that judges what a session committed: it runs in a clean room, behind the walls of a session
//! that may write.

use std::time::Duration;

use carson_bench::bench::Bench;
use carson_core::settle::Halt;
use carson_engine::Access;
use carson_home::halt::OrBroken;
use carson_proc::{Captured, Command, Finished, Limits, StopReason, run as supervise};

use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::sandboxed_run;

/// What is run.
pub(crate) struct RoomCommand<'c> {
    /// A line for `sh`. Nothing that a session wrote is in it.
    pub line: &'c str,
    /// Its arguments, `"$@"` in the line.
    pub args: Vec<String>,
    /// What people call it.
    pub told: &'c str,
    /// How long it may take.
    pub within: Duration,
    /// Bytes of its output, from the head and from the tail of each stream, that are kept.
    pub keep: usize,
}

impl RoomCommand<'_> {
    /// Runs it, within what is left of the firing's time.
    pub(crate) async fn run(
        self,
        ctx: &Ctx<'_>,
        rec: &mut Record,
        placed: &Placed<'_, '_>,
        room: &Bench,
    ) -> Result<Finished, Halt> {
        let limits = Limits {
            keep: self.keep + Captured::MARGIN,
            ..Limits::within(self.within.min(ctx.remaining()))
        };
        let mirror = &placed.place.mirror;
        let walls = sandboxed_run::walls(ctx, rec, mirror, room, Access::Write, "promise")?;
        let command = Command::new("/bin/sh", room.seen_tree())
            .arg("-c")
            .arg(self.line)
            .arg("carson")
            .args(&self.args)
            .exact_env(placed.environment(ctx, rec, room, 0)?)
            .confined(walls.profile());
        ctx.runs_check(self.told);
        let done = supervise(&command, &limits, &ctx.cancel, |_| {
            std::ops::ControlFlow::Continue(())
        })
        .await
        .or_broken("running the check")?;
        sandboxed_run::record_level(ctx, rec, &walls, Some(done.exit), &done.stderr.text()).await?;
        if done.stopped == Some(StopReason::Cancelled) {
            return Err(Halt::Cancelled);
        }
        Ok(done)
    }
}
