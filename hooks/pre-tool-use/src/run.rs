//! The hook as a program: an event on stdin, an exit code, one line on stderr.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::call::Call;
use crate::context::{Context, Failure, Sight};
use crate::decide::{Effort, judge};
use crate::events;
use crate::walk::Verdict;

/// Longest time one call may take before the coarse pass alone decides. The CLIs would wait far longer (CLIS.md §4), and a stuck hook
/// would stop the firing.
pub const WATCHDOG: Duration = Duration::from_millis(500);

/// Longest time the coarse pass may take once the watchdog has begun it.
const LAST_WORD: Duration = Duration::from_millis(300);

/// Largest event that is read, in bytes; of a larger one the beginning is judged coarsely.
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
/// read, and whose strings name nothing that a rule refuses, ends as [`Context::failure`] says, and is
/// noted in the event file.
pub fn main_with(input: &mut dyn Read, ctx: &Context, out: &mut dyn Write) -> Exit {
    match read_event(input) {
        Ok(text) => answer(&text, ctx, out),
        Err(why) => fail(ctx, &why, out),
    }
}

/// The event's text.
fn read_event(input: &mut dyn Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut limited = input.take(MAX_INPUT + 1);
    limited
        .read_to_end(&mut bytes)
        .map_err(|error| format!("reading the event: {error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn answer(text: &str, ctx: &Context, out: &mut dyn Write) -> Exit {
    if text.len() as u64 > MAX_INPUT {
        return give_up_on(text, ctx, &too_large(), out);
    }
    match Call::from_json(text) {
        Ok(call) => {
            let verdict = judge(&call, ctx, Effort::Plain);
            say(&call, &verdict, ctx, out)
        }
        Err(error) => give_up_on(text, ctx, &format!("reading the event: {error}"), out),
    }
}

fn too_large() -> String {
    format!("the event is larger than {MAX_INPUT} bytes")
}

/// Writes what came of a call.
fn say(call: &Call, verdict: &Verdict, ctx: &Context, out: &mut dyn Write) -> Exit {
    let Some(block) = &verdict.block else {
        if verdict.unjudged {
            return fail(ctx, "the call is too long", out);
        }
        if verdict.coarse {
            note(ctx, &events::coarse(call), out);
            let _ = writeln!(out, "carson: {}", events::COARSE);
        }
        return Exit::Allow;
    };
    note(ctx, &events::blocked(call, block), out);
    // When stderr is closed the exit code still blocks.
    let _ = writeln!(out, "{block}");
    Exit::Block
}

/// Ends a call that could not be judged as a whole: the coarse pass over its strings may still refuse
/// it.
fn give_up_on(text: &str, ctx: &Context, why: &str, out: &mut dyn Write) -> Exit {
    let (call, verdict) = coarsely(text, ctx);
    conclude(&call, &verdict, ctx, why, out)
}

/// What the coarse pass over the strings of an event says.
fn coarsely(text: &str, ctx: &Context) -> (Call, Verdict) {
    let call = Call::from_loose(text);
    // The disk may be what takes so long.
    let ctx = Context {
        sight: Sight::CallOnly,
        ..ctx.clone()
    };
    let verdict = judge(&call, &ctx, Effort::Coarse);
    (call, verdict)
}

/// Ends a call as the coarse pass says, or else as one that could not be judged.
fn conclude(call: &Call, verdict: &Verdict, ctx: &Context, why: &str, out: &mut dyn Write) -> Exit {
    if verdict.block.is_some() {
        say(call, verdict, ctx, out)
    } else {
        fail(ctx, why, out)
    }
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
    let ctx = Arc::new(Context::from_env());
    let run = Arc::new(Run::default());
    watch(&ctx, &run);
    let guard = Arc::clone(&ctx);
    // Its own message would be a second line for the model to read.
    std::panic::set_hook(Box::new(move |_| {
        let exit = fail(&guard, "the hook panicked", &mut std::io::stderr());
        leave(exit);
    }));
    let mut out = std::io::stderr();
    let exit = match read_event(&mut std::io::stdin().lock()) {
        Ok(text) => answer(run.text.get_or_init(|| text), &ctx, &mut out),
        Err(why) => fail(&ctx, &why, &mut out),
    };
    run.finished.store(true, Ordering::SeqCst);
    exit.into()
}

/// What the watchdog sees of the run.
#[derive(Default)]
struct Run {
    finished: AtomicBool,
    /// The event, once it is read.
    text: OnceLock<String>,
}

/// Ends the process.
fn leave(exit: Exit) -> ! {
    std::process::exit(i32::from(exit == Exit::Block) * 2);
}

/// Ends the process when the answer takes too long, with what the coarse pass says, if that says it
/// in time.
fn watch(ctx: &Arc<Context>, run: &Arc<Run>) {
    let (ctx, run) = (Arc::clone(ctx), Arc::clone(run));
    let guard = move || {
        std::thread::sleep(WATCHDOG);
        let why = "no answer within 500 ms";
        let coarse = run.text.get().and_then(|text| {
            let (last_ctx, last_run) = (Arc::clone(&ctx), Arc::clone(&run));
            start(Box::new(move || {
                std::thread::sleep(LAST_WORD);
                end(&last_run, &|out| {
                    fail(&last_ctx, "no answer within 800 ms", out)
                });
            }))?;
            Some(coarsely(text, &ctx))
        });
        end(&run, &|out| match &coarse {
            Some((call, verdict)) => conclude(call, verdict, &ctx, why, out),
            None => fail(&ctx, why, out),
        });
    };
    // Without a thread there is no watchdog; the work is bounded all the same.
    start(Box::new(guard));
}

/// Ends the process with an answer, unless another thread has one.
fn end(run: &Run, answer: &dyn Fn(&mut Vec<u8>) -> Exit) {
    if run.finished.swap(true, Ordering::SeqCst) {
        return;
    }
    let mut out = Vec::new();
    let exit = answer(&mut out);
    let _ = std::io::stderr().write_all(&out);
    leave(exit);
}

/// Starts a thread with the stack that a walk needs.
fn start(body: Box<dyn FnOnce() + Send>) -> Option<()> {
    let builder = std::thread::Builder::new().stack_size(8 * 1024 * 1024);
    builder.spawn(body).ok().map(|_| ())
}
