//! How every firing ends, alive or dead: settle → salvage → report → teardown.

use carson_core::settle::{Facts, Settled};
use tracing::info;

use crate::firing::{Ended, Firing, FiringError};
use crate::stages::{report, salvage, teardown};

/// Carries out what was settled. Safe to repeat from the start after a crash at any point.
///
/// The order of effects is what makes it safe: the outcome is written before anything is done
/// about it; the branch is pushed before the row says that the firing ended; the row says so
/// before anything is deleted.
pub(crate) async fn conclude(
    firing: &Firing<'_>,
    settled: Settled,
    facts: &Facts,
) -> Result<Ended, FiringError> {
    let sentinel = facts
        .sentinel
        .as_ref()
        .map(|sentinel| sentinel.token().to_owned());
    firing
        .store()
        .settle_firing(firing.id, &settled, sentinel.as_deref(), facts)
        .await?;
    let saved = salvage::run(firing, &settled).await;
    let mut settled = salvage::as_delivered(settled, &saved);
    settled.reason = firing.house.redactor.redact(&settled.reason).into_owned();
    report::run(firing, &settled, &saved, facts).await?;
    info!(firing.id = %firing.id, firing.outcome = %settled.outcome, reason = %settled.reason, "firing ended");
    teardown::run(firing).await;
    Ok(Ended {
        id: firing.id,
        settled,
    })
}
