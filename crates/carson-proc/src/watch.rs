//! Watches one child: its output, its deadlines, and whoever wants it stopped.

use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::process::Child;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::debug;

use crate::cancel::Cancel;
use crate::finished::{Exit, Finished, StopReason};
use crate::group::Group;
use crate::limits::{Ask, Limits};
use crate::lines::{Line, Lines, Stream};
use crate::pipes::Pipes;

/// Where the child is on its way out.
#[derive(Clone, Copy)]
enum State {
    Running,
    /// It was asked and gets SIGKILL then; never, if the grace has no end.
    Asked(StopReason, Option<Instant>),
    Killed(StopReason),
    Ended(Option<StopReason>),
}

impl State {
    fn reason(self) -> Option<StopReason> {
        match self {
            Self::Running => None,
            Self::Asked(reason, _) | Self::Killed(reason) => Some(reason),
            Self::Ended(reason) => reason,
        }
    }
}

pub(crate) struct Watch<'a, F> {
    limits: &'a Limits,
    group: Group,
    started: Instant,
    /// After how long it was asked to end.
    stopped_after: Option<Duration>,
    last_output: Instant,
    state: State,
    stdout: Lines,
    stderr: Lines,
    on_line: F,
}

impl<'a, F: FnMut(Line<'_>) -> ControlFlow<()>> Watch<'a, F> {
    pub(crate) fn new(limits: &'a Limits, group: Group, started: Instant, on_line: F) -> Self {
        Self {
            limits,
            group,
            started,
            stopped_after: None,
            last_output: started,
            state: State::Running,
            stdout: Lines::new(Stream::Stdout, limits.keep),
            stderr: Lines::new(Stream::Stderr, limits.keep),
            on_line,
        }
    }

    /// Stays until the child itself is gone, and drives it there when a limit is passed.
    pub(crate) async fn until_exit(
        &mut self,
        child: &mut Child,
        pipes: &mut Pipes,
        cancel: &Cancel,
    ) -> io::Result<Exit> {
        let cancelled = cancel.cancelled();
        tokio::pin!(cancelled);
        loop {
            self.hurry();
            let running = matches!(self.state, State::Running);
            tokio::select! {
                status = child.wait() => {
                    self.state = State::Ended(self.state.reason());
                    return status.map(Exit::from);
                }
                (stream, bytes) = pipes.read() => self.take(stream, bytes),
                () = until(self.started.checked_add(self.limits.wall_clock)), if running => {
                    self.stop(StopReason::WallClock);
                }
                () = until(self.silence_ends()), if running => self.stop(StopReason::Silence),
                () = &mut cancelled, if running => self.stop(StopReason::Cancelled),
                () = until(self.kill_at()) => self.kill(),
            }
        }
    }

    /// Keeps the two bounds that end it by what the clock says now: timers only fire when there is nothing to read, and
    /// somebody who prints without end always has something.
    fn hurry(&mut self) {
        let now = Instant::now();
        let is_over = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if is_over(self.started.checked_add(self.limits.wall_clock)) {
            self.stop(StopReason::WallClock);
        }
        if is_over(self.kill_at()) {
            self.kill();
        }
    }

    /// Reads what is left in the pipes. Somebody who holds them open does not hold us up.
    pub(crate) async fn drain(&mut self, pipes: &mut Pipes) {
        let patience = self.limits.drain;
        let reading = async {
            while pipes.are_open() && !self.is_capped() {
                let (stream, bytes) = pipes.read().await;
                self.take(stream, bytes);
            }
        };
        if timeout(patience, reading).await.is_err() {
            debug!("output is still held open after the end of the child");
        }
    }

    /// Whether the child was stopped rather than ended by itself.
    pub(crate) fn was_stopped(&self) -> bool {
        self.state.reason().is_some()
    }

    pub(crate) fn finish(mut self, exit: Exit, leaked: u32, out_of_memory: u32) -> Finished {
        self.flush();
        Finished {
            exit,
            stopped: self.state.reason(),
            elapsed: self.started.elapsed(),
            stopped_after: self.stopped_after,
            stdout: self.stdout.kept,
            stderr: self.stderr.kept,
            leaked,
            out_of_memory,
        }
    }

    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        self.last_output = Instant::now();
        let capped = self.is_capped();
        let lines = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        if capped {
            // Whoever writes the lines to a file must not fill the disk during the grace period.
            lines.kept.push(bytes);
            return;
        }
        if lines.push(bytes, &mut self.on_line).is_break() {
            self.stop(StopReason::Asked);
        }
        if self.is_capped() {
            self.stop(StopReason::OutputCap);
        }
    }

    fn flush(&mut self) {
        if self.is_capped() {
            return;
        }
        let flows = [
            self.stdout.flush(&mut self.on_line),
            self.stderr.flush(&mut self.on_line),
        ];
        if flows.iter().any(ControlFlow::is_break) {
            self.stop(StopReason::Asked);
        }
    }

    fn is_capped(&self) -> bool {
        let total = self.stdout.kept.total_bytes() + self.stderr.kept.total_bytes();
        total > self.limits.max_output
    }

    /// The first reason stands; the later ones follow from the stopping.
    fn stop(&mut self, reason: StopReason) {
        match self.state {
            State::Running => {
                debug!(?reason, "stopping a child");
                self.stopped_after = Some(self.started.elapsed());
                self.group.signal(match self.limits.ask {
                    Ask::Terminate => Signal::SIGTERM,
                    Ask::Interrupt => Signal::SIGINT,
                });
                self.state = State::Asked(reason, Instant::now().checked_add(self.limits.grace));
            }
            State::Ended(None) => self.state = State::Ended(Some(reason)),
            State::Asked(..) | State::Killed(_) | State::Ended(Some(_)) => {}
        }
    }

    fn kill(&mut self) {
        if let State::Asked(reason, _) = self.state {
            self.group.signal(Signal::SIGKILL);
            self.state = State::Killed(reason);
        }
    }

    fn kill_at(&self) -> Option<Instant> {
        match self.state {
            State::Asked(_, at) => at,
            _ => None,
        }
    }

    fn silence_ends(&self) -> Option<Instant> {
        self.last_output.checked_add(self.limits.silence?)
    }
}

/// Waits until then; for ever without a time.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
