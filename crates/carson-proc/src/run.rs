//! Runs one child to its end, whatever happens.

use std::ops::ControlFlow;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};
use tokio::time::{Instant, sleep_until};

use crate::cancel::Cancel;
use crate::captured::Captured;
use crate::command::{Command, Stdin};
use crate::error::SpawnError;
use crate::limits::Limits;
use crate::process_id::ProcessId;
use crate::sweep::{Known, Tree};

/// A line longer than this is handed on in parts.
const LINE_MAX: usize = 1024 * 1024;

/// Which stream a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One line of output as it came, without its newline. Bytes, not text: nothing is lost.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Where it came from.
    pub stream: Stream,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether the line goes on in the next one (over 1 MiB without a newline).
    pub truncated: bool,
}

/// Why Carson stopped a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Its total time ran out.
    WallClock,
    /// It printed nothing for too long.
    Silence,
    /// It printed too much.
    OutputCap,
    /// The [`Cancel`] handle.
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

/// A child that has ended, and everything below it.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How.
    pub exit: Exit,
    /// Why Carson stopped it, if it did.
    pub stopped: Option<StopReason>,
    /// How long it took.
    pub elapsed: Duration,
    /// Its standard output, head and tail.
    pub stdout: Captured,
    /// Its standard error, head and tail.
    pub stderr: Captured,
    /// Descendants that outlived it and were killed.
    pub leaked: u32,
}

impl Finished {
    /// Exit code 0, and by itself.
    #[must_use]
    pub fn success(&self) -> bool {
        self.exit == Exit::Code(0) && self.stopped.is_none()
    }
}

/// Runs a program that prints little and leaves nothing behind, such as git.
///
/// # Errors
/// When it cannot be started.
pub async fn capture(command: &Command, limits: &Limits) -> Result<Finished, SpawnError> {
    let limits = Limits {
        sweep: false,
        ..*limits
    };
    run(command, &limits, &Cancel::new(), |_| {
        ControlFlow::Continue(())
    })
    .await
}

/// Runs a program to its end. Each line goes to `on_line` as it comes; `Break` stops the child.
///
/// # Errors
/// When it cannot be started. Once started, every end is a [`Finished`].
pub async fn run(
    command: &Command,
    limits: &Limits,
    cancel: &Cancel,
    on_line: impl FnMut(Line<'_>) -> ControlFlow<()>,
) -> Result<Finished, SpawnError> {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let marker = format!(
        "{}-{}",
        std::process::id(),
        RUNS.fetch_add(1, Ordering::Relaxed)
    );
    let started = Instant::now();
    let fail = |source| SpawnError::of(command, source);
    let mut builder = command.build(&marker);
    builder
        .stdin(if matches!(command.stdin, Stdin::Null) {
            Stdio::null()
        } else {
            Stdio::piped()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = builder.spawn().map_err(fail)?;
    let pid = child
        .id()
        .and_then(|pid| i32::try_from(pid).ok())
        .unwrap_or(0);
    let known = Known::new(pid);
    let since = ProcessId::of(pid).map_or(0, |id| id.start);
    let tree = Tree {
        group: pid,
        marker,
        since,
    };
    let guard = GroupGuard(pid);
    let input = feed(child.stdin.take(), &command.stdin);
    let mut watch = Watch::new(limits, started, on_line);
    let exit = {
        let watching = watch.supervise(&mut child, &tree, cancel);
        tokio::pin!(watching, input);
        let mut fed = false;
        loop {
            tokio::select! {
                exit = &mut watching => break exit.map_err(fail)?,
                () = &mut input, if !fed => fed = true,
            }
        }
    };
    drop(known);
    let leaked = if limits.sweep || tree.group_lives() {
        tree.sweep().await
    } else {
        0
    };
    // Ended and swept: the number of the group may belong to somebody else from now on.
    std::mem::forget(guard);
    Ok(watch.finish(exit, leaked))
}

/// Kills the group when the future is dropped half-way, so that nothing runs unwatched.
struct GroupGuard(i32);

impl Drop for GroupGuard {
    fn drop(&mut self) {
        let _ = killpg(Pid::from_raw(self.0), Signal::SIGKILL);
    }
}

/// Writes the input beside the reading. A child that stops reading is no error.
async fn feed(pipe: Option<ChildStdin>, stdin: &Stdin) {
    if let (Some(mut pipe), Stdin::Bytes(bytes)) = (pipe, stdin) {
        let _ = pipe.write_all(bytes).await;
        let _ = pipe.shutdown().await;
    }
}

/// The watching of one child.
struct Watch<'l, F> {
    limits: &'l Limits,
    started: Instant,
    last_output: Instant,
    stopped: Option<StopReason>,
    kill_at: Option<Instant>,
    out: Reader,
    err: Reader,
    on_line: F,
}

impl<'l, F: FnMut(Line<'_>) -> ControlFlow<()>> Watch<'l, F> {
    fn new(limits: &'l Limits, started: Instant, on_line: F) -> Self {
        Self {
            limits,
            started,
            last_output: started,
            stopped: None,
            kill_at: None,
            out: Reader::new(Stream::Stdout, limits.keep),
            err: Reader::new(Stream::Stderr, limits.keep),
            on_line,
        }
    }

    async fn supervise(
        &mut self,
        child: &mut Child,
        tree: &Tree,
        cancel: &Cancel,
    ) -> std::io::Result<Exit> {
        let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
        let mut exit = None;
        let mut drain_until = None;
        let (mut out_buffer, mut err_buffer) = (vec![0; 64 * 1024], vec![0; 16 * 1024]);
        while exit.is_none() || (stdout.is_some() || stderr.is_some()) {
            tokio::select! {
                read = next(&mut stdout, &mut out_buffer) => {
                    let flow = self.output(Stream::Stdout, &out_buffer[..read]);
                    self.after(flow, tree);
                }
                read = next(&mut stderr, &mut err_buffer) => {
                    let flow = self.output(Stream::Stderr, &err_buffer[..read]);
                    self.after(flow, tree);
                }
                status = child.wait(), if exit.is_none() => {
                    exit = Some(Exit::of(status?));
                    drain_until = Some(Instant::now() + self.limits.drain);
                }
                () = sleep_until(self.wall_clock_ends()), if self.stopped.is_none() && exit.is_none() => {
                    self.stop(StopReason::WallClock, tree);
                }
                () = until(self.silence_ends()), if self.stopped.is_none() && exit.is_none() => {
                    self.stop(StopReason::Silence, tree);
                }
                () = cancel.cancelled(), if self.stopped.is_none() && exit.is_none() => {
                    self.stop(StopReason::Cancelled, tree);
                }
                () = until(self.kill_at), if exit.is_none() => {
                    self.kill_at = None;
                    let _ = killpg(Pid::from_raw(tree.group), Signal::SIGKILL);
                }
                () = until(drain_until) => break,
            }
        }
        self.out.flush(&mut self.on_line);
        self.err.flush(&mut self.on_line);
        Ok(exit.unwrap_or(Exit::Signal(0)))
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) -> ControlFlow<StopReason> {
        self.last_output = Instant::now();
        let reader = if stream == Stream::Stdout {
            &mut self.out
        } else {
            &mut self.err
        };
        if reader.push(bytes, &mut self.on_line).is_break() {
            return ControlFlow::Break(StopReason::Asked);
        }
        let total = self.out.kept.total_bytes() + self.err.kept.total_bytes();
        if total > self.limits.max_output {
            return ControlFlow::Break(StopReason::OutputCap);
        }
        ControlFlow::Continue(())
    }

    fn after(&mut self, flow: ControlFlow<StopReason>, tree: &Tree) {
        if let ControlFlow::Break(reason) = flow
            && self.stopped.is_none()
        {
            self.stop(reason, tree);
        }
    }

    fn stop(&mut self, reason: StopReason, tree: &Tree) {
        self.stopped = Some(reason);
        self.kill_at = Some(Instant::now() + self.limits.grace);
        let _ = killpg(Pid::from_raw(tree.group), Signal::SIGTERM);
    }

    fn wall_clock_ends(&self) -> Instant {
        self.started + self.limits.wall_clock
    }

    fn silence_ends(&self) -> Option<Instant> {
        self.limits
            .silence
            .map(|silence| self.last_output + silence)
    }

    fn finish(self, exit: Exit, leaked: u32) -> Finished {
        Finished {
            exit,
            stopped: self.stopped,
            elapsed: self.started.elapsed(),
            stdout: self.out.kept,
            stderr: self.err.kept,
            leaked,
        }
    }
}

/// Waits until then; for ever without a time.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Reads the next bytes; forgets the pipe at its end.
async fn next<R: AsyncRead + Unpin>(pipe: &mut Option<R>, buffer: &mut [u8]) -> usize {
    let Some(reader) = pipe else {
        return std::future::pending().await;
    };
    match reader.read(buffer).await {
        Ok(read) if read > 0 => read,
        _ => {
            *pipe = None;
            0
        }
    }
}

/// Cuts one stream into lines.
struct Reader {
    stream: Stream,
    kept: Captured,
    partial: Vec<u8>,
}

impl Reader {
    fn new(stream: Stream, keep: usize) -> Self {
        Self {
            stream,
            kept: Captured::keeping(keep),
            partial: Vec::new(),
        }
    }

    fn push(
        &mut self,
        bytes: &[u8],
        on_line: &mut impl FnMut(Line<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.kept.push(bytes);
        let mut flow = ControlFlow::Continue(());
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            let ended = self.partial.ends_with(b"\n");
            if ended {
                self.partial.pop();
            }
            if ended || self.partial.len() >= LINE_MAX {
                let line = Line {
                    stream: self.stream,
                    bytes: &self.partial,
                    truncated: !ended,
                };
                if on_line(line).is_break() {
                    flow = ControlFlow::Break(());
                }
                self.partial.clear();
            }
        }
        flow
    }

    /// Hands on what came without a last newline.
    fn flush(&mut self, on_line: &mut impl FnMut(Line<'_>) -> ControlFlow<()>) {
        if !self.partial.is_empty() {
            let line = Line {
                stream: self.stream,
                bytes: &self.partial,
                truncated: false,
            };
            let _ = on_line(line);
            self.partial.clear();
        }
    }
}
