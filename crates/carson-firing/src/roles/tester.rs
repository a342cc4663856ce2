//! A role that writes tests: for the file that was changed lately and of which the tests run least. Only tests
//! may change, and afterwards they must run more of it.

use carson_core::settle::Goal;
use carson_core::{Effect, Page};

use super::effects::pull_text;
use super::kind::{Closing, Kind};
use super::routine;

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(routine::pick(ctx, rec)),
    look: None,
    goal: |_| Goal::Commits,
    effects,
};

fn effects(closing: &Closing<'_, '_>) -> Vec<Effect> {
    let mut effects = routine::effects(closing);
    if pull_text(closing).is_some() {
        return effects;
    }
    let pull = effects.iter_mut().find_map(|effect| match effect {
        Effect::OpenPull { title, .. } => Some(title),
        _ => None,
    });
    if let (Some(title), Some(aimed)) = (pull, &closing.facts.aimed) {
        let named = Page::from("Tests for ").title(&aimed.file);
        *title = named.without(|text| closing.ctx.redacted(text));
    }
    effects
}
