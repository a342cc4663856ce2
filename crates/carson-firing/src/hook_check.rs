//! Agent CLIs let a call run when the hook is missing or broken. So it is asked two questions with
//! known answers before any session trusts it: in the session's own sandbox, before its CLI begins. And a
//! hook that another program has replaced by the end of the session is told.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use carson_bench::hook_command::{ANSWERS_WITHIN_S, asked_hook};
use carson_core::settle::Halt;
use carson_engine::SessionEnd;
use carson_hook::{Context, known_bad_call, known_good_call};
use carson_proc::{Exit, First, NOT_BEGUN};

use crate::ctx::Ctx;
use crate::record::Record;

/// The check that this is.
const ID: &str = "hook.answers";

/// What it says when an answer is wrong, before the two exit codes.
const WRONG: &str = "carson: to a known-bad and a known-good call the hook answered";

/// The exit codes of a hook that refuses what is bad and lets pass what is good.
const RIGHT: &str = "2 0";

/// What a `timeout` ends with whose time was over.
const NONE_IN_TIME: &str = "124";

/// The two questions, to be asked before a session in this worktree begins: both at one time.
pub(crate) fn questions(ctx: &Ctx<'_>, tree: &Path) -> First {
    let hook = asked_hook(&ctx.home.program, ctx.home.path(), ctx.role.hook_failure);
    let context = Context::new(&tree.to_string_lossy());
    // They are ours, and no events of the firing. No shell waits beside one of them.
    let asked = format!("( unset CARSON_HOOK_EVENTS; {hook} ) >/dev/null 2>&1");
    First {
        line: format!(
            "{asked} <<CALL &\n$1\nCALL\n\
             {asked} <<CALL\n$2\nCALL\n\
             carson_good=$?; wait $!; carson_said=\"$? $carson_good\"; \
             test \"$carson_said\" = '{RIGHT}' || {{ echo \"{WRONG} $carson_said\" >&2; false; }}"
        ),
        args: vec![
            known_bad_call(&context).into(),
            known_good_call(&context).into(),
        ],
    }
}

/// Notes whether a session began. One that did not, because an answer was wrong, ends the firing.
pub(crate) fn note(rec: &mut Record, end: &SessionEnd) -> Result<(), Halt> {
    let said = end.said.lines().find_map(|line| line.split_once(WRONG));
    let Some((_, codes)) = said.filter(|_| end.exit == Some(Exit::Code(NOT_BEGUN.into()))) else {
        rec.checks.pass(ID);
        return Ok(());
    };
    let codes = codes.trim();
    let hangs = match codes.split(' ').any(|code| code == NONE_IN_TIME) {
        true => format!(" ({NONE_IN_TIME}: it gave no answer within {ANSWERS_WITHIN_S} s)"),
        false => String::new(),
    };
    let why = format!(
        "the pre-tool-use hook does not answer as it must: to a known-bad and a known-good call it \
         answered {codes}{hangs} where {RIGHT} is right; install carson-hook beside carson"
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
        let small = carson.with_file_name("carson-hook");
        let path = if small.is_file() {
            small
        } else {
            carson.to_owned()
        };
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
