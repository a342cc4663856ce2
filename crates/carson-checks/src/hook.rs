//! Whether the hook gives the two answers that every session depends on.

use std::time::Duration;

use carson_config::HookFailure;
use carson_hook::{Context, known_bad_call, known_good_call};
use carson_proc::{Command, Exit, Limits, capture, own_path};

use crate::{Scene, Verdict};
use carson_bench::hook_command::guarded_hook;

pub(crate) async fn answers(scene: &Scene<'_>) -> Option<Verdict> {
    let home = scene.home;
    let hook = guarded_hook(&home.program, home.path(), HookFailure::Open);
    let root = &home.fleet.layout.root;
    let context = Context::new(&root.to_string_lossy());
    for (call, wanted) in [
        (known_bad_call(&context), Exit::Code(2)),
        (known_good_call(&context), Exit::Code(0)),
    ] {
        let command = Command::new("/bin/sh", root)
            .arg("-c")
            .arg(&hook)
            .env("PATH", own_path(home.path().unwrap_or_default()))
            .env("HOME", root)
            .env("CARSON_WORKTREE", root)
            .stdin_bytes(call);
        match capture(&command, &Limits::within(Duration::from_secs(5))).await {
            Ok(done) if done.exit == wanted => {}
            Ok(done) => {
                let found = format!("the hook answers {:?} where {wanted:?} is right", done.exit);
                return Some(Verdict::error(found));
            }
            Err(error) => return Some(Verdict::error(error.to_string())),
        }
    }
    Some(Verdict::ok(
        "the hook blocks what it must and passes what it must",
    ))
}
