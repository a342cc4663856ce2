//! Carson runs the promise itself, in a clean room: a model's claim is never enough where the role has a
//! check, and nothing but the commit decides.

use std::path::PathBuf;

use carson_config::Promise;
use carson_core::Stage;
use carson_core::settle::Halt;
use carson_engine::Access;
use carson_git::Oid;
use carson_proc::{Command, Finished, Limits, StopReason, run as supervise};
use carson_store::Judged;
use tracing::{info, warn};

use super::OrBroken;
use super::workspace::Placed;
use crate::bench::Bench;
use crate::confine;
use crate::firing::Firing;
use crate::rooms;
use crate::session;

/// Bytes of output, from its head and from its tail, that go back to the model.
const FEEDBACK: usize = 8 * 1024;

/// What the promise said.
pub(crate) enum Check {
    /// The role has none, or leaves the stage out.
    NoPromise,
    /// There is no commit to judge, but uncommitted work.
    NothingCommitted,
    /// Exit 0, on this commit.
    Passed(Oid),
    /// Anything else; with its output.
    Failed(String),
}

pub(crate) async fn check(firing: &Firing<'_>, placed: &Placed<'_, '_>) -> Result<Check, Halt> {
    let Some(promise) = &firing.role.promise else {
        return Ok(Check::NoPromise);
    };
    if !firing.has_stage(Stage::Verify) {
        return Ok(Check::NoPromise);
    }
    firing.enter(Stage::Verify).await;
    let seen = placed
        .place
        .look()
        .await
        .or_broken("looking at the worktree")?;
    let (facts, commit) = (seen.facts(), seen.tip().clone());
    if facts.commits == 0 && facts.dirty {
        return Ok(Check::NothingCommitted);
    }
    if facts.commits == 0 {
        return Ok(Check::NoPromise);
    }
    let room = rooms::with_commit(firing, placed, &seen, &commit).await?;
    let done = run(firing, placed, promise, &room).await;
    rooms::clear(firing, placed).await;
    let done = done?;
    info!(firing.id = %firing.id, promise.passed = done.success(), %commit, "promise run");
    if done.success() && done.stopped.is_none() {
        note(firing, Judged::Verified, &commit).await;
        return Ok(Check::Passed(commit));
    }
    if done.stopped == Some(StopReason::Cancelled) {
        return Err(Halt::Cancelled);
    }
    let mut output = format!("`{}` did not exit 0 ({:?}", promise.run, done.exit);
    if let Some(stopped) = done.stopped {
        output.push_str(&format!(", stopped: {stopped:?}"));
    }
    output.push_str(&format!(
        ")\n{}\n{}",
        done.stdout.text(),
        done.stderr.text()
    ));
    Ok(Check::Failed(
        firing.house.redactor.redact(&output).into_owned(),
    ))
}

async fn run(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    promise: &Promise,
    room: &Bench,
) -> Result<Finished, Halt> {
    let limits = Limits {
        keep: FEEDBACK,
        ..Limits::within(promise.timeout.min(firing.remaining()))
    };
    let walls = confine::walls(firing, placed, room, Access::Write, "promise")?;
    let command = Command::new(PathBuf::from("/bin/sh"), room.tree())
        .arg("-c")
        .arg(&promise.run)
        .exact_env(session::environment(firing, placed, room, 0)?)
        .confined(walls.profile());
    let done = supervise(&command, &limits, &firing.cancel, |_| {
        std::ops::ControlFlow::Continue(())
    })
    .await
    .or_broken("running the promise")?;
    confine::note(firing, &walls, Some(done.exit), &done.stderr.text()).await?;
    Ok(done)
}

/// Notes which commit was judged. Settle has it from elsewhere; this is for people.
pub(crate) async fn note(firing: &Firing<'_>, judged: Judged, commit: &Oid) {
    if let Err(error) = firing
        .store()
        .set_judged(firing.id, judged, commit.as_str())
        .await
    {
        warn!(firing.id = %firing.id, ?judged, %error, "a judged commit could not be noted");
    }
}
