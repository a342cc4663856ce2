//! The hook as a program: an event on stdin, an exit code, one line on stderr.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::call::Call;
use crate::context::{Context, Failure};
use crate::decide::decide;
use crate::decision::Decision;
use crate::events;

/// Longest time one call may take. The CLIs would wait far longer (CLIS.md §4), and a stuck hook
/// would stop the firing.
pub const WATCHDOG: Duration = Duration::from_millis(500);

/// Largest event that is read, in bytes; a larger one fails open.
pub const MAX_INPUT: u64 = 32 * 1024 * 1024;

/// How the hook ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The call may run: exit code 0.
    Allow,
    /// The call must not run: exit code 2, the only one that blocks (CLIS.md §2).
    Block,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Allow => Self::SUCCESS,
            Exit::Block => Self::from(2),
        }
    }
}

/// Reads one event, decides, writes the reason to `out` and the event file. An event that it cannot
/// read ends as [`Context::failure`] says, and is noted in the event file.
pub fn main_with(input: &mut dyn Read, ctx: &Context, out: &mut dyn Write) -> Exit {
    match answer(input, ctx) {
        Ok(None) => Exit::Allow,
        Ok(Some((line, reason))) => {
            note(ctx, &line, out);
            // When stderr is closed the exit code still blocks.
            let _ = writeln!(out, "{reason}");
            Exit::Block
        }
        Err(why) => fail(ctx, &why, out),
    }
}

/// The event line and the reason of a block, or why no answer could be found.
fn answer(input: &mut dyn Read, ctx: &Context) -> Result<Option<(String, String)>, String> {
    let mut bytes = Vec::new();
    let mut limited = input.take(MAX_INPUT + 1);
    limited
        .read_to_end(&mut bytes)
        .map_err(|error| format!("reading the event: {error}"))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(format!("the event is larger than {MAX_INPUT} bytes"));
    }
    let text = String::from_utf8_lossy(&bytes);
    let call = Call::from_json(&text).map_err(|error| format!("reading the event: {error}"))?;
    Ok(match decide(&call, ctx) {
        Decision::Allow => None,
        Decision::Block(block) => Some((events::blocked(&call, &block), block.to_string())),
    })
}

/// Ends a call that could not be judged the way the role asks for.
fn fail(ctx: &Context, why: &str, out: &mut dyn Write) -> Exit {
    note(ctx, &events::failed(ctx.failure, why), out);
    let (exit, what) = match ctx.failure {
        Failure::Open => (Exit::Allow, "lets the call run"),
        Failure::Closed => (Exit::Block, "refuses the call"),
    };
    let _ = writeln!(out, "carson: the hook failed and {what}: {why}");
    exit
}

/// Writes an event line. A block stands even when the file cannot be written; stderr says so.
fn note(ctx: &Context, line: &str, out: &mut dyn Write) {
    let Some(path) = &ctx.events else { return };
    if let Err(error) = events::append(path, line) {
        let _ = writeln!(
            out,
            "carson: cannot write the event file {}: {error}",
            path.display()
        );
    }
}

/// The whole program: stdin, the environment's context, stderr, and an answer also when there is
/// none in time, or when the hook itself has a fault.
pub fn run_stdin() -> ExitCode {
    let ctx = Context::from_env();
    let finished = Arc::new(AtomicBool::new(false));
    watch(&ctx, &finished);
    let guard = of_failures(&ctx);
    // Its own message would be a second line for the model to read.
    std::panic::set_hook(Box::new(move |_| give_up(&guard, "the hook panicked")));
    let exit = main_with(&mut std::io::stdin().lock(), &ctx, &mut std::io::stderr());
    finished.store(true, Ordering::SeqCst);
    exit.into()
}

/// As much of the context as a failure needs.
fn of_failures(ctx: &Context) -> Context {
    Context {
        events: ctx.events.clone(),
        failure: ctx.failure,
        ..Context::default()
    }
}

/// Ends the process as a failure ends.
fn give_up(ctx: &Context, why: &str) {
    let exit = fail(ctx, why, &mut std::io::stderr());
    std::process::exit(i32::from(exit == Exit::Block) * 2);
}

/// Ends the process when the answer takes too long.
fn watch(ctx: &Context, finished: &Arc<AtomicBool>) {
    let ctx = of_failures(ctx);
    let finished = Arc::clone(finished);
    let guard = move || {
        std::thread::sleep(WATCHDOG);
        if !finished.swap(true, Ordering::SeqCst) {
            give_up(&ctx, "no answer within 500 ms");
        }
    };
    // Without a thread there is no watchdog; the work is bounded all the same.
    let _ = std::thread::Builder::new()
        .name("watchdog".to_owned())
        .spawn(guard);
}
