//! The bench goes, after salvage says that nothing is left in it.

use carson_core::Stage;
use tracing::{info, warn};

use crate::bench::{Bench, MARKER};
use crate::firing::Firing;
use crate::pruned::Action;
use crate::stuck::Known;

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
            stays(firing, "not all of it could be looked at").await;
            return;
        }
        // Looked at again, although nobody should have been there since.
        let removed = match place.worktree.look(false).await {
            Ok(seen) => seen.remove().await,
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            stays(firing, &error.to_string()).await;
            return;
        }
    } else if bench.may_hold_work() {
        // Without a place nothing vouches for what is in there; pruning will look.
        return;
    }
    match bench.remove(firing.house).await {
        Ok(()) => info!(firing.id = %firing.id, "bench removed"),
        Err(error) => stays(firing, &error.to_string()).await,
    }
}

/// It is listed as stuck; pruning looks at it again.
async fn stays(firing: &Firing<'_>, why: &str) {
    warn!(firing.id = %firing.id, why, "the bench stays");
    let known = Known::of(firing.house).await;
    let action = Action::Kept(why.to_owned());
    match known {
        Ok(known) => known.note(firing.house, firing.id, &action).await,
        Err(error) => {
            warn!(firing.id = %firing.id, %error, "a bench that stays could not be noted");
        }
    }
}
