//! Before there is a daemon: a disk that is full, read-only or away.
//!
//! A service manager gives up on a service that fails to start a few times; a disk may be full for a whole night.
//! So the process waits, and says so once.

use std::time::Duration;

use carson_store::{Opening, Store, StoreError};
use sd_notify::NotifyState;
use tracing::{info, warn};

use crate::watchdog::say;

/// How often it is looked whether there is room again.
const EVERY: Duration = Duration::from_secs(5);

/// How much longer than that the service manager waits for the daemon, by each look.
const GRACE_US: u32 = 60_000_000;

/// Waits until the database can be opened as far as its disk is concerned, or the process is ended. What else keeps
/// it from being opened is for whoever opens it.
pub async fn wait_for_disk(database: &str) {
    let mut is_said = false;
    while let Some(error) = disk_trouble(database).await {
        if !is_said {
            warn!(%error, hint = error.hint(), "the daemon begins once its disk can be written");
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

async fn disk_trouble(database: &str) -> Option<StoreError> {
    let opened = Store::open_as(database, Opening::default()).await;
    opened.err().filter(StoreError::is_of_the_disk)
}
