//! Nothing new fires on this host: an operator drained it.

use chrono::{DateTime, Utc};

use super::change::Change;
use super::gate::Gate;
use super::stop::{Cause, Standing, Stop};
use crate::skip::{SkipKind, SkipReason};

const KIND: SkipKind = SkipKind::new("host-drained");

pub(super) const STOP: Stop = Stop {
    kinds: &[KIND],
    stands,
    // Firings that run go on.
    during: None,
    yields: false,
};

fn stands(gate: &Gate, _: DateTime<Utc>) -> Option<Standing> {
    let host = gate.drained.as_ref()?;
    let cause = Cause {
        why: format!("this host, {host}, is drained: nothing new fires here"),
        until: None,
        change: Change::default().command(format!("hosts resume {host}")),
    };
    Some(Standing {
        reason: SkipReason::new(KIND, "this host is drained"),
        waits: true,
        causes: vec![cause],
    })
}
