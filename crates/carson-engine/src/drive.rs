//! How a session of a CLI is run: the part that is the same for every one, and which adapter is
//! asked for the rest.

use std::ops::ControlFlow;
use std::time::Duration;

use carson_core::EngineKind;
use carson_proc::{Cancel, Command, Limits, Line, StopReason, Stream, run};

use crate::adapters::adapter;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::leash::Leash;
use crate::reader::{Reader, last_words};
use crate::session::{Access, Ended, Event, Session, SessionEnd};
use crate::transcript::Transcript;

/// What a session gets beside the environment that it is given. A value of `…` is another one in
/// each session.
#[must_use]
pub fn added_environment(kind: EngineKind, access: Access) -> Vec<(&'static str, &'static str)> {
    (adapter(kind).variables)(access)
}

impl Engine {
    /// Runs one session to its end.
    ///
    /// # Errors
    /// When it could not be started. Once started, every end is a [`SessionEnd`].
    pub async fn run(
        &self,
        session: &Session<'_>,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<SessionEnd, EngineError> {
        let adapter = adapter(self.kind);
        let command = (adapter.command)(self, session)?;
        let reader = (adapter.reader)(self, session);
        drive(command, session, reader, cancel, on_event).await
    }
}

/// The part that is the same for every CLI.
async fn drive(
    command: Command,
    session: &Session<'_>,
    mut reader: Box<dyn Reader>,
    cancel: &Cancel,
    on_event: &mut dyn FnMut(&Event),
) -> Result<SessionEnd, EngineError> {
    let mut transcript = Transcript::create(session.transcript, session.redactor)?;
    let limits = Limits {
        silence: Some(session.silence),
        max_output: session.max_output,
        grace: Duration::from_secs(5),
        ..Limits::within(session.wall_clock)
    };
    let mut leash = Leash::new(session.max_tool_calls);
    let each = |line: Line<'_>| match line.stream {
        Stream::Stderr => {
            let redacted = session.redactor.redact_bytes(line.bytes);
            reader.aside(&redacted, on_event);
            ControlFlow::Continue(())
        }
        Stream::Stdout => {
            transcript.line(&line);
            // Everything that is made of a session's output is made of this.
            let redacted = session.redactor.redact_bytes(line.bytes);
            let flow = reader.line(&redacted, &mut |event| {
                leash.observe(event);
                on_event(event);
            });
            match leash.flow() {
                ControlFlow::Break(()) => ControlFlow::Break(()),
                ControlFlow::Continue(()) => flow,
            }
        }
    };
    // What it runs must not be able to speak in its name.
    let command = command.unforgeable_output();
    let command = match session.confined {
        Some(walls) => command.confined_after(walls.profile, walls.first.clone()),
        None => command,
    };
    let done = run(&command, &limits, cancel, each).await?;
    transcript.end();
    let now = session.clock.now();
    let waited = reader.waited(&done, session.redactor, now);
    let mut end = reader.end(&done, session.redactor, now);
    (end.elapsed, end.leaked) = (done.elapsed, done.leaked);
    (end.exit, end.said) = (Some(done.exit), last_words(&done, session.redactor));
    say_memory(&mut end.ended, done.out_of_memory);
    // What Carson did to the process says more than what its output looks like then.
    match done.stopped {
        Some(StopReason::Cancelled) => end.ended = Ended::Cancelled,
        Some(StopReason::OutputCap) => end.ended = Ended::OutputCap,
        Some(reason @ (StopReason::WallClock | StopReason::Silence)) => {
            end.ended = waited.unwrap_or(Ended::TimedOut(reason));
        }
        Some(StopReason::Asked) | None => {
            if let Some(ended) = leash.ended() {
                end.ended = ended;
            }
        }
    }
    Ok(end)
}

/// The kernel gives who used up its memory no chance to say so.
fn say_memory(ended: &mut Ended, processes: u32) {
    if let Ended::Crashed { message, .. } = ended
        && processes > 0
    {
        let said = match message.trim() {
            "" => String::new(),
            said => format!(": {said}"),
        };
        *message = format!(
            "the session's memory was used up (limits.max_memory_mb), and the kernel ended {processes} of its processes{said}"
        );
    }
}
