//! One installed CLI, and how a session of it is run.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use carson_core::EngineKind;
use carson_proc::{Cancel, Command, Finished, Limits, Line, StopReason, Stream, run};
use carson_redact::Redactor;

use crate::error::EngineError;
use crate::rules::RuleSet;
use crate::session::{Access, Ended, Event, Session, SessionEnd};
use crate::transcript::Transcript;
use crate::{claude, command, rehearsal};

/// What a session gets beside the environment that it is given. A value of `…` is another one in
/// each session.
#[must_use]
pub fn added_environment(kind: EngineKind, access: Access) -> Vec<(&'static str, &'static str)> {
    match kind {
        EngineKind::Claude => claude::switches(access),
        EngineKind::Command | EngineKind::Rehearsal => {
            vec![("CARSON_MAX_TURNS", "…"), ("CARSON_STAGE", "…")]
        }
    }
}

/// One installed CLI.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Which.
    pub kind: EngineKind,
    /// Its program.
    pub program: PathBuf,
    /// Arguments that the operator adds (all of them, for `command`).
    pub args: Vec<String>,
    /// The model, where the operator chose one.
    pub model: Option<String>,
    /// The script, for `rehearsal`.
    pub script: Option<PathBuf>,
    /// Whose words a program of `command` speaks, where the operator said so.
    pub limits: Option<RuleSet>,
}

impl Engine {
    /// The rules by which its refusals are read.
    #[must_use]
    pub fn rules(&self) -> Option<RuleSet> {
        match self.kind {
            EngineKind::Claude => Some(RuleSet::Claude),
            EngineKind::Command => self.limits,
            EngineKind::Rehearsal => None,
        }
    }
}

/// Reads one CLI's output.
pub(crate) trait Reader {
    /// One line of standard output. `Break` stops the CLI.
    fn line(&mut self, line: &[u8], on_event: &mut dyn FnMut(&Event)) -> ControlFlow<()>;
    /// Everything it said, once it has ended.
    fn end(self, done: &Finished, redactor: &Redactor, now: DateTime<Utc>) -> SessionEnd;
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
        match self.kind {
            EngineKind::Claude => {
                let command = claude::command(self, session)?;
                drive(
                    command,
                    session,
                    claude::Output::default(),
                    cancel,
                    on_event,
                )
                .await
            }
            EngineKind::Command => {
                let command = command::command(self, session)?;
                let reader = command::Output::new(self.limits);
                drive(command, session, reader, cancel, on_event).await
            }
            EngineKind::Rehearsal => {
                let command = rehearsal::command(self, session)?;
                drive(
                    command,
                    session,
                    rehearsal::Output::default(),
                    cancel,
                    on_event,
                )
                .await
            }
        }
    }
}

/// The part that is the same for every CLI.
async fn drive<R: Reader>(
    command: Command,
    session: &Session<'_>,
    mut reader: R,
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
    let each = |line: Line<'_>| match line.stream {
        Stream::Stderr => ControlFlow::Continue(()),
        Stream::Stdout => {
            transcript.line(&line);
            // Everything that is made of a session's output is made of this.
            reader.line(&session.redactor.redact_bytes(line.bytes), on_event)
        }
    };
    // What it runs must not be able to speak in its name.
    let command = command.unforgeable_output();
    let command = match session.confined {
        Some(profile) => command.confined(profile),
        None => command,
    };
    let done = run(&command, &limits, cancel, each).await?;
    transcript.end();
    let mut end = reader.end(&done, session.redactor, session.clock.now());
    (end.elapsed, end.leaked) = (done.elapsed, done.leaked);
    (end.exit, end.said) = (Some(done.exit), last_words(&done, session.redactor));
    // What Carson did to the process says more than what its output looks like then.
    match done.stopped {
        Some(StopReason::Cancelled) => end.ended = Ended::Cancelled,
        Some(StopReason::OutputCap) => end.ended = Ended::OutputCap,
        Some(reason @ (StopReason::WallClock | StopReason::Silence)) => {
            end.ended = Ended::TimedOut(reason);
        }
        Some(StopReason::Asked) | None => {}
    }
    Ok(end)
}

/// The end of what a process wrote to standard error, for a message.
pub(crate) fn last_words(done: &Finished, redactor: &Redactor) -> String {
    // First redacted, then cut: half a secret would not be found.
    let said = done.stderr.text();
    let said = redactor.redact(&said);
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = lines.len().saturating_sub(3);
    lines[from..].join("; ").chars().take(500).collect()
}
