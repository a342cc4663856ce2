//! What is looked at, and how a way back may stand.

use carson_core::Compensation;
use carson_core::effect::Effect;
use carson_core::work::WorkKey;
use carson_store::{EffectRow, EffectState, Firing, NewUndo, UndoState};

use super::going::{Going, Place};

/// What is looked at.
pub(super) struct Looking<'a, 'h> {
    pub going: &'a mut Going<'h>,
    pub row: &'a Firing,
    pub place: Place<'h>,
    pub effects: &'a [EffectRow],
    /// What of it stays as it is.
    pub stays: &'a Staying,
}

/// What stays as it is: what rests on it does, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Staying {
    /// The firing's pull request.
    pub pull: Option<Stays>,
    /// An issue that it filed. Where others are closed, the plan that they were is still half there.
    pub filed: Option<Stays>,
}

/// One pull request or issue that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stays {
    /// Which.
    pub number: u64,
    /// Whether it stays for good; otherwise until the same command is said again.
    pub is_left: bool,
}

impl Looking<'_, '_> {
    /// The effects that the forge has.
    pub fn done(&self) -> impl Iterator<Item = &EffectRow> {
        done(self.effects)
    }

    /// Why an issue keeps its state: it is the work of a pull request that stays, or its plan is issues of which one
    /// does.
    pub fn stays_with_its_work(&self, issue: u64) -> Option<(UndoState, String)> {
        let is_its_work = self.row.work == Some(WorkKey::Issue(issue));
        if let Some(pull) = self.stays.pull.filter(|_| is_its_work) {
            return Some(pull.said("pull request"));
        }
        let is_its_plan = |one: &EffectRow| matches!(one.effect, Effect::TellFiled { issue: on, .. } if on == issue);
        let filed = self.stays.filed.filter(|_| self.done().any(is_its_plan));
        filed.map(|filed| filed.said("issue"))
    }
}

impl Stays {
    /// How what rests on it stands then, and why.
    pub fn said(&self, what: &str) -> (UndoState, String) {
        let number = self.number;
        match self.is_left {
            true => (UndoState::Left, format!("{what} #{number} stays")),
            false => (UndoState::Waits, format!("{what} #{number} comes first")),
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
