//! Runs a program to its end, with everything that it starts.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{
    Cancel, Command, Exit, Finished, Limits, Line, SpawnError, StopReason, find_on_path,
};

use crate::output::Output;
use crate::words::Words;

/// Bytes of the beginning, and of the end, of what is printed that are kept.
pub const KEEP: usize = 1 << 20;
/// Between SIGTERM and SIGKILL.
pub const GRACE: Duration = Duration::from_secs(10);

/// A call of a program.
#[derive(Clone, Debug)]
pub struct Call<'c> {
    /// What is run.
    pub words: &'c Words,
    /// Where.
    pub cwd: &'c Path,
    /// Its environment, all of it.
    pub env: Vec<(OsString, OsString)>,
    /// What it reads; nothing when it is empty.
    pub stdin: Vec<u8>,
    /// The longest that it may take.
    pub timeout: Duration,
    /// The profile of the walls around it.
    pub walls: Option<PathBuf>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By itself.
    Exited(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// We ended it: its time was over.
    TimedOut,
    /// We ended it: somebody asked.
    Stopped,
}

/// Why a program did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unable {
    /// It may not be run, or is no program: 126 of a shell.
    NotExecutable,
    /// There is none: 127 of a shell.
    NotFound,
}

/// A call that has ended, and everything that it started.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How.
    pub how: How,
    /// How long it took.
    pub elapsed: Duration,
    /// What it printed on both streams, line by line as it came.
    pub output: Output,
    /// Processes that it left behind, and that were ended.
    pub leaked: u32,
}

impl Ran {
    /// Whether it ended with 0, and by itself.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.how == How::Exited(0)
    }

    /// Whether there was nothing that could be run, by what shells say of it (POSIX.1-2024, Shell Command Language,
    /// 2.8.2).
    #[must_use]
    pub fn unable(&self) -> Option<Unable> {
        match self.how {
            How::Exited(126) => Some(Unable::NotExecutable),
            How::Exited(127) => Some(Unable::NotFound),
            _ => None,
        }
    }

    /// A program that did not start ends as a shell would have ended.
    fn not_started(error: &SpawnError) -> Self {
        let code = match error {
            SpawnError::NotFound { .. } | SpawnError::Interpreter { .. } => 127,
            SpawnError::NotExecutable { .. } | SpawnError::Cwd { .. } | SpawnError::Io { .. } => {
                126
            }
        };
        let mut output = Output::keeping(KEEP);
        output.push(format!("{error}\n").as_bytes());
        Self {
            how: How::Exited(code),
            elapsed: Duration::ZERO,
            output,
            leaked: 0,
        }
    }
}

impl std::fmt::Display for How {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("its time was over"),
            Self::Stopped => f.write_str("it was stopped"),
        }
    }
}

/// Runs it. Each line goes to `told` as it comes. At the end of its time, or when somebody asks, the tree gets SIGTERM,
/// and SIGKILL ten seconds later; what has left the tree is found and ended, too.
pub async fn run(call: &Call<'_>, cancel: &Cancel, mut told: impl FnMut(&Line<'_>)) -> Ran {
    let mut output = Output::keeping(KEEP);
    let limits = Limits {
        grace: GRACE,
        // Its time bounds it; of what it prints only the ends are kept.
        max_output: u64::MAX,
        keep: 0,
        ..Limits::within(call.timeout)
    };
    let on_line = |line: Line<'_>| {
        output.push(line.bytes);
        output.push(b"\n");
        told(&line);
        ControlFlow::Continue(())
    };
    match carson_proc::run(&command(call), &limits, cancel, on_line).await {
        Err(error) => Ran::not_started(&error),
        Ok(finished) => Ran {
            how: how(&finished),
            elapsed: finished.elapsed,
            leaked: finished.leaked,
            output,
        },
    }
}

fn command(call: &Call<'_>) -> Command {
    let mut command = match call.words {
        Words::Line(line) => Command::new("/bin/sh", call.cwd).args(["-c", line]),
        Words::Argv(words) => {
            let (name, args) = words
                .split_first()
                .map_or(("", &[][..]), |(name, args)| (name, args));
            Command::new(program(name, call), call.cwd).args(args)
        }
    };
    command = command.exact_env(call.env.clone());
    if !call.stdin.is_empty() {
        command = command.stdin_bytes(call.stdin.clone());
    }
    match &call.walls {
        Some(profile) => command.confined(profile),
        None => command,
    }
}

/// A name without a slash is looked for; any other is meant from where it runs.
fn program(name: &str, call: &Call<'_>) -> PathBuf {
    let path = call.env.iter().rev().find(|(name, _)| name == "PATH");
    let path = path.map(|(_, path)| path.as_os_str());
    let found = (!name.contains('/')).then(|| find_on_path(Path::new(name), path));
    found.flatten().unwrap_or_else(|| name.into())
}

fn how(finished: &Finished) -> How {
    match (finished.stopped, finished.exit) {
        (Some(StopReason::Cancelled | StopReason::Asked), _) => How::Stopped,
        (Some(_), _) => How::TimedOut,
        (None, Exit::Code(code)) => How::Exited(code),
        (None, Exit::Signal(signal)) => How::Signal(signal),
    }
}

#[cfg(test)]
mod tests;
