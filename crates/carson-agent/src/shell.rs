//! Runs a command line in the working directory: a call of `run`, or the check.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use carson_proc::{Cancel, Command, Exit, Finished, Limits, SpawnError, StopReason};
use carson_redact::Redactor;
use thiserror::Error;

use crate::cut::cut_middle;
use crate::place::Place;
use crate::toolbox::{Check, Verdict};
use crate::walls::Walls;

/// Bytes that are kept of a command's output, at its beginning and at its end.
const KEEP: usize = 64 * 1024;
/// Bytes of output that end it.
const OUTPUT_MAX: u64 = 16 * 1024 * 1024;

/// A command line that was not run.
#[derive(Debug, Error)]
pub enum ShellError {
    /// The shell could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The walls could not be written down.
    #[error("the sandbox cannot be prepared: {0}")]
    Walls(#[from] io::Error),
}

/// How commands run.
#[derive(Clone, Debug)]
pub struct Shell {
    /// Where.
    pub place: Place,
    /// What they see.
    pub env: Vec<(OsString, OsString)>,
    /// What is around them.
    pub walls: Option<Walls>,
    /// The longest that one may take.
    pub longest: Duration,
    /// What is taken out of what they print.
    pub redactor: Redactor,
}

/// What came of a command line.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Whether it ended with 0, and by itself.
    pub passed: bool,
    /// How it ended, in words.
    pub ended: String,
    /// What it printed, its beginning and its end.
    pub output: String,
}

impl Shell {
    /// Runs a command line to its end, with everything that it started, within a time.
    ///
    /// # Errors
    /// When it could not be started.
    pub async fn run(&self, line: &str, time: Duration) -> Result<Ran, ShellError> {
        let command = Command::new("/bin/sh", self.place.root())
            .args(["-c", line])
            .exact_env(self.env.clone());
        let limits = Limits {
            grace: Duration::from_secs(2),
            max_output: OUTPUT_MAX,
            keep: KEEP,
            ..Limits::within(time.min(self.longest))
        };
        let Some(walls) = &self.walls else {
            return Ok(self.ran(&finish(&command, &limits).await?));
        };
        let walled = walls.around(command)?;
        Ok(self.ran(&finish(&walled.command, &limits).await?))
    }

    fn ran(&self, finished: &Finished) -> Ran {
        let ended = match (finished.stopped, finished.exit) {
            (Some(StopReason::WallClock), _) => "stopped: it took too long".to_owned(),
            (Some(StopReason::OutputCap), _) => "stopped: it printed too much".to_owned(),
            (Some(_), _) => "stopped".to_owned(),
            (None, Exit::Code(code)) => format!("exit code {code}"),
            (None, Exit::Signal(signal)) => format!("signal {signal}"),
        };
        let clean = |text: &str| self.redactor.redact(text).into_owned();
        let out = finished.stdout.text_without(clean);
        let err = finished.stderr.text_without(clean);
        let between = if out.is_empty() || out.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        Ran {
            passed: finished.success(),
            ended,
            output: format!("{out}{between}{err}"),
        }
    }
}

async fn finish(command: &Command, limits: &Limits) -> Result<Finished, SpawnError> {
    let going_on = |_: carson_proc::Line<'_>| std::ops::ControlFlow::Continue(());
    carson_proc::run(command, limits, &Cancel::new(), going_on).await
}

/// The check of `--until`.
#[derive(Clone, Debug)]
pub struct Until {
    /// The command line, as the operator wrote it.
    pub line: String,
    /// How it runs.
    pub shell: Shell,
}

impl Check for Until {
    async fn run(&mut self, time: Duration, most: usize) -> Verdict {
        match self.shell.run(&self.line, time).await {
            Ok(ran) => Verdict {
                passed: ran.passed,
                ended: ran.ended,
                output: cut_middle(&ran.output, most),
            },
            Err(error) => Verdict {
                passed: false,
                ended: error.to_string(),
                output: String::new(),
            },
        }
    }
}
