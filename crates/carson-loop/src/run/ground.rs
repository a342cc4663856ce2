//! What everything in a run stands on.

use std::ffi::OsString;

use super::orphans::{MARKER, marker};
use crate::caller::Caller;
use crate::normal::Places;
use crate::place::Place;
use crate::tree::Rules;
use crate::walls::Walls;

/// What everything in a run stands on; it does not change.
#[derive(Debug)]
pub(super) struct Ground {
    pub place: Place,
    pub caller: Caller,
    /// Which files count.
    pub rules: Rules,
    /// What says where something ran.
    pub places: Places,
    /// What is around task and promise.
    pub walls: Option<Walls>,
}

/// Which files of a tree count.
pub(crate) fn rules(place: &Place, caller: &Caller) -> Rules {
    let excludes = caller.git_excludes();
    Rules::of_repository(place.root(), excludes.as_deref()).without(place.own())
}

impl Ground {
    pub(super) fn new(place: Place, caller: Caller, walls: Option<Walls>) -> Self {
        Self {
            rules: rules(&place, &caller),
            places: caller.places(place.root()),
            place,
            caller,
            walls,
        }
    }

    /// The environment of the promise, and of the task but for what it is told.
    pub(super) fn env(&self) -> Vec<(OsString, OsString)> {
        let mut env = self.caller.env.clone();
        env.push((MARKER.into(), marker(&self.place).into()));
        env.extend(self.walls.iter().flat_map(Walls::env));
        env
    }

    /// A text without secrets.
    pub(super) fn redacted(&self, text: &str) -> String {
        self.caller.redactor.redact(text).into_owned()
    }
}
