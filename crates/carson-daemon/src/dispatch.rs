//! Starts the process of a claimed firing.

use std::path::Path;

use carson_core::FiringId;
use carson_firing::Household;
use carson_proc::{Command, Detached, SpawnError, spawn_detached};
use chrono::{DateTime, Utc};

/// Re-executes the binary for one firing, detached, with its own log. It reads the set of settings
/// that was checked, whatever an operator is writing meanwhile, and begins at its instant.
///
/// # Errors
/// When the process cannot be started.
pub fn start_firing(
    house: &Household,
    settings: &Path,
    id: FiringId,
    at: DateTime<Utc>,
) -> Result<Detached, SpawnError> {
    let home = &house.fleet.home;
    let command = Command::new(&house.program, &home.root)
        .inherit_env()
        .arg("--home")
        .arg(&home.root)
        .args(["firing", "run"])
        .arg(id.to_string())
        .arg("--settings")
        .arg(settings)
        .arg("--at")
        .arg(at.to_rfc3339());
    spawn_detached(&command, &home.firing_log(&id))
}
