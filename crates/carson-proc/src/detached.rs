//! A child that outlives us.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

use crate::command::Command;
use crate::error::SpawnError;
use crate::process_id::ProcessId;
use crate::run::Exit;
use crate::sweep::Known;

/// A started program that is not tied to our life. Dropping this leaves it alone.
#[derive(Debug)]
pub struct Detached {
    /// Who it is.
    pub id: ProcessId,
    child: tokio::process::Child,
    _known: KnownChild,
}

struct KnownChild(#[expect(dead_code, reason = "held for its drop")] Known);

impl std::fmt::Debug for KnownChild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KnownChild")
    }
}

impl Detached {
    /// Waits for its end and reaps it.
    ///
    /// # Errors
    /// What `waitpid` says.
    pub async fn wait(mut self) -> std::io::Result<Exit> {
        self.child.wait().await.map(Exit::of)
    }
}

/// Starts a program in a process group of its own, with its output appended to `log` (0600).
///
/// # Errors
/// When the log cannot be opened or the program cannot be started.
pub fn spawn_detached(command: &Command, log: &Path) -> Result<Detached, SpawnError> {
    let fail = |source| SpawnError::of(command, source);
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(log)
        .map_err(|source| SpawnError::Io {
            program: command.program.clone(),
            source,
        })?;
    let err = log.try_clone().map_err(fail)?;
    let mut child = command.build("detached");
    child
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(err)
        .kill_on_drop(false);
    let child = child.spawn().map_err(fail)?;
    let pid = child
        .id()
        .and_then(|pid| i32::try_from(pid).ok())
        .unwrap_or(0);
    let id = ProcessId::of(pid).unwrap_or(ProcessId { pid, start: 0 });
    Ok(Detached {
        id,
        child,
        _known: KnownChild(Known::new(pid)),
    })
}

impl Exit {
    pub(crate) fn of(status: std::process::ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or(0)),
        }
    }
}
