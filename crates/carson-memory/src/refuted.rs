//! What a check says against a lesson of failures that came again.
//!
//! Such a lesson says that the firings of a role end badly for some reason. Where its check passed again and again since,
//! and they did not end so any more, it is not so now.

use carson_core::Outcome;

use crate::harvest::{Failure, without_particulars};

/// Firings whose check must have passed since.
pub const OFTEN: usize = 3;

/// A firing that ended, and whether its check passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// How it ended.
    pub end: Failure,
    /// Whether the check of its role passed on what it made.
    pub passed: bool,
}

/// Why a lesson that rests on these failures is not so any more, by what ended since; nothing while it may be.
#[must_use]
pub fn refuted(failures: &[Failure], ended: &[Ended]) -> Option<String> {
    let of_these = |one: &Failure| {
        failures.iter().any(|failure| {
            failure.role == one.role
                && failure.repo == one.repo
                && failure.outcome == one.outcome
                && without_particulars(&failure.reason) == without_particulars(&one.reason)
        })
    };
    let same_place = |one: &Failure| {
        failures
            .iter()
            .any(|failure| failure.role == one.role && failure.repo == one.repo)
    };
    let ends = ended.iter().map(|one| &one.end).filter(|end| of_these(end));
    let last = failures.iter().chain(ends).map(|one| one.at).max()?;
    let mut passed: Vec<&Failure> = ended
        .iter()
        .filter(|one| one.passed && one.end.outcome == Outcome::Ok)
        .map(|one| &one.end)
        .filter(|end| end.at > last && same_place(end))
        .collect();
    passed.sort_by_key(|end| (end.at, end.firing));
    if passed.len() < OFTEN {
        return None;
    }
    let named: Vec<String> = passed
        .iter()
        .rev()
        .take(OFTEN)
        .map(|end| end.firing.short())
        .collect();
    Some(format!(
        "the check passed in {} firings since, the last of them {}",
        passed.len(),
        named.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use carson_core::FiringId;
    use chrono::DateTime;

    use super::*;

    fn end(role: &str, outcome: Outcome, reason: &str, seconds: i64) -> Failure {
        Failure {
            firing: FiringId::new(),
            role: role.parse().unwrap(),
            repo: "widget".parse().unwrap(),
            outcome,
            reason: reason.to_owned(),
            at: DateTime::from_timestamp(1_790_000_000 + seconds, 0).unwrap(),
        }
    }

    fn well(role: &str, passed: bool, seconds: i64) -> Ended {
        Ended {
            end: end(role, Outcome::Ok, "done", seconds),
            passed,
        }
    }

    #[test]
    fn a_check_that_passed_three_times_since_speaks_against_it() {
        let failures = [
            end("keeper", Outcome::Failed, "3 tests failed", 0),
            end("keeper", Outcome::Failed, "5 tests failed", 10),
        ];
        let since = [
            well("keeper", true, 20),
            well("keeper", true, 30),
            well("keeper", true, 40),
        ];
        let why = refuted(&failures, &since).unwrap();
        assert!(
            why.contains("3 firings") && why.contains(&since[2].end.firing.short()),
            "{why}"
        );
        // Of those that count, none may be missing.
        assert_eq!(refuted(&failures, &since[1..]), None);
        let others = [
            well("tester", true, 20),
            well("keeper", false, 25),
            well("keeper", true, 30),
            well("keeper", true, 5),
            well("keeper", true, 40),
        ];
        assert_eq!(refuted(&failures, &others), None);
        assert_eq!(refuted(&[], &since), None);
    }

    #[test]
    fn a_failure_that_came_once_more_begins_the_count_anew() {
        let failures = [end("keeper", Outcome::Failed, "3 tests failed", 0)];
        let mut since: Vec<Ended> = (1..=3).map(|n| well("keeper", true, n * 10)).collect();
        since.push(Ended {
            end: end("keeper", Outcome::Failed, "8 tests failed", 25),
            passed: false,
        });
        assert_eq!(refuted(&failures, &since), None);
        // Another failure is another matter.
        since[3].end.reason = "the disk is full".to_owned();
        assert!(refuted(&failures, &since).is_some());
    }
}
