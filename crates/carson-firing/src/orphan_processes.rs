//! Processes of firings that have ended.
//!
//! The end of a session reaps its tree, and recovery that of a dead firing; what cleared neither
//! (it was stopped, or it came back from somewhere) still carries the firing's marker. A process is
//! known by number, start time and marker: a newcomer with an old number has no marker of ours.

use std::collections::BTreeMap;
use std::time::Duration;

use carson_core::FiringId;
use carson_proc::{ProcessId, Sight, marked_processes, reap_marked};
use carson_store::StoreError;
use chrono::TimeDelta;
use tracing::warn;

use crate::life::sight_of;
use carson_bench::bench::MARKER;
use carson_home::Home;

/// Time that a firing has to end its own after its row has ended.
const MOMENT: TimeDelta = TimeDelta::minutes(1);
/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// The firings, by id, that have processes now.
pub(crate) fn alive() -> BTreeMap<FiringId, Vec<ProcessId>> {
    let marked = marked_processes(MARKER).into_iter();
    marked
        .filter_map(|(value, processes)| Some((value.parse().ok()?, processes)))
        .collect()
}

/// Ends the processes of this host's firings that have ended; how many there were. A firing that
/// the store does not know may be another fleet's: its processes are left alone.
///
/// # Errors
/// When the store does not answer.
pub async fn reap(home: &Home) -> Result<u32, StoreError> {
    let mut reaped = 0;
    for (id, processes) in alive() {
        let Some(row) = home.store.firing(id).await? else {
            continue;
        };
        let over = row
            .ended_at
            .is_some_and(|at| at + MOMENT < home.clock.now());
        // Its own process is not started by it, and may still be in its teardown. Where that cannot be seen, its
        // own namespace has a Carson that sees it.
        let busy = sight_of(&row) == Sight::Hidden
            || row.pid.zip(row.pid_start).is_some_and(|(pid, start)| {
                let own = ProcessId { pid, start };
                own != ProcessId::current() && own.is_alive()
            });
        if !over || busy || row.host != home.fleet.host {
            continue;
        }
        warn!(firing.id = %id, ?processes, "processes of an ended firing are ended");
        reaped += reap_marked(MARKER, &id.to_string(), GRACE).await;
    }
    Ok(reaped)
}
