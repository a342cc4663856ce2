//! The role's breaker is open, and its cooldown is not over: then one firing may try.

use chrono::{DateTime, Utc};

use super::change::Change;
use super::gate::Gate;
use super::stop::{Cause, Standing, Stop};
use crate::skip::{SkipKind, SkipReason};
use crate::text::{counted, instant};

const KIND: SkipKind = SkipKind::new("breaker");

pub(super) const STOP: Stop = Stop {
    kinds: &[KIND],
    stands,
    during: None,
    yields: true,
};

fn stands(gate: &Gate, now: DateTime<Utc>) -> Option<Standing> {
    let breaker = &gate.breaker;
    let half_open = breaker.half_opens_at(gate.cooldown);
    if !breaker.is_open() || half_open.is_some_and(|at| now >= at) {
        return None;
    }
    let mut why = breaker.reason.clone().unwrap_or_default();
    if let Some(at) = half_open {
        why.push_str(&format!("; one firing may try from {}", instant(at)));
    }
    let streak = counted(breaker.streak, "bad outcome");
    let cause = Cause {
        why: format!("{streak} in a row, the last: {why}"),
        until: half_open,
        change: Change::default().command(format!("breaker reset {}", gate.role)),
    };
    let reason = SkipReason::new(KIND, format!("breaker open: {why}"));
    Some(Standing::skips(reason, cause))
}
