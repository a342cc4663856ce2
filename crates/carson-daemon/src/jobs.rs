//! Housekeeping: jobs that take no input and run beside the loop, one of a kind at a time.

use std::sync::Arc;
use std::time::Duration;

use carson_firing::prune::Action;
use carson_firing::{Household, prune, recover};
use carson_proc::ProcessId;
use tokio::sync::Notify;
use tracing::{info, warn};

use crate::outbox::Poster;

/// Between two looks for firings whose process is gone.
const RECOVER: Duration = Duration::from_secs(5);
/// Between two looks into the outbox.
const OUTBOX: Duration = Duration::from_secs(5);
/// Between two signs of life.
const HEARTBEAT: Duration = Duration::from_secs(60);
/// Between two prunings.
const PRUNE: Duration = Duration::from_secs(3_600);

/// Shares the newest settings with the jobs.
pub(crate) type Shared = Arc<std::sync::RwLock<Household>>;

/// Starts all jobs. `recover_now` asks for a recovery at once; `freed` is told when one ended a
/// firing, for a role may fire again then.
pub(crate) fn start(house: &Shared, recover_now: &Arc<Notify>, freed: &Arc<Notify>) {
    let (shared, now, freed) = (house.clone(), recover_now.clone(), freed.clone());
    tokio::spawn(async move {
        loop {
            if recover_once(&newest(&shared)).await {
                freed.notify_one();
            }
            tokio::select! {
                () = now.notified() => {}
                () = tokio::time::sleep(RECOVER) => {}
            }
        }
    });
    every(
        house,
        PRUNE,
        |house| async move { prune_once(&house).await },
    );
    every(
        house,
        HEARTBEAT,
        |house| async move { heartbeat(&house).await },
    );
    let shared = house.clone();
    tokio::spawn(async move {
        let mut poster = Poster::default();
        loop {
            if let Err(error) = poster.drain(&newest(&shared)).await {
                warn!(%error, "the outbox could not be drained");
            }
            tokio::time::sleep(OUTBOX).await;
        }
    });
}

fn every<F: Future<Output = ()> + Send>(
    house: &Shared,
    period: Duration,
    job: impl Fn(Household) -> F + Send + 'static,
) {
    let shared = house.clone();
    tokio::spawn(async move {
        loop {
            job(newest(&shared)).await;
            tokio::time::sleep(period).await;
        }
    });
}

fn newest(shared: &Shared) -> Household {
    shared
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .clone()
}

async fn recover_once(house: &Household) -> bool {
    match recover::pass(house).await {
        Ok(ended) => !ended.is_empty(),
        Err(error) => {
            warn!(%error, "dead firings could not be looked for");
            false
        }
    }
}

async fn prune_once(house: &Household) {
    match prune::pass(house, false).await {
        Ok(done) => {
            for one in done {
                match &one.action {
                    Action::Removed => info!(bench = %one.path.display(), "bench pruned"),
                    Action::Salvaged(kept) => {
                        info!(bench = %one.path.display(), kept, "work was found and kept");
                    }
                    Action::Kept(why) => warn!(bench = %one.path.display(), why, "bench stays"),
                }
            }
        }
        Err(error) => warn!(%error, "pruning failed"),
    }
}

async fn heartbeat(house: &Household) {
    let me = ProcessId::current();
    let version = env!("CARGO_PKG_VERSION");
    let now = house.clock.now();
    let beat = house
        .store
        .heartbeat(&house.fleet.host, me.pid, me.start, version, now)
        .await;
    if let Err(error) = beat {
        warn!(%error, "no sign of life could be written");
    }
}
