//! Issues that the firing filed, and those that it closed.

use carson_core::Compensation;
use carson_core::effect::Effect;
use carson_core::work::WorkKey;
use carson_firing::{DEPENDS_ON, IssueIn};
use carson_forge::{ForgeError, Issue, State, is_same_label, is_same_text};
use carson_store::NewUndo;

use super::looking::{Looking, found, left, owed, waits};
use crate::refusal::Refusal;

/// The issue that an effect filed.
pub(super) async fn filed(looking: &mut Looking<'_, '_>, n: u32) -> Result<Vec<NewUndo>, Refusal> {
    let own = looking.place.repo.name.clone();
    let row = looking.effects.iter().find(|one| one.n == n);
    let Some((row, issue)) = row.and_then(|row| Some((row.clone(), IssueIn::filed(row, &own)?)))
    else {
        return Ok(Vec::new());
    };
    let what = Compensation::CloseIssue {
        repo: (issue.repo != own).then(|| issue.repo.clone()),
        issue: issue.number,
    };
    Ok(vec![filed_one(looking, what, &issue, &row.effect).await?])
}

async fn filed_one(
    looking: &mut Looking<'_, '_>,
    what: Compensation,
    filed: &IssueIn,
    effect: &Effect,
) -> Result<NewUndo, Refusal> {
    let forge = looking.going.place(&filed.repo).await?.forge;
    let issue = match forge.issue(filed.number).await {
        Err(ForgeError::NotFound { .. }) => return Ok(found(what, "it is gone")),
        issue => issue?,
    };
    if issue.state == State::Closed {
        return Ok(found(what, "it is closed"));
    }
    if issue.created_at < looking.row.claimed_at {
        return Ok(left(what, "it was there before this firing"));
    }
    let work = WorkKey::Issue(filed.number);
    let since = looking.going.taken_since(looking.row, &filed.repo, work);
    if let Some(why) = since.await? {
        return Ok(waits(what, why));
    }
    if let Some(why) = touched(&issue, effect, forge.me().await?) {
        return Ok(left(what, why));
    }
    let comments = forge.comments_of_people(filed.number).await?;
    Ok(match comments.is_empty() {
        false => left(what, "somebody commented on it since"),
        true => owed(what),
    })
}

/// What of an issue is not as it was filed.
fn touched(issue: &Issue, effect: &Effect, me: &str) -> Option<String> {
    let Effect::FileIssue {
        title,
        body,
        labels,
        after,
        ..
    } = effect
    else {
        return None;
    };
    if !issue.is_made_by(me) {
        return Some("its author is somebody else, or somebody edited it".to_owned());
    }
    if !issue.assignees.is_empty() {
        return Some("somebody was assigned to it since".to_owned());
    }
    let has = |all: &[String], label: &String| all.iter().any(|one| is_same_label(one, label));
    let more = issue.labels.iter().find(|label| !has(labels, label));
    let less = labels.iter().find(|label| !has(&issue.labels, label));
    match (more, less) {
        (Some(label), _) => return Some(format!("somebody gave it {label} since")),
        (None, Some(label)) => return Some(format!("somebody took {label} away since")),
        (None, None) => {}
    }
    if !is_same_text(&issue.title, title.as_str()) {
        return Some("somebody gave it another title since".to_owned());
    }
    let text = issue.text_below_our_mark();
    // What it comes after stands above its own words.
    let text = match text.split_once('\n') {
        Some((first, rest)) if !after.is_empty() && first.starts_with(DEPENDS_ON) => rest,
        _ => text,
    };
    let is_same = is_same_text(text, body.as_str());
    (!is_same).then(|| "somebody changed its text since".to_owned())
}

/// Those that it closed, as long as they are.
pub(super) async fn closed(looking: &Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
    let closed = looking.done().filter_map(|one| match &one.effect {
        Effect::CloseIssue { issue } => Some(*issue),
        _ => None,
    });
    let closed: Vec<u64> = closed.collect();
    let mut list = Vec::new();
    for number in closed {
        let what = Compensation::ReopenIssue { issue: number };
        let issue = match looking.place.forge.issue(number).await {
            Err(ForgeError::NotFound { .. }) => {
                list.push(found(what, "it is gone"));
                continue;
            }
            issue => issue?,
        };
        list.push(match issue.state {
            State::Open => found(what, "it is open"),
            State::Closed if issue.dropped => {
                left(what, "somebody closed it as not to be done since")
            }
            State::Closed => owed(what),
        });
    }
    Ok(list)
}
