//! Whether a role's sessions would be who they are to be, such as a cloud's scoped profile. The
//! command runs where they run, with what they have, before any model is paid.

use std::ops::ControlFlow;
use std::time::Duration;

use carson_config::IdentityCheck;
use carson_core::settle::Halt;
use carson_core::text::matches;
use carson_core::untrusted;
use carson_engine::Access;
use carson_proc::{Captured, Command, Finished, Limits, StopReason, run as supervise};

use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::sandboxed_run;
use carson_bench::environment::without_programs_of;
use carson_home::halt::OrBroken;

/// How long the command may take.
const WITHIN: Duration = Duration::from_secs(30);
/// Bytes of its output that are looked at.
const KEPT: usize = 16 * 1024;
/// Characters of it that are told.
const TOLD: usize = 300;

/// Asks, where the role says how.
pub(crate) async fn run(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
) -> Result<(), Halt> {
    let Some(check) = &ctx.role.identity_check else {
        return Ok(());
    };
    let (place, limits) = (
        &placed.place,
        Limits {
            keep: KEPT + Captured::MARGIN,
            ..Limits::within(WITHIN.min(ctx.remaining()))
        },
    );
    let (mirror, bench) = (&place.mirror, &place.bench);
    let walls = sandboxed_run::walls(ctx, rec, mirror, bench, Access::Read, "identity")?;
    let environment = placed.environment(ctx, rec, bench, 0)?;
    let command = Command::new("/bin/sh", bench.seen_tree())
        .arg("-c")
        .arg(&check.run)
        .exact_env(without_programs_of(&bench.seen_home(), environment))
        .confined(walls.profile());
    let done = supervise(
        &command,
        &limits,
        &ctx.cancel,
        |_| ControlFlow::Continue(()),
    )
    .await;
    let done = done.or_broken("asking for the identity")?;
    sandboxed_run::record_level(ctx, rec, &walls, Some(done.exit), &done.stderr.text()).await?;
    if done.stopped == Some(StopReason::Cancelled) {
        return Err(Halt::Cancelled);
    }
    let id = format!("role.{}.identity", ctx.role.name);
    match wrong(ctx, check, &done) {
        None => Ok(()),
        Some(why) => {
            let why = format!("{why}; mend the role's [identity]");
            Err(carson_checks::refuse(&mut rec.checks, id, why))
        }
    }
}

/// What is not as it is to be.
fn wrong(ctx: &Ctx<'_>, check: &IdentityCheck, done: &Finished) -> Option<String> {
    // Before it is cut: a part of a secret is known to nobody.
    let told = |printed: &Captured| {
        let text = printed.text_without(|text| ctx.redacted(text));
        untrusted::one_line(text.trim(), TOLD)
    };
    let run = ctx.redacted(&check.run);
    if done.stopped.is_some() {
        let seconds = WITHIN.as_secs();
        return Some(format!("`{run}` did not end within {seconds} s"));
    }
    if !done.success() {
        let said = match told(&done.stderr) {
            none if none.is_empty() => told(&done.stdout),
            said => said,
        };
        return Some(format!("`{run}` did not exit 0, and said: {said}"));
    }
    let expected = check.expect.as_ref()?;
    if matches(&format!("*{expected}*"), &done.stdout.text()) {
        return None;
    }
    let said = told(&done.stdout);
    Some(format!(
        "`{run}` was to print {expected:?}, and printed: {said}"
    ))
}
