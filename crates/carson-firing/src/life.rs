//! How the processes of firings are, as rows and the system say.

use carson_home::Home;
use carson_proc::{ProcessId, marked_processes};
use carson_store::{Firing as Row, StoreError};
use chrono::{DateTime, TimeDelta, Utc};

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
    now: DateTime<Utc>,
    /// For how long this host has reached the database without a gap; nothing where it is a file.
    reached_for: Option<TimeDelta>,
}

impl Judge {
    /// As things stand now.
    pub(crate) async fn of(home: &Home) -> Result<Self, StoreError> {
        Ok(Self {
            now: home.clock.now(),
            reached_for: home.store.lease_held_for(&home.fleet.host).await?,
        })
    }

    /// How a firing's process is.
    pub(crate) fn life(&self, row: &Row) -> Life {
        let age = self.now - row.claimed_at;
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
        is_settled && self.now > row.deadline_at + OVERTIME && is_old
    }
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

fn process_of(row: &Row) -> Option<ProcessId> {
    Some(ProcessId {
        pid: row.pid?,
        start: row.pid_start?,
    })
}
