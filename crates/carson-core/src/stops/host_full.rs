//! This host runs as many firings as it may.

use chrono::{DateTime, Utc};

use super::change::{Change, SettingsFile};
use super::gate::{Gate, LastFiring};
use super::stop::{Cause, Standing, Stop};
use crate::skip::{SkipKind, SkipReason};

const KIND: SkipKind = SkipKind::new("host-full");

pub(super) const STOP: Stop = Stop {
    kinds: &[KIND],
    stands,
    during: None,
    yields: false,
};

fn stands(gate: &Gate, _: DateTime<Utc>) -> Option<Standing> {
    let (here, max) = (gate.running_here, gate.max_here);
    // The role's own firing may be the one that fills it: that is told already.
    if gate.last != LastFiring::Ended || here < max {
        return None;
    }
    let change = Change::default()
        .text("wait (")
        .command("status")
        .text(" shows them), or raise ")
        .key("fleet.max_firings", SettingsFile::Fleet);
    let cause = Cause {
        why: format!("{here} of {max} firings run on this host"),
        until: None,
        change,
    };
    Some(Standing {
        reason: SkipReason::new(KIND, "this host runs as many firings as it may"),
        waits: true,
        causes: vec![cause],
    })
}
