//! What the firing said: comments, answers, reviews.

use carson_core::Compensation;
use carson_core::effect::Effect;
use carson_core::work::WorkKey;
use carson_forge::ForgeError;
use carson_store::{EffectRow, Firing, NewUndo};

use super::looking::{Looking, found, left, owed};
use crate::refusal::Refusal;

/// What keeps a text.
const EDITED: &str = "somebody edited it since";

/// Its comments on an issue or a pull request, but for those that somebody edited.
pub(super) async fn comments(looking: &Looking<'_, '_>, on: u64) -> Result<Vec<NewUndo>, Refusal> {
    let (forge, id) = (&looking.place.forge, looking.row.id);
    let comments = match forge.comments_of(on, id).await {
        // With the issue its comments went.
        Err(ForgeError::NotFound { .. }) => return Ok(Vec::new()),
        comments => comments?,
    };
    let (edited, as_written): (Vec<_>, Vec<_>) =
        comments.into_iter().partition(|comment| comment.edited);
    let what = |comments: Vec<u64>| Compensation::RemoveComments { on, comments };
    let all: Vec<u64> = as_written.iter().map(|comment| comment.id).collect();
    let all = (!all.is_empty()).then(|| owed(what(all)));
    let edited = edited.iter().map(|comment| comment.id);
    let edited = edited.map(|one| left(what(vec![one]), EDITED));
    Ok(all.into_iter().chain(edited).collect())
}

/// Every issue and pull request on which the firing may have said something, each once.
pub(super) fn numbers(row: &Firing, effects: &[EffectRow]) -> Vec<u64> {
    let mut all: Vec<u64> = Vec::new();
    if let Some(WorkKey::Issue(number) | WorkKey::Pull(number)) = row.work {
        all.push(number);
    }
    // One that was refused may have said why.
    for one in effects.iter().filter(|one| one.tries > 0) {
        let on = match &one.effect {
            Effect::Release { issue, .. }
            | Effect::TellFiled { issue, .. }
            | Effect::AwaitApproval { issue, .. } => *issue,
            Effect::Comment { on, .. } => *on,
            Effect::HandOver { number, .. } => *number,
            Effect::MergePull { pull, .. } => *pull,
            _ => continue,
        };
        all.push(on);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Its word on commits, which roles go by.
pub(super) async fn reviews(looking: &Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
    let mut list = Vec::new();
    for pull in pulls_of(looking, |effect| match effect {
        Effect::Review { pull, .. } => Some(*pull),
        _ => None,
    }) {
        let what = |review| Compensation::WithdrawReview { pull, review };
        match looking.place.forge.reviews_of(pull, looking.row.id).await {
            Err(ForgeError::NotFound { .. }) => list.push(found(what(0), "it is gone")),
            reviews => list.extend(reviews?.iter().map(|review| match review.edited {
                true => left(what(review.id), EDITED),
                false => owed(what(review.id)),
            })),
        }
    }
    Ok(list)
}

/// Its answers in the threads of people.
pub(super) async fn replies(looking: &Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
    let mut list = Vec::new();
    for pull in pulls_of(looking, |effect| match effect {
        Effect::Reply { pull, .. } => Some(*pull),
        _ => None,
    }) {
        let replies = match looking.place.forge.replies_of(pull, looking.row.id).await {
            Err(ForgeError::NotFound { .. }) => continue,
            replies => replies?,
        };
        for (thread, reply) in replies {
            let what = Compensation::RemoveReply {
                pull,
                thread,
                reply: reply.id,
            };
            list.push(match reply.edited {
                true => left(what, EDITED),
                false => owed(what),
            });
        }
    }
    Ok(list)
}

/// Each pull request once.
fn pulls_of(looking: &Looking<'_, '_>, pull: fn(&Effect) -> Option<u64>) -> Vec<u64> {
    let mut all: Vec<u64> = looking.done().filter_map(|one| pull(&one.effect)).collect();
    all.sort_unstable();
    all.dedup();
    all
}
