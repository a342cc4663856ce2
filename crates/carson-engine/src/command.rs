//! Any program: the prompt on standard input, the answer on standard output.
//!
//! Exit 0 is an end with a text; exit 75 (`EX_TEMPFAIL` of sysexits.h) is a limit without a known
//! end; anything else is a crash. Such a program has no hook of its own.

use std::ops::ControlFlow;

use carson_proc::{Command, Exit, Finished};
use carson_redact::Redactor;

use crate::engine::{Engine, Reader, last_words};
use crate::error::EngineError;
use crate::session::{Ended, Event, Limit, LimitKind, Session, SessionEnd};

/// `EX_TEMPFAIL`.
const TRY_LATER: i32 = 75;

pub(crate) fn command(engine: &Engine, session: &Session<'_>) -> Result<Command, EngineError> {
    Ok(Command::new(&engine.program, session.cwd)
        .args(engine.args.iter().cloned())
        .exact_env(session.env.clone())
        .env("CARSON_STAGE", session.stage.as_str())
        .env("CARSON_MAX_TURNS", session.max_turns.to_string())
        .stdin_bytes(session.prompt))
}

pub(crate) struct Output;

impl Reader for Output {
    fn line(&mut self, _line: &[u8], _on_event: &mut dyn FnMut(&Event)) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn end(self, done: &Finished, redactor: &Redactor) -> SessionEnd {
        let ended = match done.exit {
            Exit::Code(0) => Ended::Completed,
            Exit::Code(TRY_LATER) => Ended::Limited(Limit {
                kind: LimitKind::RateLimit,
                resets_at: None,
                message: last_words(done, redactor),
            }),
            exit => Ended::Crashed {
                exit,
                message: last_words(done, redactor),
            },
        };
        SessionEnd {
            ended,
            text: redactor.redact(&done.stdout.text()).into_owned(),
            turns: 1,
            tokens_in: 0,
            tokens_out: 0,
            cost_usd: None,
            denied: Vec::new(),
            elapsed: done.elapsed,
            leaked: done.leaked,
            exit: None,
            said: String::new(),
        }
    }
}
