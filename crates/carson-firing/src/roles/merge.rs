//! A pull request of the fleet that nothing stands against is merged, where the operator allowed that. No
//! model is asked.

use carson_config::Role;
use carson_core::settle::{Goal, PromiseFact};
use carson_core::text::instant;
use carson_core::work::WorkKey;
use carson_core::{Effect, Outcome};
use carson_forge::{CheckRun, Conclusion, Pull};
use carson_store::Firing as Row;
use chrono::{DateTime, TimeDelta, Utc};

use super::candidates::Candidate;
use super::kind::{Kind, Look, Looking};
use super::{pulls, take, triage};
use crate::forge_text::one_line;
use crate::review_queue::QueueError;

/// How long a merge that could not be made is not tried again.
const REST: TimeDelta = TimeDelta::hours(1);

/// The oldest of the fleet's that nothing stands against.
const LOOK: Look = |looking| {
    Box::pin(pulls::first(looking, |looking, pull| {
        Box::pin(one(looking, pull))
    }))
};

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(take::pick(ctx, rec, LOOK)),
    look: Some(LOOK),
    goal: |_| Goal::Effects,
    effects: triage::effects,
};

async fn one(looking: Looking<'_>, pull: Pull) -> pulls::Judged {
    let Looking {
        home, role, repo, ..
    } = looking;
    let head = match may_be_merged(&looking, &pull).await? {
        Ok(head) => head,
        Err(why) => return Ok(Err(why)),
    };
    // Who names it does not wait.
    if !looking.by_hand {
        let key = WorkKey::Pull(pull.number);
        let rows = home.store.firings_of(&repo.name, key).await?;
        if let Some(why) = was_refused(role, &rows, home.clock.now()) {
            return Ok(Err(why));
        }
    }
    let merge = Effect::MergePull {
        pull: pull.number,
        head: head.clone(),
    };
    Ok(Ok(Candidate {
        decided: Some(vec![merge]),
        ..pulls::candidate(pull, head)
    }))
}

/// The commit that may be merged, or why none is.
pub(crate) async fn may_be_merged(
    looking: &Looking<'_>,
    pull: &Pull,
) -> Result<Result<String, String>, QueueError> {
    let Looking {
        home, repo, forge, ..
    } = *looking;
    let row = home.store.firing_of_pull(&repo.name, pull.number).await?;
    let Some(row) = row else {
        return Ok(Err("a person opened it".to_owned()));
    };
    if !pull.author.eq_ignore_ascii_case(forge.me().await?) {
        return Ok(Err("a person opened it".to_owned()));
    }
    if !repo.merge {
        let name = &repo.name;
        let why = format!("people merge in {name}: policy.merge is not set there");
        return Ok(Err(why));
    }
    stands_against(looking, pull, &row).await
}

/// The commit that may be merged, or the first thing that stands against it.
async fn stands_against(
    looking: &Looking<'_>,
    pull: &Pull,
    row: &Row,
) -> Result<Result<String, String>, QueueError> {
    let Looking {
        home,
        role,
        repo,
        forge,
        ..
    } = *looking;
    if let Some(why) = pulls::kept(role, pull, home.clock.now()) {
        return Ok(Err(why));
    }
    if pull.base != repo.base {
        return Ok(Err(format!(
            "it is for {}, and not for the base",
            pull.base
        )));
    }
    let offered = forge.pull_head(pull.number).await?;
    let head = offered.sha;
    if row.pushed_sha.as_deref() != Some(head.as_str()) {
        return Ok(Err("it has commits that the fleet did not push".to_owned()));
    }
    if let Some(no) = offered.mergeability.stands_against() {
        return Ok(Err(no.to_owned()));
    }
    let reviews = pulls::or_none(forge.reviews(pull.number).await)?;
    if let Some(no) = pulls::objections(&reviews, forge.me().await?).first() {
        return Ok(Err(format!("{} asked for changes", one_line(&no.author))));
    }
    let mut verdicts = forge.verdicts(pull.number).await?;
    verdicts.retain(|verdict| verdict.head == head);
    match verdicts.last() {
        None => return Ok(Err("nobody has reviewed its newest commit".to_owned())),
        Some(verdict) if !verdict.ship => {
            return Ok(Err("its review says that it is not ship-ready".to_owned()));
        }
        Some(_) => {}
    }
    let threads = pulls::or_none(forge.review_threads(pull.number).await)?;
    let open = threads.iter().filter(|thread| !thread.resolved).count();
    if open > 0 {
        return Ok(Err(format!("{open} of its review threads are open")));
    }
    let checks = pulls::or_none(forge.checks(&head).await)?;
    Ok(match unchecked(&checks, row) {
        Some(why) => Err(why),
        None => Ok(head),
    })
}

/// Why it is left alone for a while: what stood in the way of a merge is seldom gone a moment later.
fn was_refused(role: &Role, rows: &[Row], now: DateTime<Utc>) -> Option<String> {
    let own = rows.iter().rfind(|row| row.role == role.name)?;
    let ended = own
        .ended_at
        .filter(|_| own.outcome == Some(Outcome::Partial))?;
    let reason = one_line(own.reason.as_deref().unwrap_or_default());
    let again = instant(ended + REST);
    (now - ended < REST).then(|| format!("{reason}; it is tried again at {again}"))
}

/// Why nobody knows whether it works. Where the forge runs no checks, the fleet's own must have passed.
fn unchecked(checks: &[CheckRun], row: &Row) -> Option<String> {
    if let Some(red) = checks.iter().find(|check| check.has_failed()) {
        return Some(format!("its check {} failed", one_line(&red.name)));
    }
    if let Some(runs) = checks.iter().find(|check| check.conclusion.is_none()) {
        return Some(format!("its check {} has not ended", one_line(&runs.name)));
    }
    let passed = row.facts.as_ref();
    let passed = passed.is_some_and(|facts| facts.promise == PromiseFact::Passed);
    let ran = |check: &CheckRun| check.conclusion == Some(Conclusion::Passed);
    (!checks.iter().any(ran) && !passed).then(|| "no check was run on it".to_owned())
}
