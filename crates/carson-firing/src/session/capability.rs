//! A session that could not do what it was asked: another engine may.
//!
//! Seen by typed facts alone: the CLI says that the model refused, the closing line is missing, or an
//! execute session says `[OK]` and nothing is there. Once in a firing the next account takes over.

use carson_core::event::Failover;
use carson_core::{Sentinel, Stage, Verdict};
use carson_engine::{Ended, SessionEnd};

use super::ask::Ask;
use crate::placed::Placed;

/// What the session lacked; `None` for one that did what it was asked, or said why not.
pub(super) async fn gap(
    placed: &mut Placed<'_, '_>,
    ask: Ask<'_>,
    end: &SessionEnd,
) -> Option<Failover> {
    match end.ended {
        Ended::Refused { .. } => return Some(Failover::Refused),
        Ended::Completed => {}
        _ => return None,
    }
    if !has_closing_line(ask.stage, &end.text) {
        return Some(Failover::NoSentinel);
    }
    let is_done = matches!(Sentinel::parse(&end.text), Some(Sentinel::Ok(_)));
    (ask.must_change && is_done && placed.place.is_untouched().await).then_some(Failover::NoChange)
}

fn has_closing_line(stage: Stage, text: &str) -> bool {
    match stage {
        Stage::Review | Stage::DiffReview | Stage::Confirm => Verdict::parse(text).is_some(),
        _ => Sentinel::parse(text).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_of_stages_has_its_own_closing_line() {
        for (stage, text, has) in [
            (Stage::Plan, "1. Write it.\n[OK]", true),
            (Stage::Revise, "[BLOCKED] no key", true),
            (Stage::Execute, "I would need more tools.", false),
            (Stage::Execute, "[APPROVE]", false),
            (Stage::Review, "[APPROVE]", true),
            (Stage::DiffReview, "[OK]", false),
            (Stage::Confirm, "", false),
        ] {
            assert_eq!(has_closing_line(stage, text), has, "{stage}: {text}");
        }
    }
}
