//! An issue becomes a pull request: the first that is ready, claimed on the forge so that all boxes
//! and people see it, worked on, and given back.

use carson_core::effect::Release;
use carson_core::settle::{Goal, Halt, Settled};
use carson_core::{Effect, Outcome};
use carson_forge::IN_FLIGHT;

use super::kind::{Closing, Kind};
use super::pick_issue::pick;
use crate::forge_text;
use crate::labels::labels_after;
use crate::saved::without_a_pull;

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(pick(ctx, rec)),
    look: None,
    goal: |_| Goal::Commits,
    effects,
};

/// The pull request, then the end of the claim; an issue whose work was done before is closed.
pub(super) fn effects(closing: &Closing<'_, '_>) -> Vec<Effect> {
    let Some(issue) = closing.taken.work.key.number() else {
        return Vec::new();
    };
    let pull = super::effects::open_pull(closing);
    let release = |settled: &Settled| release(closing, settled);
    let outcome = closing.settled.outcome;
    let without_pull = pull.is_some() && outcome == Outcome::Ok;
    let without_pull = without_pull.then(|| release(&without_a_pull(closing.settled)));
    let ends = Effect::Release {
        issue,
        release: release(closing.settled),
        without_pull,
    };
    let close = (outcome == Outcome::AlreadyDone).then_some(Effect::CloseIssue { issue });
    // Last: nobody waits for it.
    let drafts = pull.is_some() && !closing.older.is_empty();
    let drafts = drafts.then(|| Effect::CloseDrafts {
        drafts: closing.older.clone(),
    });
    pull.into_iter()
        .chain([ends])
        .chain(close)
        .chain(drafts)
        .chain(super::effects::asked_for(closing))
        .collect()
}

fn release(closing: &Closing<'_, '_>, settled: &Settled) -> Release {
    let ctx = closing.ctx;
    let spares = closing.facts.spares_the_work();
    let (add, counts) = labels_after(settled.outcome, spares, ctx.role.work.label());
    let mut note =
        forge_text::forge_note(ctx, closing.rec, closing.taken, (settled, closing.saved));
    if let Some(Halt::AsBefore(_)) = closing.facts.halt {
        note = note.and(&forge_text::not_its_fault());
    }
    Release {
        outcome: settled.outcome.to_string(),
        note: note.without(|text| ctx.redacted(text)),
        attempt_counts: counts,
        add,
        remove: vec![IN_FLIGHT.to_owned()],
    }
}
