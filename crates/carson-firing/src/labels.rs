//! What an outcome makes of an issue's labels.

use carson_core::Outcome;
use carson_core::outcome::WorkEffect;
use carson_forge::{DONE, NEEDS_HUMAN, PR_OPEN};

/// The labels that an outcome gives an issue, and whether the attempt counts. A role that is gone
/// has no queue to go back to: then a person decides. What the work has no part in (`spares_the_work`)
/// leaves it where it was.
pub(crate) fn labels_after(
    outcome: Outcome,
    spares_the_work: bool,
    ready: Option<&str>,
) -> (Vec<String>, bool) {
    let ready = ready.unwrap_or(NEEDS_HUMAN);
    let effect = match outcome.work_effect() {
        WorkEffect::NeedsHuman | WorkEffect::BackToQueue if spares_the_work => {
            WorkEffect::BackUncounted
        }
        effect => effect,
    };
    let (add, counts) = match effect {
        WorkEffect::PullRequestOpen => (vec![PR_OPEN], false),
        WorkEffect::Done => (vec![DONE], false),
        // Whoever removes the label lets the fleet try again.
        WorkEffect::NeedsHuman => (vec![ready, NEEDS_HUMAN], true),
        WorkEffect::BackToQueue => (vec![ready], true),
        WorkEffect::BackUncounted => (vec![ready], false),
        // Work that turned out to be none would be found again at every slot: it counts too.
        WorkEffect::Nothing => (vec![ready], outcome == Outcome::Silent && !spares_the_work),
    };
    (add.into_iter().map(str::to_owned).collect(), counts)
}
