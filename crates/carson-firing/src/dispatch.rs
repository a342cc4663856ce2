//! Starts the process of a claimed firing.

use std::path::Path;

use carson_core::FiringId;
use carson_proc::{Command, Detached, SpawnError, spawn_detached};
use chrono::{DateTime, Utc};

use carson_home::Home;

use crate::life::STARTED_FOR;

/// How a firing's process begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Begin<'a> {
    /// A set of settings that was checked, whatever an operator is writing meanwhile; those of the
    /// home without it.
    pub settings: Option<&'a Path>,
    /// The instant at which it is due; at once without it.
    pub at: Option<DateTime<Utc>>,
}

/// Re-executes the binary for one firing, detached, with its own log.
///
/// # Errors
/// When the process cannot be started.
pub fn start_firing(home: &Home, id: FiringId, begin: &Begin<'_>) -> Result<Detached, SpawnError> {
    let layout = &home.fleet.layout;
    let mut command = Command::new(&home.program, &layout.root)
        .inherit_env()
        .arg("--home")
        .arg(&layout.root)
        .args(["firing", "run"])
        .arg(id.to_string())
        .env(STARTED_FOR, id.to_string());
    if let Some(settings) = begin.settings {
        command = command.arg("--settings").arg(settings);
    }
    if let Some(at) = begin.at {
        command = command.arg("--at").arg(at.to_rfc3339());
    }
    spawn_detached(&command, &layout.firing_log(&id))
}
