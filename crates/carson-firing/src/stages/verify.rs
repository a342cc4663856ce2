//! Carson runs the promise itself: a model's claim is never enough where the role has a check.

use std::path::PathBuf;

use carson_core::Stage;
use carson_core::settle::Halt;
use carson_engine::Access;
use carson_proc::{Command, Limits, StopReason, run as supervise};
use tracing::info;

use super::OrBroken;
use super::workspace::Placed;
use crate::confine;
use crate::firing::Firing;
use crate::session;

/// Bytes of output, from its head and from its tail, that go back to the model.
const FEEDBACK: usize = 8 * 1024;

/// What the promise said.
pub(crate) enum Check {
    /// The role has none, or leaves the stage out.
    NoPromise,
    /// Exit 0.
    Passed,
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
    let limits = Limits {
        keep: FEEDBACK,
        ..Limits::within(promise.timeout.min(firing.remaining()))
    };
    let walls = confine::walls(firing, placed, Access::Write, "promise")?;
    let command = Command::new(PathBuf::from("/bin/sh"), placed.place.bench.tree())
        .arg("-c")
        .arg(&promise.run)
        .exact_env(session::environment(firing, placed, 0)?)
        .confined(walls.profile());
    let done = supervise(&command, &limits, &firing.cancel, |_| {
        std::ops::ControlFlow::Continue(())
    })
    .await
    .or_broken("running the promise")?;
    confine::note(firing, &walls, Some(done.exit), &done.stderr.text()).await?;
    info!(firing.id = %firing.id, promise.passed = done.success(), "promise run");
    if done.success() && done.stopped.is_none() {
        return Ok(Check::Passed);
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
