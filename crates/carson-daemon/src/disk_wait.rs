//! Before there is a daemon: a disk that is full, read-only or away.
//!
//! A service manager gives up on a service that fails to start a few times; a disk may be full for a whole night.
//! So the process waits, and says so once.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use carson_config::Fleet;
use carson_store::{Opening, Store, StoreError};
use sd_notify::NotifyState;
use tracing::{info, warn};

use crate::watchdog::say;

/// How often it is looked whether there is room again.
const EVERY: Duration = Duration::from_secs(5);

/// How much longer than that the service manager waits for the daemon, by each look.
const GRACE_US: u32 = 60_000_000;

/// What a daemon writes before anything else, and more.
const FIRST: [u8; 4096] = [0; 4096];

/// Waits until the database can be opened and the home written, as far as their disk is concerned, or the process is
/// ended. What else keeps a daemon from beginning is for whoever begins it.
pub async fn wait_for_disk(fleet: &Fleet) {
    let mut is_said = false;
    while let Some((error, hint)) = trouble(fleet).await {
        if !is_said {
            warn!(%error, hint, "the daemon begins once its disk can be written");
            is_said = true;
        }
        let status = format!("waits: {error}");
        say(&[
            NotifyState::Status(&status),
            NotifyState::ExtendTimeoutUsec(GRACE_US),
        ]);
        tokio::time::sleep(EVERY).await;
    }
    if is_said {
        info!("the disk can be written: the daemon begins");
    }
}

/// What is wrong with the disk, and what mends it.
async fn trouble(fleet: &Fleet) -> Option<(String, &'static str)> {
    // A server's disk is another one; and nothing is begun there before it is known to be the fleet's own.
    if fleet.database.starts_with("sqlite:") {
        let opened = Store::open_as(&fleet.database, Opening::default()).await;
        if let Some(error) = opened.err().filter(StoreError::is_of_the_disk) {
            return Some((error.to_string(), error.hint()));
        }
    }
    let dir = fleet.layout.state();
    let error = try_to_write(&dir.join(".room")).err()?;
    let hint = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room on that disk",
        ErrorKind::ReadOnlyFilesystem => "mount the disk writable again",
        _ => return None,
    };
    Some((
        format!("{} cannot be written: {error}", dir.display()),
        hint,
    ))
}

fn try_to_write(path: &Path) -> io::Result<()> {
    let written = File::create(path).and_then(|mut file| {
        file.write_all(&FIRST)?;
        file.sync_all()
    });
    let _ = fs::remove_file(path);
    written
}
