//! The role's firings of the day are used up.

use chrono::{DateTime, Utc};

use super::change::{Change, SettingsFile};
use super::gate::Gate;
use super::stop::{Cause, Standing, Stop};
use crate::skip::{SkipKind, SkipReason};

const KIND: SkipKind = SkipKind::new("daily-cap");

pub(super) const STOP: Stop = Stop {
    kinds: &[KIND],
    stands,
    during: None,
    yields: true,
};

fn stands(gate: &Gate, _: DateTime<Utc>) -> Option<Standing> {
    let (fired, max) = (gate.fired_today, gate.max_per_day);
    if fired < max {
        return None;
    }
    let file = SettingsFile::Role(gate.role.clone());
    let change = Change::default().key("limits.max_firings_per_day", file);
    let midnight = format!("; a new day begins at midnight in {}", gate.zone);
    let cause = Cause {
        why: format!("{fired} of {max} firings of today are used up"),
        until: None,
        change: change.text(&midnight),
    };
    let reason = SkipReason::new(KIND, format!("daily cap of {max} firings used up"));
    Some(Standing::skips(reason, cause))
}
