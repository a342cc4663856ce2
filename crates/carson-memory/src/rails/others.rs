//! It says nothing that is known, and nothing against what is believed.

use carson_core::lesson::Scope;

use super::rail::{Breach, Known, Other};
use crate::similar::{Likeness, likeness};

pub(super) fn duplicate(known: &Known<'_>) -> Option<Breach> {
    let other = like(known, Likeness::Same, |_| true)?;
    let of = if other.believed {
        "lesson"
    } else {
        "candidate"
    };
    Some(Breach::Holds(format!(
        "it says what {of} {} says",
        other.id.short()
    )))
}

pub(super) fn conflict(known: &Known<'_>) -> Option<Breach> {
    let scope = &known.candidate.scope;
    let other = like(known, Likeness::Opposite, |other| {
        other.believed && may_meet(scope, &other.scope)
    })?;
    Some(Breach::Holds(format!(
        "it speaks against lesson {}",
        other.id.short()
    )))
}

fn like<'a>(
    known: &Known<'a>,
    wanted: Likeness,
    which: impl Fn(&Other) -> bool,
) -> Option<&'a Other> {
    let text = &known.candidate.text;
    known
        .others
        .iter()
        .find(|other| which(other) && likeness(text, &other.text) == wanted)
}

/// Whether one session could be told both.
fn may_meet(one: &Scope, other: &Scope) -> bool {
    match (one, other) {
        (Scope::Repo(a), Scope::Repo(b)) => a == b,
        (Scope::Role(a), Scope::Role(b)) => a == b,
        _ => true,
    }
}
