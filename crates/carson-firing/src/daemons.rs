//! The daemons of the fleet's hosts, and the firings that nobody runs any more.

use carson_home::Home;
use carson_proc::ProcessId;
use carson_store::{HostRow, StoreError};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

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
    let is_here = row.name == home.fleet.host.as_str();
    if is_here && !process_of(row).is_some_and(|process| process.is_alive()) {
        return Life::Ended;
    }
    let is_heard = row.holds.unwrap_or(now - row.beat_at <= SILENCE);
    match is_heard {
        true => Life::Runs,
        false => Life::Silent,
    }
}

fn process_of(row: &HostRow) -> Option<ProcessId> {
    Some(ProcessId {
        pid: row.pid.try_into().ok()?,
        start: row.pid_start.try_into().ok()?,
    })
}
