//! The list.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::gate::Gate;
use super::stop::{Standing, Stop};
use super::{
    block, breaker, budget, daily_cap, forge_limit, host_drained, host_full, host_unfit, overlap,
    pause, usage_window,
};
use crate::settle::Halt;
use crate::skip::SkipKind;

/// Every stop, in the order in which an operator wants to hear of it: what people said (pause, where it fires), what
/// the provider and the forge said (usage windows, blocks, limits), what the role earned (breaker, money, cap), then what is
/// merely busy.
pub const STOPS: &[Stop] = &[
    pause::STOP,
    host_unfit::STOP,
    host_drained::STOP,
    usage_window::STOP,
    block::STOP,
    forge_limit::STOP,
    breaker::STOP,
    budget::STOP,
    daily_cap::STOP,
    overlap::STOP,
    host_full::STOP,
];

/// All that stand, in the order of the list.
pub fn standing(gate: &Gate, now: DateTime<Utc>) -> impl Iterator<Item = Standing> {
    STOPS
        .iter()
        .filter_map(move |stop| (stop.stands)(gate, now))
}

/// What a firing halts with before its next session: the first stop that stands of those that are
/// asked again. `has_begun` says whether it ran a session before; one that did not is skipped.
#[must_use]
pub fn during(gate: &Gate, now: DateTime<Utc>, has_begun: bool) -> Option<Halt> {
    STOPS.iter().find_map(|stop| {
        let halt = stop.during?;
        let standing = (stop.stands)(gate, now)?;
        Some(match has_begun {
            true => halt(gate, now),
            false => Halt::Skipped(standing.reason),
        })
    })
}

/// Every word that a row may hold: those of the stops, and of what a slot or a firing meets beside
/// them.
pub fn kinds() -> impl Iterator<Item = SkipKind> {
    let own = STOPS.iter().flat_map(|stop| stop.kinds);
    own.chain(&SkipKind::OTHERS).copied()
}

// Beside the list, because only here all the words are known.
impl FromStr for SkipKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        kinds()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not the kind of a skip"))
    }
}

impl<'de> Deserialize<'de> for SkipKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(D::Error::custom)
    }
}
