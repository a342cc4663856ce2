//! The bench goes, after salvage says that nothing is left in it.

use carson_core::Stage;
use tracing::{info, warn};

use crate::bench::{Bench, MARKER};
use crate::firing::Firing;

/// Time between SIGTERM and SIGKILL for what the sessions may have left running.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);

/// Removes the bench. What cannot be proved safe stays, for the next pass of pruning.
pub(crate) async fn run(firing: &Firing<'_>) {
    firing.enter(Stage::Teardown).await;
    remove(firing).await;
    let now = firing.house.clock.now();
    if let Err(error) = firing.store().end_stage(firing.id, now).await {
        warn!(firing.id = %firing.id, %error, "the end of the last stage could not be noted");
    }
}

async fn remove(firing: &Firing<'_>) {
    let bench = Bench::of(firing.house, firing.id);
    if bench.root.symlink_metadata().is_err() {
        return;
    }
    carson_proc::reap_marked(MARKER, &firing.id.to_string(), GRACE).await;
    if let Some(place) = firing.place() {
        // Another look would take as long, and say the same.
        if place.is_unseen() {
            warn!(firing.id = %firing.id, "the bench stays: not all of it could be looked at");
            return;
        }
        // Looked at again, although nobody should have been there since.
        let removed = match place.worktree.look(false).await {
            Ok(seen) => seen.remove().await,
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            warn!(firing.id = %firing.id, %error, "the bench stays");
            return;
        }
    } else if bench.may_hold_work() {
        // Without a place nothing vouches for what is in there; pruning will look.
        return;
    }
    match bench.remove(firing.house).await {
        Ok(()) => info!(firing.id = %firing.id, "bench removed"),
        Err(error) => warn!(firing.id = %firing.id, %error, "the bench could not be removed"),
    }
}
