//! Effects that several kinds have.

use carson_core::declared::PullText;
use carson_core::{Effect, Outcome};
use carson_forge::DO_NOT_REVIEW;

use super::kind::Closing;
use crate::forge_text;

/// The pull request of what was pushed, if anything was.
pub(super) fn open_pull(closing: &Closing<'_, '_>) -> Option<Effect> {
    closing.saved.pushed.as_ref()?;
    let (ctx, taken) = (closing.ctx, closing.taken);
    let draft = closing.settled.outcome != Outcome::Ok;
    let judged = (closing.facts, closing.settled, closing.saved);
    let said = pull_text(closing);
    let body = forge_text::pull_body(ctx, closing.rec, taken, judged, said);
    let title = forge_text::pull_title(&taken.work, said);
    Some(Effect::OpenPull {
        head: closing.place?.pushed_as().to_owned(),
        base: taken.repo.base.clone(),
        title: title.without(|text| ctx.redacted(text)),
        body: body.without(|text| ctx.redacted(text)),
        draft,
        labels: draft
            .then(|| DO_NOT_REVIEW.to_owned())
            .into_iter()
            .collect(),
    })
}

/// What a session says of its finished work; unfinished work says itself that it is.
pub(super) fn pull_text<'c>(closing: &'c Closing<'_, '_>) -> Option<&'c PullText> {
    let said = closing.facts.declared.pull.as_ref();
    said.filter(|_| closing.settled.outcome == Outcome::Ok)
}

/// What the sessions of a role that makes commits asked for beside them, but for answers in threads.
pub(super) fn asked_for(closing: &Closing<'_, '_>) -> Vec<Effect> {
    let is_done = closing.settled.outcome == Outcome::Ok;
    if !is_done || !closing.ctx.role.kind.makes_commits() {
        return Vec::new();
    }
    let asked = closing.facts.declared.effects.iter();
    let asked = asked.filter(|effect| !matches!(effect, Effect::Reply { .. }));
    asked.cloned().collect()
}
