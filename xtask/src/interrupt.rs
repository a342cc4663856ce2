//! Children that end before we do.
//!
//! Ctrl-C in a terminal reaches the child too, which is given the time to end well; we only have to
//! survive it and clean up. A signal that was sent to us alone is passed on.

use std::io::{IsTerminal, stdin};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

use anyhow::{Context, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// We were told to stop.
#[derive(Debug)]
pub struct Interrupted {
    signal: i32,
}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stopped by signal {}", self.signal)
    }
}

impl std::error::Error for Interrupted {}

impl Interrupted {
    /// What a shell reports for a program that died of this signal.
    pub fn exit_code(&self) -> u8 {
        signal_exit_code(self.signal)
    }
}

/// Runs children one at a time, and remembers whether a signal asked for the end.
#[derive(Debug, Default)]
pub struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    child: AtomicI32,
    signal: AtomicI32,
}

impl Interrupt {
    /// Takes over SIGINT, SIGTERM and SIGHUP for the rest of the process's life.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn install() -> anyhow::Result<Self> {
        let mut signals =
            Signals::new([SIGHUP, SIGINT, SIGTERM]).context("cannot handle signals")?;
        let interrupt = Self::default();
        let shared = Arc::clone(&interrupt.shared);
        thread::spawn(move || signals.forever().for_each(|signal| shared.stop(signal)));
        Ok(interrupt)
    }

    /// Runs one child to its end.
    ///
    /// # Errors
    /// When it cannot be started, or with [`Interrupted`] when we were told to stop.
    pub fn run(&self, command: &mut Command) -> anyhow::Result<ExitStatus> {
        self.check()?;
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot run {program}"))?;
        self.shared
            .child
            .store(child.id().cast_signed(), Ordering::SeqCst);
        let status = child
            .wait()
            .with_context(|| format!("cannot wait for {program}"))?;
        self.shared.child.store(0, Ordering::SeqCst);
        self.check()?;
        Ok(status)
    }

    /// Runs one child that has to succeed.
    ///
    /// # Errors
    /// As [`Self::run`], and when it fails.
    pub fn must(&self, command: &mut Command) -> anyhow::Result<()> {
        let status = self.run(command)?;
        ensure!(status.success(), "failed ({status}): {command:?}");
        Ok(())
    }

    /// # Errors
    /// With [`Interrupted`] when we were told to stop.
    pub fn check(&self) -> anyhow::Result<()> {
        match self.shared.signal.load(Ordering::SeqCst) {
            0 => Ok(()),
            signal => bail!(Interrupted { signal }),
        }
    }
}

impl Shared {
    fn stop(&self, signal: i32) {
        self.signal.store(signal, Ordering::SeqCst);
        let child = self.child.load(Ordering::SeqCst);
        let from_the_terminal = signal == SIGINT && stdin().is_terminal();
        // A second SIGINT makes the test runner give up on an orderly end.
        if child > 0
            && !from_the_terminal
            && let Ok(signal) = Signal::try_from(signal)
        {
            // The child may have ended by itself in this moment.
            let _ = kill(Pid::from_raw(child), signal);
        }
    }
}

/// Our exit code for a child's end: its own.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or_else(|| signal_exit_code(status.signal().unwrap_or_default())))
}

fn signal_exit_code(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}
