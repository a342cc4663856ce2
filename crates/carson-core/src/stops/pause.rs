//! An operator's pause of the fleet, the role or its repository.

use chrono::{DateTime, Utc};

use super::change::Change;
use super::gate::{Gate, Pause};
use super::stop::{Cause, Standing, Stop};
use crate::skip::{SkipKind, SkipReason};
use crate::text::instant;

const KIND: SkipKind = SkipKind::new("pause");

pub(super) const STOP: Stop = Stop {
    kinds: &[KIND],
    stands,
    // Firings that run go on.
    during: None,
    yields: true,
};

fn stands(gate: &Gate, now: DateTime<Utc>) -> Option<Standing> {
    let pause = gate.pause.as_ref().filter(|pause| pause.stands(now))?;
    let (what, why) = (&pause.what, &pause.reason);
    let end = pause.until.map_or("an operator ends that".into(), instant);
    let scope = match what.split_once(' ') {
        Some((kind, name)) => format!(" --{kind} {name}"),
        None => String::new(),
    };
    let cause = Cause {
        why: format!("{what} is paused until {end}: {why}"),
        until: pause.until,
        change: Change::default().command(format!("resume{scope}")),
    };
    Some(Standing::skips(SkipReason::paused(pause), cause))
}

impl SkipReason {
    /// An operator's pause stops it.
    #[must_use]
    pub fn paused(pause: &Pause) -> Self {
        Self::new(KIND, format!("paused: {} ({})", pause.what, pause.reason))
    }
}
