//! Issues that were divided into others, once all of those are done.
//!
//! An issue that carries `carson:planned` waits for what was filed for it, which the rows of its firings tell.
//! When all of that is closed as done, it is told and closed, and the label goes: so who opens it again has
//! taken it back. Whatever is missing, dropped or waits for a person leaves it as it is.

use carson_config::Repo;
use carson_core::work::WorkKey;
use carson_core::{Effect, FiringId, Page};
use carson_forge::{
    DO_NOT_PICKUP, DONE, Forge, IN_FLIGHT, Issue, NEEDS_HUMAN, PLAN_PENDING, PLANNED, State,
};
use carson_home::Home;
use carson_store::{EffectRow, EffectState, StoreError};
use chrono::{DateTime, TimeDelta, Utc};
use tracing::{info, warn};

use crate::effects::IssueIn;
use crate::ended_pulls::PullError;
use crate::turn::Turns;

/// Issues that one pass looks at in a repository; the others have their turn later.
const MOST: usize = 20;
/// How long after it was told an issue is still closed: who died in between finishes that, and what people
/// opened again later stays open.
const FRESH: TimeDelta = TimeDelta::hours(24);

/// Closes what is done in every repository where a role divides issues; how many.
///
/// # Errors
/// When the store does not answer. A forge that does not is logged.
pub async fn sweep(home: &Home) -> Result<u32, StoreError> {
    let Some(_turn) = Turns::Parts.soon(home).await else {
        return Ok(0);
    };
    let mut closed = 0;
    for (name, repo) in &home.fleet.repos {
        let mut roles = home.fleet.roles.values();
        if !roles.any(|role| role.kind.divides() && role.repos.contains(name)) {
            continue;
        }
        match sweep_one(home, repo).await {
            Ok(count) => closed += count,
            Err(PullError::Store(error)) => return Err(error),
            Err(error) => warn!(%name, %error, "its planned issues cannot be looked at"),
        }
    }
    Ok(closed)
}

async fn sweep_one(home: &Home, repo: &Repo) -> Result<u32, PullError> {
    let forge = home.forge(repo).await?;
    let mut closed = 0;
    let mut planned = forge.issues(Some(PLANNED)).await?.found;
    planned.sort_by_key(|issue| issue.number);
    for issue in turn(planned, home.clock.now()) {
        match roll_up(home, (repo, &forge), &issue).await {
            Ok(done) => closed += u32::from(done),
            Err(PullError::Store(error)) => return Err(PullError::Store(error)),
            // A part that is gone, or whose forge is away, holds up no other issue.
            Err(error) => {
                warn!(work.issue = issue.number, %error, "the parts of an issue cannot be looked at");
            }
        }
    }
    Ok(closed)
}

/// Those whose turn it is: within some hours each of them, however many there are.
fn turn<T>(mut all: Vec<T>, now: DateTime<Utc>) -> Vec<T> {
    if all.len() > MOST {
        let hours = usize::try_from(now.timestamp() / 3_600).unwrap_or_default();
        let at = hours.wrapping_mul(MOST) % all.len();
        all.rotate_left(at);
        all.truncate(MOST);
    }
    all
}

/// Whether it was closed now.
async fn roll_up(
    home: &Home,
    (repo, forge): (&Repo, &Forge),
    issue: &Issue,
) -> Result<bool, PullError> {
    let away = [IN_FLIGHT, PLAN_PENDING, NEEDS_HUMAN, DO_NOT_PICKUP];
    if away.iter().any(|label| issue.has(label)) {
        return Ok(false);
    }
    let Some((planned_by, parts)) = parts(home, repo, issue.number).await? else {
        return Ok(false);
    };
    for part in &parts {
        if !is_done(home, (repo, forge), part).await? {
            return Ok(false);
        }
    }
    let mut text = Page::from("All of its parts are done:");
    for part in &parts {
        text = text.says(" ").names(part.named_in(home, &repo.name));
    }
    let number = issue.number;
    let key = format!("{planned_by}-rolled-up");
    let told = forge.comment_once(number, &key, text.as_str()).await?;
    let is_fresh = home.clock.now() - told.created_at < FRESH;
    if is_fresh {
        forge.close_issue(number).await?;
        info!(work.issue = number, "all parts of an issue are done");
    }
    // Last: while it is there, who died before this line is followed by the next pass.
    let add: &[&str] = if is_fresh { &[DONE] } else { &[] };
    forge.set_labels(number, add, &[PLANNED]).await?;
    Ok(is_fresh)
}

/// The newest firing that divided an issue, and all that was filed for it; `None` where something of that is
/// missing, was refused, or other hosts alone know.
async fn parts(
    home: &Home,
    repo: &Repo,
    number: u64,
) -> Result<Option<(FiringId, Vec<IssueIn>)>, StoreError> {
    let (mut newest, mut all) = (None, Vec::new());
    let rows = home.store.firings_of(&repo.name, WorkKey::Issue(number));
    for row in rows.await? {
        let effects = home.store.effects(row.id).await?;
        let Some(refused) = effects.iter().find_map(|one| filed(one, number)) else {
            continue;
        };
        // Who planned it anew, and was refused nothing, made up for what the plan before lacks.
        newest = (refused == 0).then_some(row.id);
        let is_issue = |one: &&EffectRow| matches!(one.effect, Effect::FileIssue { .. });
        for one in effects.iter().filter(is_issue) {
            match IssueIn::filed(one, &repo.name) {
                Some(part) => all.push(part),
                None => return Ok(None),
            }
        }
    }
    Ok(newest.map(|newest| (newest, all)))
}

/// How many entries were refused of a plan that was filed for an issue; `None` of any other effect.
fn filed(row: &EffectRow, number: u64) -> Option<u32> {
    match row.effect {
        Effect::TellFiled { issue, refused }
            if issue == number && row.state == EffectState::Done =>
        {
            Some(refused)
        }
        _ => None,
    }
}

/// Whether a part is closed, and nobody said that it is not to be done.
async fn is_done(
    home: &Home,
    (repo, forge): (&Repo, &Forge),
    part: &IssueIn,
) -> Result<bool, PullError> {
    let elsewhere;
    let forge = if part.repo == repo.name {
        forge
    } else {
        let Some(there) = home.fleet.repos.get(&part.repo) else {
            return Ok(false);
        };
        elsewhere = home.forge(there).await?;
        &elsewhere
    };
    let issue = forge.issue(part.number).await?;
    Ok(issue.state == State::Closed && !issue.dropped && !issue.has(NEEDS_HUMAN))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_has_its_turn_within_some_hours() {
        let hour = |hour: i64| DateTime::UNIX_EPOCH + TimeDelta::hours(490_000 + hour);
        assert_eq!(turn(vec![1, 2], hour(0)), [1, 2]);
        let all: Vec<usize> = (0..2 * MOST + 5).collect();
        let seen = (0..3).flat_map(|at| turn(all.clone(), hour(at)));
        let seen: Vec<usize> = seen.collect();
        assert_eq!(seen.len(), 3 * MOST);
        let seen: BTreeSet<usize> = seen.into_iter().collect();
        assert_eq!(seen.len(), all.len());
    }
}
