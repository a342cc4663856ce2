//! The daemons of the fleet's hosts, and the firings that nobody runs any more.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use carson_home::Home;
use carson_proc::ProcessId;
use carson_store::{HostRow, StoreError, is_apart};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use tokio::time::sleep;

/// A daemon says every minute that it lives; one that was not heard of for so long is gone. Where hosts hold
/// leases, these say it sooner.
const SILENCE: TimeDelta = TimeDelta::minutes(3);

/// A daemon, as it was heard of last.
#[derive(Clone, Debug, Serialize)]
pub struct Daemon {
    /// What it said of itself.
    #[serde(flatten)]
    pub row: HostRow,
    /// Whether it runs.
    pub life: Life,
}

/// Whether a daemon runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// It was heard of; on this host its process is there.
    Runs,
    /// Nothing was heard of it for too long.
    Silent,
    /// On this host: its process has ended.
    Ended,
}

impl Daemon {
    /// How far the clock of its host is off, where that is too far to fire by.
    #[must_use]
    pub fn apart(&self) -> Option<TimeDelta> {
        let ahead = self.row.ahead_s.filter(|_| self.life == Life::Runs);
        ahead
            .map(TimeDelta::seconds)
            .filter(|ahead| is_apart(*ahead))
    }

    /// For how long its lease still stands, by the clock of the database; below nothing where it has ended.
    #[must_use]
    pub fn lease_for(&self) -> Option<TimeDelta> {
        Some(self.row.lease_until? - self.row.read_at)
    }
}

/// All that were ever heard of. On this host the process is asked, too.
///
/// # Errors
/// When the store does not answer.
pub async fn daemons(home: &Home, now: DateTime<Utc>) -> Result<Vec<Daemon>, StoreError> {
    let rows = home.store.hosts().await?.into_iter();
    let daemon = |row: HostRow| Daemon {
        life: life(home, &row, now),
        row,
    };
    Ok(rows.map(daemon).collect())
}

fn life(home: &Home, row: &HostRow, now: DateTime<Utc>) -> Life {
    // In a container it has a number that says nothing here; its lock does.
    let lives = || {
        process_of(row).is_some_and(|process| process.is_alive())
            || is_held(&home.fleet.layout.daemon_lock())
    };
    if row.name == home.fleet.host.as_str() && !lives() {
        return Life::Ended;
    }
    let is_heard = row.holds.unwrap_or(now - row.beat_at <= SILENCE);
    match is_heard {
        true => Life::Runs,
        false => Life::Silent,
    }
}

/// How often a daemon renews the lease of its host.
pub const RENEW: Duration = Duration::from_secs(3);

/// Whether another daemon renews the lease of this host: one that stands is looked at once more.
///
/// # Errors
/// When the store does not answer.
pub async fn is_kept_by_another(home: &Home) -> Result<bool, StoreError> {
    let host = &home.fleet.host;
    let Some(until) = home.store.lease_of(host).await? else {
        return Ok(false);
    };
    sleep(RENEW + Duration::from_secs(1)).await;
    Ok(home.store.lease_of(host).await? > Some(until))
}

/// That a home is no copy of another one's, as was seen a moment ago: looking takes seconds after a daemon has died.
#[derive(Debug)]
pub struct NoCopy(());

/// Looks whether this home is a copy: the daemon of another one goes by its host's name, and would take what runs here
/// for dead. Its own daemon has the home's lock, wherever that runs. Nothing where it is one.
///
/// # Errors
/// When the store does not answer.
pub async fn no_copy(home: &Home) -> Result<Option<NoCopy>, StoreError> {
    let is_own = || !home.store.has_leases() || is_held(&home.fleet.layout.daemon_lock());
    // Looked at once more: its own daemon may have started meanwhile, and be who keeps the lease.
    let is_copy = !is_own() && is_kept_by_another(home).await? && !is_own();
    Ok((!is_copy).then_some(NoCopy(())))
}

/// Whether some process has a lock.
pub(crate) fn is_held(lock: &Path) -> bool {
    let file = File::open(lock);
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn process_of(row: &HostRow) -> Option<ProcessId> {
    Some(ProcessId {
        pid: row.pid.try_into().ok()?,
        start: row.pid_start.try_into().ok()?,
    })
}
