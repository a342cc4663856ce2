//! What reviewers say again and again, as candidates.
//!
//! The same remark on two pull requests of a repository is one that comes again. What is proposed says no more than that:
//! that it was said, and where.

use std::collections::BTreeSet;

use carson_core::RepoName;
use carson_core::lesson::{Evidence, LessonKind, LessonSource, Scope, Severity};
use carson_core::untrusted::one_line;
use chrono::{DateTime, TimeDelta, Utc};

use crate::candidate::Candidate;
use crate::similar::{Likeness, likeness};
use crate::words;

/// How far back is looked.
pub const WITHIN: TimeDelta = TimeDelta::days(30);
/// On how many pull requests it must have been said.
const OFTEN: usize = 2;
/// The most that one look proposes.
pub const MOST: usize = 10;
/// Pull requests that are named as evidence.
const NAMED: usize = 4;
/// Characters of a remark that are kept.
const SAID: usize = 300;
/// Telling words that a remark must have: `nit`, or thanks, say nothing of a repository.
const ENOUGH: usize = 4;
/// Remarks that are held against each other, the newest ones.
const HELD: usize = 300;

/// What a reviewer said of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// The repository.
    pub repo: RepoName,
    /// When it was said.
    pub at: DateTime<Utc>,
    /// The pull request.
    pub pull: u64,
    /// What was said.
    pub text: String,
}

/// How a candidate says that it was said; also what a pull request of such a candidate is found to say.
#[must_use]
pub fn claim(repo: &RepoName, said: &str) -> String {
    format!("Reviewers of {repo} say again and again: {said}")
}

/// What is proposed of these remarks; what was said most often first. The same for the same remarks, whatever their
/// order.
#[must_use]
pub fn reviewed(remarks: &[Remark], now: DateTime<Utc>) -> Vec<Candidate> {
    let mut alike: Vec<Vec<&Remark>> = Vec::new();
    let mut said: Vec<(&Remark, String)> = remarks
        .iter()
        .filter(|one| one.at <= now && now - one.at <= WITHIN)
        .map(|one| (one, plain(&one.text)))
        .filter(|(_, text)| words::set(text).len() >= ENOUGH)
        .collect();
    said.sort_by_key(|(one, _)| *one);
    let newest = said.len().saturating_sub(HELD);
    let mut firsts: Vec<&str> = Vec::new();
    for (one, text) in &said[newest..] {
        let like = |(group, first): (&Vec<&Remark>, &&str)| {
            group.iter().all(|other| other.repo == one.repo)
                && likeness(first, text) == Likeness::Same
        };
        match alike.iter().zip(&firsts).position(like) {
            Some(place) => alike[place].push(one),
            None => {
                alike.push(vec![one]);
                firsts.push(text);
            }
        }
    }
    let mut groups: Vec<(BTreeSet<u64>, Vec<&Remark>, &str)> = alike
        .into_iter()
        .zip(firsts)
        .map(|(group, first)| (group.iter().map(|one| one.pull).collect(), group, first))
        .filter(|(pulls, ..): &(BTreeSet<u64>, _, _)| pulls.len() >= OFTEN)
        .collect();
    groups.sort_by(|(a, left, _), (b, right, _)| b.len().cmp(&a.len()).then(left.cmp(right)));
    groups
        .into_iter()
        .take(MOST)
        .filter_map(|(pulls, group, first)| proposed(&pulls, &group, first))
        .collect()
}

fn proposed(pulls: &BTreeSet<u64>, group: &[&Remark], said: &str) -> Option<Candidate> {
    let first = group.first()?;
    let newest = pulls.iter().rev().take(NAMED);
    Some(Candidate {
        text: claim(&first.repo, said),
        body: None,
        kind: LessonKind::Convention,
        severity: Severity::Info,
        scope: Scope::Repo(first.repo.clone()),
        repo: Some(first.repo.clone()),
        confidence: 0.5,
        valid_from: Some(first.at),
        valid_to: None,
        evidence: newest.map(|number| Evidence::Pull(*number)).collect(),
        source: LessonSource::Review,
        by: "review".to_owned(),
        firing: None,
        origin: None,
    })
}

/// A remark without what it quotes and the code that it suggests, as one line.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut in_code = false;
    let own = text.lines().filter(|line| {
        let line = line.trim_start();
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        in_code ^= is_fence;
        !is_fence && !in_code && !line.starts_with('>')
    });
    one_line(&own.collect::<Vec<_>>().join(" "), SAID)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(days: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_790_000_000 + days * 86_400, 0).unwrap()
    }

    fn remark(repo: &str, pull: u64, text: &str) -> Remark {
        Remark {
            repo: repo.parse().unwrap(),
            at: at(i64::try_from(pull).unwrap()),
            pull,
            text: text.to_owned(),
        }
    }

    const SAID_OF: &str = "New settings need a row in docs/CONFIG.md";

    #[test]
    fn what_was_said_of_two_pull_requests_is_proposed_with_them() {
        let all = [
            remark(
                "widget",
                2,
                &format!("> quoted\n{SAID_OF}.\n```\nlet x = 1;\n```"),
            ),
            remark(
                "widget",
                5,
                "new settings need a row in `docs/CONFIG.md`, please",
            ),
            remark("widget", 5, "Thanks, looks good!"),
            remark("widget", 6, "Thanks, looks good!"),
            remark("gadget", 7, SAID_OF),
            remark("widget", 8, "This loop never ends when the list is empty"),
        ];
        let found = reviewed(&all, at(9));
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(
            found[0].text,
            format!("Reviewers of widget say again and again: {SAID_OF}.")
        );
        assert_eq!(found[0].evidence, [Evidence::Pull(5), Evidence::Pull(2)]);
        assert_eq!(found[0].check(), Ok(()));
        assert_eq!(reviewed(&all, at(60)), []);
    }

    #[test]
    fn what_one_pull_request_was_told_often_does_not_come_again() {
        let all: Vec<Remark> = (0..4).map(|_| remark("widget", 3, SAID_OF)).collect();
        assert_eq!(reviewed(&all, at(9)), []);
    }

    proptest! {
        #[test]
        fn it_is_bounded_and_the_same_in_any_order(
            said in proptest::collection::vec((0..8_u64, 0..30_usize), 0..60)
        ) {
            let text = |sort: usize| format!("alpha{sort} beta{sort} gamma{sort} delta{sort} epsilon{sort}");
            let all: Vec<Remark> = said
                .iter()
                .map(|(pull, sort)| remark("widget", *pull, &text(*sort)))
                .collect();
            let mut turned = all.clone();
            turned.reverse();
            let (one, other) = (reviewed(&all, at(9)), reviewed(&turned, at(9)));
            prop_assert!(one.len() <= MOST);
            prop_assert_eq!(one, other);
        }
    }
}
