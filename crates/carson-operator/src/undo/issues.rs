//! Issues that the firing filed, and those that it closed.

use carson_core::Compensation;
use carson_core::effect::Effect;
use carson_core::work::WorkKey;
use carson_firing::IssueIn;
use carson_forge::{ForgeError, Issue, State, is_same_label};
use carson_store::{EffectRow, NewUndo};

use super::looking::{Looking, found, left, owed};
use crate::refusal::Refusal;

/// Those that it filed, the newest first: what comes after others is closed before them.
pub(super) async fn filed(looking: &mut Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
    let own = looking.place.repo.name.clone();
    let rows: Vec<EffectRow> = looking.done().cloned().collect();
    let mut list = Vec::new();
    for row in rows.iter().rev() {
        let (Effect::FileIssue { labels, .. }, Some(issue)) =
            (&row.effect, IssueIn::filed(row, &own))
        else {
            continue;
        };
        let what = Compensation::CloseIssue {
            repo: (issue.repo != own).then(|| issue.repo.clone()),
            issue: issue.number,
        };
        list.push(filed_one(looking, what, &issue, labels).await?);
    }
    Ok(list)
}

async fn filed_one(
    looking: &mut Looking<'_, '_>,
    what: Compensation,
    filed: &IssueIn,
    labels: &[String],
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
        return Ok(left(what, why));
    }
    let me = forge.me().await?;
    let comments = forge.comments(filed.number).await?;
    let stranger = comments
        .iter()
        .find(|one| !one.author.eq_ignore_ascii_case(me));
    Ok(match (touched(&issue, labels, me), stranger) {
        (Some(why), _) => left(what, why),
        (None, Some(_)) => left(what, "somebody commented on it since"),
        (None, None) => owed(what),
    })
}

/// What of an issue is not as it was filed.
fn touched(issue: &Issue, labels: &[String], me: &str) -> Option<String> {
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
        (Some(label), _) => Some(format!("somebody gave it {label} since")),
        (None, Some(label)) => Some(format!("somebody took {label} away since")),
        (None, None) => None,
    }
}

/// Those that it closed, as long as they are.
pub(super) async fn closed(looking: &mut Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
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
            State::Open => left(what, "somebody opened it again since"),
            State::Closed if issue.dropped => {
                left(what, "somebody closed it as not to be done since")
            }
            State::Closed => owed(what),
        });
    }
    Ok(list)
}
