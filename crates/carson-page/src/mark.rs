//! Outcomes as a shape and a colour, each of which says it without the other.

use askama::Template;
use carson_core::Outcome;
use carson_operator::firings::state;
use carson_store::Firing;

/// Shape, colour, and in words what they stand for.
pub(crate) const MARKS: [(&str, &str); 9] = [
    ("running", "runs"),
    ("good", "done"),
    ("part", "partly done"),
    ("quiet", "no work found"),
    ("refused", "blocked or rejected"),
    ("failed", "failed or crashed"),
    ("late", "timed out"),
    ("limit", "rate limit or sign-in"),
    ("skipped", "skipped"),
];

/// The mark of an outcome, or of a firing that runs.
pub(crate) fn mark(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        None => "running",
        Some(Outcome::Ok | Outcome::AlreadyDone) => "good",
        Some(Outcome::Partial | Outcome::NoCommit) => "part",
        Some(Outcome::Silent) => "quiet",
        Some(Outcome::Blocked | Outcome::Rejected) => "refused",
        Some(Outcome::Failed | Outcome::Crashed) => "failed",
        Some(Outcome::TimedOut) => "late",
        Some(Outcome::RateLimited | Outcome::Auth) => "limit",
        Some(Outcome::Skipped) => "skipped",
    }
}

/// A mark beside its words.
#[derive(Clone, Debug, Template)]
#[template(path = "badge.html")]
pub(crate) struct Badge {
    mark: &'static str,
    text: String,
}

impl Badge {
    /// Of a firing.
    pub(crate) fn of(row: &Firing) -> Self {
        Self {
            mark: mark(row.outcome),
            text: state(row),
        }
    }

    /// Of an outcome, or of what runs.
    pub(crate) fn of_outcome(outcome: Option<Outcome>, text: String) -> Self {
        Self {
            mark: mark(outcome),
            text,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_outcome_has_a_mark_with_a_word_and_a_shape() {
        let known: BTreeSet<&str> = MARKS.iter().map(|(mark, _)| *mark).collect();
        let all = Outcome::ALL.map(Some).into_iter().chain([None]);
        let used: BTreeSet<&str> = all.map(mark).collect();
        assert_eq!(used, known);
        let shapes = include_str!("../templates/shapes.html");
        for (mark, _) in MARKS {
            assert!(shapes.contains(&format!("id=\"m-{mark}\"")), "{mark}");
        }
    }
}
