//! How the processes of firings are, as rows and the system say.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;

use carson_config::Fleet;
use carson_core::FiringId;
use carson_home::Home;
use carson_proc::{ProcessId, ProcessSpace, Sight, marked_processes};
use carson_store::{Firing as Row, StoreError};
use chrono::{DateTime, TimeDelta, Utc};

use crate::daemons;

/// How long a claimed firing may take to start before it counts as dead.
const START: TimeDelta = TimeDelta::seconds(30);
/// The same for one whose process is there and has not come to its row yet: on a machine where hundreds start together.
const START_AT_MOST: TimeDelta = TimeDelta::minutes(10);
/// The variable that names the firing which a process was started for.
pub(crate) const STARTED_FOR: &str = "CARSON_STARTED_FOR";
/// How long past its deadline a firing may run before it is ended from outside.
const OVERTIME: TimeDelta = TimeDelta::minutes(2);

/// How a firing's process is.
pub(crate) enum Life {
    /// It runs, or has still time to start.
    Alive,
    /// It runs far past its deadline: its own watch failed.
    Overdue(ProcessId),
    /// It is gone.
    Gone,
}

/// What the firings of this host are judged by.
pub(crate) struct Judge {
    fleet: Arc<Fleet>,
    now: DateTime<Utc>,
    /// For how long this host has reached the database without a gap; nothing where it is a file.
    reached_for: Option<TimeDelta>,
}

impl Judge {
    /// As things stand now.
    pub(crate) async fn of(home: &Home) -> Result<Self, StoreError> {
        Ok(Self {
            fleet: home.fleet.clone(),
            now: home.clock.now(),
            reached_for: home.store.lease_held_for(&home.fleet.host).await?,
        })
    }

    /// How a firing's process is.
    pub(crate) fn life(&self, row: &Row) -> Life {
        let age = self.now - row.claimed_at;
        match (sight_of(row), process_of(row)) {
            // Of a container that has this home, too: its number says nothing here, and its lock all.
            (Sight::Hidden, Some(_)) if !self.is_late(row) && is_held(&self.fleet, row.id) => {
                return Life::Alive;
            }
            (Sight::Hidden | Sight::Over, Some(_)) => return Life::Gone,
            _ => {}
        }
        match process_of(row) {
            None if age < START => Life::Alive,
            None if age < START_AT_MOST && is_starting(row) => Life::Alive,
            None => Life::Gone,
            // No firing runs in a process that recovers: its number in a row says that it seized that.
            Some(process) if process == ProcessId::current() || !process.is_alive() => Life::Gone,
            Some(process) if self.is_overdue(row, process) => Life::Overdue(process),
            Some(_) => Life::Alive,
        }
    }

    /// By the calendar and by its own age: a clock that leaps makes nobody late. Nor does a database that was away:
    /// who waited for it has the whole overtime from when it is back.
    fn is_overdue(&self, row: &Row, process: ProcessId) -> bool {
        let allowed = (row.deadline_at - row.claimed_at + OVERTIME).to_std();
        let is_old = process
            .age()
            .zip(allowed.ok())
            .is_none_or(|(age, allowed)| age > allowed);
        let is_settled = self.reached_for.is_none_or(|since| since > OVERTIME);
        is_settled && self.is_late(row) && is_old
    }

    fn is_late(&self, row: &Row) -> bool {
        self.now > row.deadline_at + OVERTIME
    }
}

/// Where a firing's process is to be found, for its row; it also holds the lock that says elsewhere that it lives.
pub(crate) struct Found {
    /// The space of its number; nothing where that could not be known elsewhere.
    pub(crate) space: Option<String>,
    _lock: Option<File>,
}

/// Ourselves, as the process of a firing. Whoever cannot hold the lock is judged by the number alone.
pub(crate) fn found(home: &Home, id: FiringId) -> Found {
    let log = home.fleet.layout.firing_log(&id);
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(log);
    let lock = file.ok().filter(|file| file.try_lock().is_ok());
    let space = lock.as_ref().and_then(|_| ProcessSpace::ours());
    Found {
        space: space.map(|space| space.to_string()),
        _lock: lock,
    }
}

/// Whether a process, wherever it is on this machine, holds the lock of a firing: the kernel lets go of it when
/// the process is gone.
pub(crate) fn is_held(fleet: &Fleet, id: FiringId) -> bool {
    daemons::is_held(&fleet.layout.firing_log(&id))
}

/// Whether a process that was started for it lives.
fn is_starting(row: &Row) -> bool {
    marked_processes(STARTED_FOR).contains_key(&row.id.to_string())
}

/// The firings that recovery would conclude here now, those of dead hosts among them; nothing is changed.
///
/// # Errors
/// When the store does not answer.
pub async fn dead(home: &Home) -> Result<Vec<Row>, StoreError> {
    let mut dead = home.store.live_firings(Some(&home.fleet.host)).await?;
    let judge = Judge::of(home).await?;
    dead.retain(|row| !matches!(judge.life(row), Life::Alive));
    dead.extend(home.store.lapsed_firings(&home.fleet.host).await?);
    Ok(dead)
}

/// Whether a process of this host runs it.
pub(crate) fn runs(row: &Row) -> bool {
    process_of(row).is_some_and(|process| process != ProcessId::current() && process.is_alive())
}

/// Whether the row's process can be seen from here. A row that does not say is of an older Carson, or of a system
/// without such spaces.
#[must_use]
pub fn sight_of(row: &Row) -> Sight {
    let space = row.pid_space.as_deref();
    let space = space.and_then(|space| space.parse::<ProcessSpace>().ok());
    space.map_or(Sight::Clear, |space| space.sight())
}

fn process_of(row: &Row) -> Option<ProcessId> {
    Some(ProcessId {
        pid: row.pid?,
        start: row.pid_start?,
    })
}
