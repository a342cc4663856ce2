//! Whether the hook gives the two answers that every session depends on.

use std::time::Duration;

use carson_config::HookFailure;
use carson_hook::{Context, known_bad_call, known_good_call};
use carson_proc::{Command, Exit, Limits, capture, own_path};

use crate::{Scene, Verdict};
use carson_bench::bench::guarded_hook;

pub(crate) async fn answers(scene: &Scene<'_>) -> Option<Verdict> {
    let house = scene.house;
    let hook = guarded_hook(&house.program, HookFailure::Open);
    let home = &house.fleet.home.root;
    let context = Context::new(&home.to_string_lossy());
    for (call, wanted) in [
        (known_bad_call(&context), Exit::Code(2)),
        (known_good_call(&context), Exit::Code(0)),
    ] {
        let command = Command::new("/bin/sh", home)
            .arg("-c")
            .arg(&hook)
            .env("PATH", own_path(house.path().unwrap_or_default()))
            .env("HOME", home)
            .env("CARSON_WORKTREE", home)
            .stdin_bytes(call);
        match capture(&command, &Limits::within(Duration::from_secs(5))).await {
            Ok(done) if done.exit == wanted => {}
            Ok(done) => {
                let found = format!("the hook answers {:?} where {wanted:?} is right", done.exit);
                return Some(Verdict::broken(found));
            }
            Err(error) => return Some(Verdict::broken(error.to_string())),
        }
    }
    Some(Verdict::ok(
        "the hook blocks what it must and passes what it must",
    ))
}
