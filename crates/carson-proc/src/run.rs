//! Runs one child to its end, whatever happens.

use std::future::Future;
use std::ops::ControlFlow;
use std::process::Stdio;

use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::cancel::Cancel;
use crate::children;
use crate::command::{Command, Stdin};
use crate::error::SpawnError;
use crate::finished::{Exit, Finished};
use crate::limits::Limits;
use crate::lines::Line;
use crate::marker::Marker;
use crate::pipes::{Ends, feed, feed_as_it_comes};
use crate::sweep::{Reach, Tree};
use crate::watch::Watch;

/// Runs a program that prints little and leaves nothing behind, such as git. What left its process
/// group is not looked for, whatever [`Limits::sweep`] says: that saves the walk over the process
/// table, and a connection that ssh shares on purpose.
///
/// # Errors
/// When it cannot be started.
pub async fn capture(command: &Command, limits: &Limits) -> Result<Finished, SpawnError> {
    capture_fed(command, limits, input_of(command)).await
}

/// The same with an input that may only be there later; for a command whose input are bytes.
pub(crate) async fn capture_fed(
    command: &Command,
    limits: &Limits,
    input: impl Future<Output = Vec<u8>>,
) -> Result<Finished, SpawnError> {
    let limits = Limits {
        sweep: false,
        ..*limits
    };
    let feeding = |pipe| feed(pipe, input);
    run_fed(command, &limits, &Cancel::new(), feeding, |_| {
        ControlFlow::Continue(())
    })
    .await
}

async fn input_of(command: &Command) -> Vec<u8> {
    match &command.stdin {
        Stdin::Null | Stdin::Sent => Vec::new(),
        Stdin::Bytes(bytes) => bytes.clone(),
    }
}

/// Runs a program to its end. Each line goes to `on_line` as it comes; `Break` stops the child, and
/// the lines that it still prints until then come too. No line comes after the output cap.
///
/// # Errors
/// When it cannot be started. Once started, every end is a [`Finished`].
pub async fn run(
    command: &Command,
    limits: &Limits,
    cancel: &Cancel,
    on_line: impl FnMut(Line<'_>) -> ControlFlow<()>,
) -> Result<Finished, SpawnError> {
    let feeding = |pipe| feed(pipe, input_of(command));
    run_fed(command, limits, cancel, feeding, on_line).await
}

/// Runs a program that is talked to, as [`run`] does: what is sent is written to it as it comes, and
/// its input ends when all senders are gone. The command reads [`Stdin::Sent`].
///
/// # Errors
/// When it cannot be started. Once started, every end is a [`Finished`].
pub async fn converse(
    command: &Command,
    limits: &Limits,
    cancel: &Cancel,
    sent: mpsc::Receiver<Vec<u8>>,
    on_line: impl FnMut(Line<'_>) -> ControlFlow<()>,
) -> Result<Finished, SpawnError> {
    let feeding = |pipe| feed_as_it_comes(pipe, sent);
    run_fed(command, limits, cancel, feeding, on_line).await
}

async fn run_fed<F: Future<Output = ()>>(
    command: &Command,
    limits: &Limits,
    cancel: &Cancel,
    feed: impl FnOnce(Option<ChildStdin>) -> F,
    on_line: impl FnMut(Line<'_>) -> ControlFlow<()>,
) -> Result<Finished, SpawnError> {
    let started = Instant::now();
    let fail = |source| SpawnError::of(command, source);
    let marker = Marker::next();
    let cgroup = command.cgroup(&marker);
    let mut builder = command.build(&marker, cgroup.as_ref());
    builder
        .stdin(match command.stdin {
            Stdin::Null => Stdio::null(),
            Stdin::Bytes(_) | Stdin::Sent => Stdio::piped(),
        })
        .kill_on_drop(true);
    let ends = Ends::give(command.output, &mut builder).map_err(fail)?;
    let (mut child, registered) = children::spawn(&mut builder).map_err(fail)?;
    // It holds the child's ends: an output has an end only when nobody does.
    drop(builder);
    // From here on, dropping the tree kills it.
    let mut tree = Tree::new(registered, marker, Reach::of(limits)).within(cgroup);
    let mut pipes = ends.open(&mut child).map_err(fail)?;
    let feeding = feed(child.stdin.take());
    let mut watch = Watch::new(limits, tree.group(), started, on_line);
    let watching = watch.until_exit(&mut child, &mut pipes, cancel);
    let exit = beside(feeding, watching).await.map_err(fail)?;
    let violent = watch.was_stopped() || matches!(exit, Exit::Signal(_));
    if !violent {
        watch.drain(&mut pipes).await;
    }
    let out_of_memory = tree.out_of_memory();
    let leaked = tree.sweep().await + command.left();
    if violent || leaked > 0 {
        // Whoever held the pipes open is dead: what they wrote ends now.
        watch.drain(&mut pipes).await;
    }
    Ok(watch.finish(exit, leaked, out_of_memory))
}

/// Does both until the second is done.
async fn beside<T>(first: impl Future<Output = ()>, second: impl Future<Output = T>) -> T {
    tokio::pin!(first, second);
    tokio::select! {
        done = &mut second => done,
        () = &mut first => second.await,
    }
}

#[cfg(test)]
mod output_tests;
#[cfg(test)]
mod tests;
