//! Failures that came again, as candidates.
//!
//! Two firings of a role in a repository that ended badly for the same reason, once numbers, paths and names are taken
//! out of it, are a failure that comes again. What is proposed says no more than that.

use std::collections::BTreeMap;

use carson_core::lesson::{Evidence, LessonKind, LessonSource, Scope, Severity};
use carson_core::{FiringId, Outcome, RepoName, RoleName};
use chrono::{DateTime, TimeDelta, Utc};

use crate::candidate::Candidate;

/// How far back is looked.
pub const WITHIN: TimeDelta = TimeDelta::days(7);
/// How often it must have come.
const OFTEN: usize = 2;
/// The most that one harvest proposes.
pub const MOST: usize = 20;
/// Firings that are named as evidence.
const NAMED: usize = 4;
/// Characters of a reason that are kept.
const REASON: usize = 240;

/// A firing that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Which.
    pub firing: FiringId,
    /// Its role.
    pub role: RoleName,
    /// Its repository.
    pub repo: RepoName,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// What is proposed of these failures; those that came most often first. The same for the same failures, whatever their
/// order.
#[must_use]
pub fn harvest(failures: &[Failure], now: DateTime<Utc>) -> Vec<Candidate> {
    let mut alike: BTreeMap<(&RepoName, &RoleName, &str, String), Vec<&Failure>> = BTreeMap::new();
    for one in failures.iter().filter(|one| counts(one, now)) {
        let key = (
            &one.repo,
            &one.role,
            one.outcome.as_str(),
            without_particulars(&one.reason),
        );
        alike.entry(key).or_default().push(one);
    }
    let mut groups: Vec<_> = alike
        .into_iter()
        .filter(|(_, all)| all.len() >= OFTEN)
        .collect();
    groups.sort_by(|(a, left), (b, right)| right.len().cmp(&left.len()).then(a.cmp(b)));
    groups
        .into_iter()
        .take(MOST)
        .map(|(key, all)| proposed(key, all))
        .collect()
}

/// Bad ends that say something of the work: not limits, signals and stops.
fn counts(one: &Failure, now: DateTime<Utc>) -> bool {
    let bad = matches!(
        one.outcome,
        Outcome::Failed
            | Outcome::Blocked
            | Outcome::Rejected
            | Outcome::TimedOut
            | Outcome::Partial
    );
    bad && one.at <= now && now - one.at <= WITHIN && !one.reason.trim().is_empty()
}

fn proposed(
    (repo, role, outcome, reason): (&RepoName, &RoleName, &str, String),
    mut all: Vec<&Failure>,
) -> Candidate {
    all.sort_by_key(|one| (one.at, one.firing));
    let newest = all.iter().rev().take(NAMED);
    let evidence = newest
        .map(|one| Evidence::Firing(one.firing.to_string()))
        .collect();
    Candidate {
        text: format!("In {repo}, firings of {role} end {outcome} again and again: {reason}"),
        body: None,
        kind: LessonKind::Pitfall,
        severity: Severity::Warning,
        scope: Scope::Repo(repo.clone()),
        repo: Some(repo.clone()),
        confidence: 0.5,
        valid_from: all.first().map(|one| one.at),
        valid_to: None,
        evidence,
        source: LessonSource::Harvest,
        by: "harvest".to_owned(),
        firing: None,
        origin: None,
    }
}

/// A reason without what differs from one time to the next: numbers, commits, quoted words.
#[must_use]
pub fn without_particulars(reason: &str) -> String {
    let mut out = String::new();
    for word in carson_core::untrusted::one_line(reason, 2_000).split(' ') {
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        let is_name = word.starts_with(['"', '`']) || word.contains('/');
        let word = if has_digit || is_name { "…" } else { word };
        // Several in a row are one.
        if word == "…" && out.ends_with('…') {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out.chars().take(REASON).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_790_000_000 + seconds, 0).unwrap()
    }

    fn failure(reason: &str, seconds: i64) -> Failure {
        Failure {
            firing: FiringId::new(),
            role: "implementer".parse().unwrap(),
            repo: "widget".parse().unwrap(),
            outcome: Outcome::Failed,
            reason: reason.to_owned(),
            at: at(seconds),
        }
    }

    #[test]
    fn a_failure_that_came_twice_in_a_week_is_proposed_with_its_firings() {
        let all = [
            failure("the check failed: 3 tests in src/a.rs", 0),
            failure("the check failed: 17 tests in src/b.rs", 60),
            failure("something else", 70),
        ];
        let found = harvest(&all, at(100));
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].text,
            "In widget, firings of implementer end FAILED again and again: the check failed: … tests in …"
        );
        assert_eq!(found[0].evidence.len(), 2);
        assert_eq!(found[0].check(), Ok(()));
        assert_eq!(harvest(&all, at(8 * 86_400)), []);
    }

    #[test]
    fn limits_and_good_ends_are_no_failures() {
        for outcome in [
            Outcome::Ok,
            Outcome::RateLimited,
            Outcome::Auth,
            Outcome::Skipped,
            Outcome::Silent,
            Outcome::Crashed,
        ] {
            let all: Vec<Failure> = (0..3)
                .map(|n| Failure {
                    outcome,
                    ..failure("the same", n)
                })
                .collect();
            assert_eq!(harvest(&all, at(10)), [], "{outcome}");
        }
    }

    proptest! {
        #[test]
        fn it_is_bounded_and_the_same_in_any_order(sorts in proptest::collection::vec(0..30u32, 0..80)) {
            let word = |sort: u32| ["aa", "bb", "cc", "dd", "ee"][sort as usize % 5].repeat(1 + sort as usize / 5);
            let all: Vec<Failure> = sorts.iter().map(|sort| failure(&word(*sort), 0)).collect();
            let mut turned = all.clone();
            turned.reverse();
            let (one, other) = (harvest(&all, at(1)), harvest(&turned, at(1)));
            prop_assert!(one.len() <= MOST);
            prop_assert_eq!(one, other);
        }
    }
}
