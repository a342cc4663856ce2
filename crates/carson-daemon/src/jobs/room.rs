//! Makes room when the disk has none left: only of what can be made again or was to go anyway.

use std::time::{Duration, Instant};

use carson_firing::prune::{self, Plan};
use carson_home::{Home, disk_space};
use tracing::{info, warn};

use super::runner::{Done, Report};
use super::{error_chain, mirrors, transcripts};

/// Between two attempts.
const PAUSE: Duration = Duration::from_secs(600);
/// How long the benches may take.
const WITHIN: Duration = Duration::from_secs(300);

/// Looks, and does something about it. `last` is when that was done.
pub(super) async fn watch(home: &Home, last: &mut Option<Instant>) -> Done {
    let Err(before) = disk_space::check(&home.fleet) else {
        *last = None;
        return Ok(Report::nothing("there is room"));
    };
    if last.is_some_and(|at| at.elapsed() < PAUSE) {
        return Err(before);
    }
    *last = Some(Instant::now());
    warn!(why = before, "making room");
    make(home).await;
    match disk_space::check(&home.fleet) {
        Ok(()) => Ok(Report {
            did: 1,
            said: "room was made".into(),
        }),
        Err(still) => Err(still),
    }
}

/// Each step for itself: on a full disk some of them fail.
async fn make(home: &Home) {
    let steps = [
        ("layers", layers(home).await),
        ("transcripts", transcripts::sweep(home.clone()).await),
        ("caches", caches(home).await),
        ("benches", benches(home).await),
        ("log of the database", log_of_database(home).await),
        ("mirrors", packs(home).await),
    ];
    for (step, done) in steps {
        match done {
            Ok(report) => info!(step, did = report.said, "looked for room"),
            Err(why) => warn!(step, why, "no room was made there"),
        }
    }
}

/// They can be made again, and take the most.
async fn layers(home: &Home) -> Done {
    let pruned = carson_bench::layers::prune(home, 0).await;
    Ok(Report::counted(
        pruned.removed.len(),
        "layer removed",
        "layers removed",
    ))
}

async fn caches(home: &Home) -> Done {
    let cleared = prune::clear_caches(home).await.map_err(error_chain)?;
    Ok(Report::counted(
        cleared,
        "bench cleared of caches",
        "benches cleared of caches",
    ))
}

async fn benches(home: &Home) -> Done {
    let plan = Plan {
        within: WITHIN,
        patient: true,
        ..Plan::by_hand(false)
    };
    let pass = prune::pass(home, &plan).await.map_err(error_chain)?;
    Ok(Report::counted(
        pass.benches.len(),
        "bench looked at",
        "benches looked at",
    ))
}

async fn log_of_database(home: &Home) -> Done {
    home.store.checkpoint().await.map_err(error_chain)?;
    Ok(Report::nothing("it is in the file"))
}

async fn packs(home: &Home) -> Done {
    let mut packed = 0;
    for repo in home.fleet.repos.values() {
        packed += usize::from(mirrors::pack(home, repo).await?);
    }
    Ok(Report::counted(packed, "mirror packed", "mirrors packed"))
}
