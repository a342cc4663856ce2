//! Effects that several kinds have.

use carson_core::{Effect, Outcome};
use carson_forge::DO_NOT_REVIEW;

use super::kind::Closing;
use crate::forge_text;

/// The pull request of what was pushed, if anything was.
pub(super) fn open_pull(closing: &Closing<'_, '_>) -> Option<Effect> {
    closing.saved.pushed.as_ref()?;
    let (ctx, taken) = (closing.ctx, closing.taken);
    let draft = closing.settled.outcome != Outcome::Ok;
    let judged = (closing.facts, closing.settled);
    let body = forge_text::pull_body(ctx, closing.rec, taken, judged);
    Some(Effect::OpenPull {
        head: closing.place?.pushed_as().to_owned(),
        base: taken.repo.base.clone(),
        title: forge_text::pull_title(&taken.work).without(|text| ctx.redacted(text)),
        body: body.without(|text| ctx.redacted(text)),
        draft,
        labels: draft
            .then(|| DO_NOT_REVIEW.to_owned())
            .into_iter()
            .collect(),
    })
}

/// What the sessions of a role that makes commits asked for beside them.
pub(super) fn asked_for(closing: &Closing<'_, '_>) -> Vec<Effect> {
    let is_done = closing.settled.outcome == Outcome::Ok;
    let is_asked = closing.ctx.role.kind.makes_commits();
    match is_done && is_asked {
        true => closing.facts.declared.effects.clone(),
        false => Vec::new(),
    }
}
