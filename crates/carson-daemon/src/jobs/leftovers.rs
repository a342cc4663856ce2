//! Benches and rows that nobody needs any more.

use std::time::Duration;

use carson_core::Event;
use carson_firing::prune;
use carson_firing::prune::{Action, Plan};
use carson_home::Home;
use carson_store::Stale;
use chrono::TimeDelta;
use tracing::{info, warn};

use super::error_chain;
use super::runner::{Done, Report};

/// A bench that changed more recently is somebody's: a teardown, or a person who looks.
const YOUTH: Duration = Duration::from_secs(600);
/// No bench is begun after this long.
const WITHIN: Duration = Duration::from_secs(300);
/// At most so many batches of rows of a kind in one run.
const BATCHES: u32 = 20;
/// The memory that a block's doubling needs.
const BLOCKS: TimeDelta = TimeDelta::days(7);
/// Longer than any firing waits to hear whether its transaction is there.
const KEYS: TimeDelta = TimeDelta::days(1);

pub(super) async fn benches(home: Home) -> Done {
    let plan = Plan {
        dry_run: false,
        youth: YOUTH,
        within: WITHIN,
        patient: true,
    };
    let pass = prune::pass(&home, &plan).await.map_err(error_chain)?;
    let (mut removed, mut kept) = (0, 0);
    for one in &pass.benches {
        let bench = one.path.display();
        match &one.action {
            Action::Removed => info!(%bench, "bench pruned"),
            Action::Salvaged(kept) => info!(%bench, kept, "work was found and kept"),
            Action::Kept(why) => warn!(%bench, why, "bench stays"),
        }
        match one.action {
            Action::Kept(_) => kept += 1,
            Action::Removed | Action::Salvaged(_) => removed += 1,
        }
    }
    let mut report = Report::counted(removed, "bench removed", "benches removed");
    if kept > 0 {
        report.said.push_str(&format!("; {kept} stay"));
    }
    if pass.left > 0 {
        report
            .said
            .push_str(&format!("; {} wait for the next run", pass.left));
    }
    Ok(report)
}

/// Layers that are too many.
pub(super) async fn layers(home: Home) -> Done {
    let most = u64::from(home.fleet.housekeeping.layers_mb) << 20;
    let pruned = carson_bench::layers::prune(&home, most).await;
    Ok(Report::counted(
        pruned.removed.len(),
        "layer removed",
        "layers removed",
    ))
}

/// Pauses and blocks that ran out, posts and events that are old.
pub(super) async fn rows(home: Home) -> Done {
    let now = home.clock.now();
    let mut dropped = 0;
    for scope in home
        .store
        .drop_ended_pauses(now)
        .await
        .map_err(error_chain)?
    {
        let event = Event::PauseEnded { scope };
        let noted = home.store.event(&event, None, None, now).await;
        noted.map_err(error_chain)?;
        dropped += 1;
    }
    let old = now - TimeDelta::days(i64::from(home.fleet.housekeeping.keep_days));
    for (kind, before) in [
        (Stale::SentPosts, old),
        (Stale::Events, old),
        (Stale::EndedBlocks, now - BLOCKS),
        (Stale::CommitKeys, now - KEYS),
    ] {
        for _ in 0..BATCHES {
            let gone = home
                .store
                .drop_stale(kind, before)
                .await
                .map_err(error_chain)?;
            dropped += usize::try_from(gone).unwrap_or(usize::MAX);
            if gone == 0 {
                break;
            }
        }
    }
    Ok(Report::counted(dropped, "row removed", "rows removed"))
}
