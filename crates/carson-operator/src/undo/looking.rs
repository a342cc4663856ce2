//! What is looked at, and how a way back may stand.

use carson_core::Compensation;
use carson_store::{EffectRow, EffectState, Firing, NewUndo, UndoState};

use super::going::{Going, Place};

/// What is looked at.
pub(super) struct Looking<'a, 'h> {
    pub going: &'a mut Going<'h>,
    pub row: &'a Firing,
    pub place: Place<'h>,
    pub effects: &'a [EffectRow],
}

impl Looking<'_, '_> {
    /// The effects that the forge has.
    pub fn done(&self) -> impl Iterator<Item = &EffectRow> {
        let all = self.effects.iter();
        all.filter(|one| one.state == EffectState::Done)
    }
}

/// A way that is to be gone.
pub(super) fn owed(what: Compensation) -> NewUndo {
    stands(what, UndoState::Owed, None)
}

/// One that is left, and why.
pub(super) fn left(what: Compensation, why: impl Into<String>) -> NewUndo {
    stands(what, UndoState::Left, Some(why.into()))
}

/// One that nobody needs to go any more.
pub(super) fn found(what: Compensation, said: impl Into<String>) -> NewUndo {
    stands(what, UndoState::Done, Some(said.into()))
}

/// What nothing takes back.
pub(super) fn nothing(what: String, why: impl Into<String>) -> NewUndo {
    left(Compensation::Nothing { what }, why)
}

pub(super) fn stands(what: Compensation, state: UndoState, said: Option<String>) -> NewUndo {
    NewUndo { what, state, said }
}
