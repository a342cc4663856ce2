//! Agent CLIs let a call run when the hook is missing or broken. So it is asked two questions with
//! known answers before any session trusts it.

use std::time::Duration;

use carson_core::settle::Halt;
use carson_engine::Access;
use carson_hook::{Context, known_bad_call, known_good_call};
use carson_proc::{Command, Limits, capture};

use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::sandboxed_run;
use carson_bench::bench::guarded_hook;

/// The check that this is.
const ID: &str = "hook.answers";

/// How long the hook may take here for both; its own watchdog is far shorter.
const PATIENCE: Duration = Duration::from_secs(10);

/// The exit codes of a hook that refuses what is bad and lets pass what is good.
const RIGHT: &str = "2 0";

/// Refuses the firing when either answer is wrong.
pub(crate) async fn check(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
) -> Result<(), Halt> {
    let hook = guarded_hook(&ctx.home.program, ctx.role.hook_failure);
    match wrong_answer(ctx, rec, placed, &hook).await? {
        Some(why) => Err(broken(rec, &why)),
        None => {
            rec.checks.pass(ID);
            Ok(())
        }
    }
}

/// What is wrong with the hook's answers to a known-bad and a known-good call, if anything is.
pub(crate) async fn wrong_answer(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    hook: &str,
) -> Result<Option<String>, Halt> {
    let bench = &placed.place.bench;
    // Asked where the sessions will ask it: a hook that cannot be reached from inside is none.
    let walls = sandboxed_run::walls(ctx, rec, placed, bench, Access::Write, "hook")?;
    let mut env = placed.environment(ctx, rec, bench, 0)?;
    // These questions are ours; they are no events of the firing.
    env.retain(|(name, _)| name != "CARSON_HOOK_EVENTS");
    let context = Context::new(&bench.tree().to_string_lossy());
    let command = Command::new("/bin/sh", bench.tree())
        .arg("-c")
        .arg(both_questions(hook))
        .arg("sh")
        .arg(known_bad_call(&context))
        .arg(known_good_call(&context))
        .exact_env(env)
        .confined(walls.profile());
    let done = capture(&command, &Limits::within(PATIENCE)).await;
    let done = done.map_err(|error| broken(rec, &error.to_string()))?;
    sandboxed_run::record_level(ctx, rec, &walls, Some(done.exit), &done.stderr.text()).await?;
    let answered = done.stdout.text();
    Ok((answered.trim() != RIGHT).then(|| {
        let answered = match answered.trim() {
            "" => format!("nothing ({:?})", done.exit),
            codes => codes.to_owned(),
        };
        format!(
            "to a known-bad and a known-good call it answered {answered} where {RIGHT} is right"
        )
    }))
}

/// A line of `sh` that asks the hook its two arguments, and prints its two exit codes.
fn both_questions(hook: &str) -> String {
    let ask = |call: &str| format!("printf %s \"{call}\" | ( {hook} ) >/dev/null");
    format!("{}; bad=$?; {}; echo \"$bad $?\"", ask("$1"), ask("$2"))
}

fn broken(rec: &mut Record, why: &str) -> Halt {
    let why = format!(
        "the pre-tool-use hook does not answer as it must: {why}; install carson-hook beside carson"
    );
    carson_checks::refuse(&mut rec.checks, ID, why)
}
