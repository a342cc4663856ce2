//! What is looked at, and how a way back may stand.

use carson_core::Compensation;
use carson_core::work::WorkKey;
use carson_store::{EffectRow, EffectState, Firing, NewUndo, UndoState};

use super::going::{Going, Place};

/// What is looked at.
pub(super) struct Looking<'a, 'h> {
    pub going: &'a mut Going<'h>,
    pub row: &'a Firing,
    pub place: Place<'h>,
    pub effects: &'a [EffectRow],
    /// Its pull request, where that stays as it is.
    pub stays: Option<&'a Stays>,
}

/// A pull request that stays as it is: what rests on it does, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stays {
    /// Which.
    pub pull: u64,
    /// Whether it stays for good; otherwise until the same command is said again.
    pub is_left: bool,
}

impl Looking<'_, '_> {
    /// The effects that the forge has.
    pub fn done(&self) -> impl Iterator<Item = &EffectRow> {
        done(self.effects)
    }

    /// Why what rests on the pull request of the firing is not changed, where that is an issue of its work.
    pub fn stays_with_its_pull(&self, issue: u64) -> Option<(UndoState, String)> {
        let stays = self.stays?;
        let is_its_work = self.row.work == Some(WorkKey::Issue(issue));
        is_its_work.then(|| stays.said())
    }
}

impl Stays {
    /// How what rests on it stands then, and why.
    pub fn said(&self) -> (UndoState, String) {
        let pull = self.pull;
        match self.is_left {
            true => (UndoState::Left, format!("pull request #{pull} stays")),
            false => (
                UndoState::Waits,
                format!("pull request #{pull} comes first"),
            ),
        }
    }
}

/// The effects that the forge has.
pub(super) fn done(effects: &[EffectRow]) -> impl Iterator<Item = &EffectRow> {
    effects.iter().filter(|one| one.state == EffectState::Done)
}

/// A way that is to be gone.
pub(super) fn owed(what: Compensation) -> NewUndo {
    stands(what, UndoState::Owed, None)
}

/// One that is left, and why.
pub(super) fn left(what: Compensation, why: impl Into<String>) -> NewUndo {
    stands(what, UndoState::Left, Some(why.into()))
}

/// One that is gone once another firing stands on it no more.
pub(super) fn waits(what: Compensation, why: impl Into<String>) -> NewUndo {
    stands(what, UndoState::Waits, Some(why.into()))
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
