//! A child that outlives us.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;

use crate::children::{self, Registered};
use crate::command::Command;
use crate::error::SpawnError;
use crate::finished::Exit;
use crate::marker::Marker;
use crate::process_id::ProcessId;

/// A started program that is not tied to our life. Dropping this leaves it alone.
#[derive(Debug)]
pub struct Detached {
    /// Who it is.
    pub id: ProcessId,
    child: tokio::process::Child,
    /// Held until it has been reaped.
    _registered: Registered,
}

impl Detached {
    /// Waits for its end and reaps it.
    ///
    /// # Errors
    /// What `waitpid` says.
    pub async fn wait(mut self) -> std::io::Result<Exit> {
        self.child.wait().await.map(Exit::from)
    }
}

/// Starts a program in a process group of its own, with its output appended to `log` (0600).
///
/// # Errors
/// When the log cannot be opened or the program cannot be started.
pub fn spawn_detached(command: &Command, log: &Path) -> Result<Detached, SpawnError> {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(log)
        .map_err(|source| SpawnError::Io {
            program: command.program.clone(),
            source,
        })?;
    spawn_detached_to(command, log)
}

/// The same with a file that is open already.
///
/// # Errors
/// When the program cannot be started.
pub fn spawn_detached_to(command: &Command, log: File) -> Result<Detached, SpawnError> {
    let fail = |source| SpawnError::of(command, source);
    let err = log.try_clone().map_err(fail)?;
    let mut builder = command.build(&Marker::detached(), None);
    builder
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(err)
        .kill_on_drop(false);
    let (child, registered) = children::spawn(&mut builder).map_err(fail)?;
    // Whoever reads this later compares it with the process table, so it must come from there.
    let id = ProcessId::of(registered.0.pid).unwrap_or(registered.0);
    Ok(Detached {
        id,
        child,
        _registered: registered,
    })
}

#[cfg(test)]
mod tests;
