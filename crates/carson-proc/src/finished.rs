//! How a child ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::captured::Captured;

/// Why Carson stopped a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Its total time ran out.
    WallClock,
    /// It printed nothing for too long.
    Silence,
    /// It printed too much.
    OutputCap,
    /// The [`Cancel`](crate::Cancel) handle.
    Cancelled,
    /// The caller, by `ControlFlow::Break`.
    Asked,
}

/// How the child itself ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

/// A shell says of a command that a signal ended: this and its number (so do dash and bash; POSIX.1-2024 wants more
/// than 128).
const SHELL_SIGNAL: i32 = 128;

impl Exit {
    /// Whether it, or what a shell ran, ended because a file was to become larger than its limits let it.
    #[must_use]
    pub fn is_of_a_large_file(self) -> bool {
        let signal = Signal::SIGXFSZ as i32;
        self == Self::Signal(signal) || self == Self::Code(SHELL_SIGNAL + signal)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or(0)),
        }
    }
}

/// A child that has ended, and everything below it.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How.
    pub exit: Exit,
    /// Why Carson stopped it, if it did. A cap that its very last output passed counts too.
    pub stopped: Option<StopReason>,
    /// How long it took, with the drain and the sweep.
    pub elapsed: Duration,
    /// After how long Carson stopped it, if it did; it had some seconds more to end by itself.
    pub stopped_after: Option<Duration>,
    /// Its standard output, head and tail.
    pub stdout: Captured,
    /// Its standard error, head and tail.
    pub stderr: Captured,
    /// Descendants that outlived it and were killed.
    pub leaked: u32,
    /// How many of them all the kernel ended because their control group's memory was used up.
    pub out_of_memory: u32,
}

impl Finished {
    /// Exit code 0, and by itself.
    #[must_use]
    pub fn success(&self) -> bool {
        self.exit == Exit::Code(0) && self.stopped.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_to_become_too_large_is_known_by_the_signal_of_whoever_wrote() {
        // As `wait` gives them (wait(2)): a signal's number, an exit code in the second byte.
        for (status, is) in [(25, true), (153 << 8, true), (25 << 8, false), (9, false)] {
            let exit = Exit::from(ExitStatus::from_raw(status));
            assert_eq!(exit.is_of_a_large_file(), is, "{exit}");
        }
    }
}
