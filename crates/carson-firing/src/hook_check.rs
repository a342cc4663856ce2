//! Agent CLIs let a call run when the hook is missing or broken. So it is asked two questions with
//! known answers before any session trusts it: in the session's own sandbox, before its CLI begins. And a
//! hook that another program has replaced by the end of the session is told.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use carson_bench::hook_command::{GUARD_WAITS_S, hook_program};
use carson_config::HookFailure;
use carson_core::settle::Halt;
use carson_engine::SessionEnd;
use carson_hook::{Context, known_bad_call, known_good_call};
use carson_proc::Exit;
use carson_proc::sandbox::{First, NOT_BEGUN, Question};

use crate::ctx::Ctx;
use crate::record::Record;

/// The check that this is.
const ID: &str = "hook.answers";

/// The exit codes of a hook that refuses what is bad and lets pass what is good.
const RIGHT: [u8; 2] = [2, 0];

/// Seconds within which the hook has to answer where a call without an answer runs: a machine with much to do is slow.
const ANSWERS_WITHIN_S: u32 = 10;

/// So long it may take. Where its guard refuses what takes longer, no session could do anything.
fn within_s(failure: HookFailure) -> u32 {
    match failure {
        HookFailure::Open => ANSWERS_WITHIN_S,
        HookFailure::Closed => GUARD_WAITS_S,
    }
}

/// The two questions, to be asked before a session in this worktree begins.
pub(crate) fn questions(ctx: &Ctx<'_>, tree: &Path) -> First {
    let (program, args) = hook_program(&ctx.home.program);
    let context = Context::new(&tree.to_string_lossy());
    let calls = [known_bad_call(&context), known_good_call(&context)];
    let questions = calls.into_iter().zip(RIGHT);
    First {
        program: program.to_string_lossy().into_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        // They are ours, and no events of the firing.
        without: vec!["CARSON_HOOK_EVENTS".to_owned()],
        questions: questions
            .map(|(input, right)| Question { input, right })
            .collect(),
        within_s: within_s(ctx.role.hook_failure),
    }
}

/// Notes whether a session began. One that did not, because an answer was wrong, ends the firing.
pub(crate) fn note(ctx: &Ctx<'_>, rec: &mut Record, end: &SessionEnd) -> Result<(), Halt> {
    let not_begun = end.exit == Some(Exit::Code(NOT_BEGUN.into()));
    let Some(codes) = First::answers_in(&end.said).filter(|_| not_begun) else {
        rec.checks.pass(ID);
        return Ok(());
    };
    let why = format!(
        "the pre-tool-use hook does not answer as it must within {} s: to a known-bad and a known-good \
         call it answered {} where {} and {} is right; install carson-hook beside carson",
        within_s(ctx.role.hook_failure),
        codes.trim().replace(' ', " and "),
        RIGHT[0],
        RIGHT[1],
    );
    Err(carson_checks::refuse(&mut rec.checks, ID, why))
}

/// The hook's program, as it was when a session began.
pub(crate) struct Program {
    path: PathBuf,
    was: Option<(u64, u64, u64, i64, i64)>,
}

impl Program {
    /// That beside `carson`, or `carson` itself.
    pub(crate) fn of(carson: &Path) -> Self {
        let (path, _) = hook_program(carson);
        Self {
            was: identity(&path),
            path,
        }
    }

    /// What has become of it since, unless it is the same.
    pub(crate) fn changed(&self) -> Option<String> {
        let path = self.path.display();
        match identity(&self.path) {
            None => Some(format!("{path} is gone")),
            now if now == self.was => None,
            Some(_) => Some(format!("{path} is another program than before")),
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64, u64, i64, i64)> {
    let found = path.metadata().ok()?;
    let (at, since) = (found.mtime(), found.mtime_nsec());
    Some((found.dev(), found.ino(), found.len(), at, since))
}
