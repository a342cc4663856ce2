//! Pull requests as work: what keeps every role away from one.

use std::pin::Pin;

use carson_config::Role;
use carson_core::work::WorkKey;
use carson_core::{Effect, Page};
use carson_forge::{
    DO_NOT_PICKUP, DO_NOT_REVIEW, ForgeError, NEEDS_HUMAN, Pull, Review, ReviewState,
};
use chrono::{DateTime, TimeDelta, Utc};

use super::candidates::{Candidate, Candidates, ShownPull};
use super::kind::Looking;
use crate::review_queue::QueueError;

/// Bytes of a diff that a session is shown: more is nothing that anybody reads at once.
pub(super) const DIFF_BYTES: usize = 600 * 1024;

/// A pull request as work, or why it is none now.
pub(super) type Judged = Result<Result<Candidate, String>, QueueError>;
/// How a kind of role judges one.
pub(super) type Judge =
    for<'a> fn(Looking<'a>, Pull) -> Pin<Box<dyn Future<Output = Judged> + Send + 'a>>;

/// The oldest open one that the judge takes, or the one that is wanted of them.
pub(super) async fn first(looking: Looking<'_>, judge: Judge) -> Result<Candidates, QueueError> {
    let mut pulls = looking.forge.pulls(true).await?.found;
    pulls.retain(|pull| looking.wanted.is_none_or(|wanted| wanted == pull.number));
    pulls.sort_by_key(|pull| pull.number);
    let mut found = Candidates::default();
    for pull in pulls {
        let key = WorkKey::Pull(pull.number);
        let judged = judge(looking, pull).await;
        found.ready = found.judged(key, judged)?;
        if found.ready.is_some() {
            break;
        }
    }
    Ok(found)
}

/// Why no role takes it now.
pub(crate) fn kept(role: &Role, pull: &Pull, now: DateTime<Utc>) -> Option<String> {
    let age = TimeDelta::from_std(role.work.min_age).unwrap_or(TimeDelta::days(365));
    let has = |label: &str| {
        let mut labels = pull.labels.iter();
        labels.any(|own| carson_forge::is_same_label(own, label))
    };
    if pull.draft {
        return Some("it is a draft".to_owned());
    }
    let mut away = [DO_NOT_REVIEW, DO_NOT_PICKUP, NEEDS_HUMAN].into_iter();
    if let Some(label) = away.find(|label| has(label)) {
        return Some(format!("it carries {label}"));
    }
    if let Some(label) = role.work.labels.iter().find(|label| !has(label)) {
        return Some(format!("it does not carry the label {label}"));
    }
    if pull.from_fork {
        return Some("it comes from a fork, which people look at".to_owned());
    }
    if now - pull.opened_at < age {
        return Some(format!(
            "it was opened less than {} minutes ago",
            age.num_minutes()
        ));
    }
    None
}

/// The work of a pull request whose newest commit is this.
pub(super) fn candidate(pull: Pull, head: String) -> Candidate {
    Candidate {
        key: WorkKey::Pull(pull.number),
        title: pull.title,
        body: format!(
            "{}\n\nBranch {} for {}, commit {head}",
            pull.body, pull.head, pull.base
        ),
        url: pull.url,
        shown: Some(ShownPull {
            branch: pull.head,
            base: pull.base,
            head,
        }),
        findings: None,
        decided: None,
        story: None,
    }
}

/// What nobody reads at once is to be split; that needs no model.
pub(super) fn split(key: WorkKey, head: &str, lines: Option<(u64, u64)>) -> Effect {
    let said = match lines {
        Some((lines, most)) => Page::from("This changes ")
            .names(lines)
            .says(" lines, and nobody reads more than ")
            .names(most)
            .says(" at once. Split it."),
        None => Page::from("This is more than anybody reads at once. Split it."),
    };
    Effect::Review {
        pull: key.number().unwrap_or_default(),
        head: head.to_owned(),
        ship: false,
        body: said,
    }
}

/// A forge that has no such thing has none of them.
pub(crate) fn or_none<T>(asked: Result<Vec<T>, ForgeError>) -> Result<Vec<T>, ForgeError> {
    match asked {
        Err(ForgeError::Lacks { .. }) => Ok(Vec::new()),
        asked => asked,
    }
}

/// The reviews of people whose last word is no.
pub(crate) fn objections<'r>(reviews: &'r [Review], me: &str) -> Vec<&'r Review> {
    let of_people = reviews
        .iter()
        .filter(|one| !one.author.eq_ignore_ascii_case(me));
    let says = |one: &&Review| {
        // A remark takes nothing back.
        !matches!(one.state, ReviewState::Commented | ReviewState::Pending)
    };
    let said: Vec<&Review> = of_people.filter(says).collect();
    let is_last = |at: usize| {
        let author = &said[at].author;
        !said[at + 1..].iter().any(|later| later.author == *author)
    };
    let last = (0..said.len()).filter(|at| is_last(*at));
    let last = last.map(|at| said[at]);
    last.filter(|one| one.state == ReviewState::ChangesRequested)
        .collect()
}
