//! Agent CLIs let a call run when the hook is missing or broken. So it is asked two questions with
//! known answers before any session trusts it.

use std::time::Duration;

use carson_core::settle::Halt;
use carson_engine::Access;
use carson_hook::{Context, known_bad_call, known_good_call};
use carson_proc::{Command, Exit, Limits, capture};

use crate::bench::guarded_hook;
use crate::checks;
use crate::confine::{self, Walls};
use crate::firing::Firing;
use crate::session;
use crate::stages::workspace::Placed;

/// The check that this is.
const ID: &str = "hook.answers";

/// How long the hook may take here; its own watchdog is far shorter.
const PATIENCE: Duration = Duration::from_secs(5);

/// Refuses the firing when either answer is wrong.
pub(crate) async fn check(firing: &Firing<'_>, placed: &Placed<'_, '_>) -> Result<(), Halt> {
    let hook = guarded_hook(&firing.house.program, firing.role.hook_failure);
    match wrong_answer(firing, placed, &hook).await? {
        Some(why) => Err(broken(firing, &why)),
        None => {
            firing.checks.pass(ID);
            Ok(())
        }
    }
}

/// What is wrong with the hook's answers to a known-bad and a known-good call, if anything is.
pub(crate) async fn wrong_answer(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    hook: &str,
) -> Result<Option<String>, Halt> {
    let tree = placed.place.bench.tree();
    // Asked where the sessions will ask it: a hook that cannot be reached from inside is none.
    let walls = confine::walls(firing, placed, &placed.place.bench, Access::Write, "hook")?;
    let context = Context::new(&tree.to_string_lossy());
    for (call, wanted) in [
        (known_bad_call(&context), Exit::Code(2)),
        (known_good_call(&context), Exit::Code(0)),
    ] {
        let answered = ask(firing, placed, &walls, hook, call).await?;
        if answered != wanted {
            return Ok(Some(format!(
                "it answered {answered:?} where {wanted:?} is right"
            )));
        }
    }
    Ok(None)
}

async fn ask(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    walls: &Walls,
    hook: &str,
    call: String,
) -> Result<Exit, Halt> {
    let mut env = session::environment(firing, placed, &placed.place.bench, 0)?;
    // These questions are ours; they are no events of the firing.
    env.retain(|(name, _)| name != "CARSON_HOOK_EVENTS");
    let command = Command::new("/bin/sh", placed.place.bench.tree())
        .arg("-c")
        .arg(hook)
        .exact_env(env)
        .confined(walls.profile())
        .stdin_bytes(call);
    let done = capture(&command, &Limits::within(PATIENCE)).await;
    let done = done.map_err(|error| broken(firing, &error.to_string()))?;
    confine::note(firing, walls, Some(done.exit), &done.stderr.text()).await?;
    Ok(done.exit)
}

fn broken(firing: &Firing<'_>, why: &str) -> Halt {
    let why = format!(
        "the pre-tool-use hook does not answer as it must: {why}; install carson-hook beside carson"
    );
    checks::refuse(firing, ID, why)
}
