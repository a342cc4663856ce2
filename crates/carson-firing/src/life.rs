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

/// How it is now.
pub(crate) fn life(home: &Home, row: &Row) -> Life {
    let now = home.clock.now();
    match process_of(row) {
        None if now - row.claimed_at < START => Life::Alive,
        None if now - row.claimed_at < START_AT_MOST && is_starting(row) => Life::Alive,
        None => Life::Gone,
        // No firing runs in a process that recovers: its number in a row says that it seized that.
        Some(process) if process == ProcessId::current() || !process.is_alive() => Life::Gone,
        Some(process) if is_overdue(row, process, now) => Life::Overdue(process),
        Some(_) => Life::Alive,
    }
}

/// Whether a process that was started for it lives.
fn is_starting(row: &Row) -> bool {
    marked_processes(STARTED_FOR).contains_key(&row.id.to_string())
}

/// By the calendar and by its own age: a clock that leaps makes nobody late.
fn is_overdue(row: &Row, process: ProcessId, now: DateTime<Utc>) -> bool {
    let allowed = (row.deadline_at - row.claimed_at + OVERTIME).to_std();
    let is_old = process
        .age()
        .zip(allowed.ok())
        .is_none_or(|(age, allowed)| age > allowed);
    now > row.deadline_at + OVERTIME && is_old
}

/// The firings that recovery would conclude here now, those of dead hosts among them; nothing is changed.
///
/// # Errors
/// When the store does not answer.
pub async fn dead(home: &Home) -> Result<Vec<Row>, StoreError> {
    let mut dead = home.store.live_firings(Some(&home.fleet.host)).await?;
    dead.retain(|row| !matches!(life(home, row), Life::Alive));
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
