//! Gathers what settle looks at.

use carson_core::Sentinel;
use carson_core::sentinel::Reference;
use carson_core::settle::{DiffReviewFact, Facts, Halt, PromiseFact};
use tracing::warn;

use crate::firing::Firing;

/// What the executing stages leave for settle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub sentinel: Option<Sentinel>,
    pub promise: PromiseFact,
    pub diff_review: DiffReviewFact,
}

/// Measures the worktree and adds what the stages found. Never fails: what cannot be measured is
/// absent, and the sentinel alone never makes an `OK`.
pub(crate) async fn gather(firing: &Firing<'_>, halt: Option<Halt>, found: Findings) -> Facts {
    let mut facts = Facts {
        halt,
        sentinel: found.sentinel,
        promise: found.promise,
        diff_review: found.diff_review,
        blocked_calls: firing.tally().blocked_calls,
        ..Facts::default()
    };
    if let Some(place) = firing.place() {
        match place.worktree.facts().await {
            Ok(tree) => {
                facts.commits = tree.commits;
                facts.dirty = tree.dirty;
                if !tree.exists && facts.halt.is_some() {
                    let gone = "its directory was removed while the firing ran".to_owned();
                    facts.halt = Some(Halt::LostWorktree(gone));
                }
            }
            Err(error) => warn!(firing.id = %firing.id, %error, "the worktree cannot be measured"),
        }
    }
    facts.reference_exists = reference_exists(firing, &facts).await;
    facts
}

async fn reference_exists(firing: &Firing<'_>, facts: &Facts) -> bool {
    let said = match (&facts.halt, &facts.sentinel) {
        (Some(Halt::Planned(sentinel)), _) | (None, Some(sentinel)) => sentinel,
        _ => return false,
    };
    let Sentinel::AlreadyDone(text) = said else {
        return false;
    };
    let (Some(place), Some(reference)) = (firing.place(), Reference::parse(text)) else {
        return false;
    };
    let (base, path) = (&place.worktree.base, &reference.path);
    place.mirror.has_line_at(base, path, reference.line).await
}
