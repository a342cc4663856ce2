//! The role's last firing still runs.

use chrono::{DateTime, Utc};

use super::change::{Change, SettingsFile};
use super::gate::{Gate, Overlap};
use super::stop::{Cause, Standing, Stop};
use crate::skip::{SkipKind, SkipReason};

pub(super) const STOP: Stop = Stop {
    kinds: &[SkipKind::OVERLAP],
    stands,
    during: None,
};

fn stands(gate: &Gate, _: DateTime<Utc>) -> Option<Standing> {
    let file = SettingsFile::Role(gate.role.clone());
    let change = Change::default()
        .text("wait for it; ")
        .command("status")
        .text(" shows how far it is, and ")
        .set("overlap", "\"queue-one\"", file)
        .text(" lets one slot wait");
    let cause = Cause {
        why: "a firing of this role runs".to_owned(),
        until: None,
        change,
    };
    gate.running.then(|| Standing {
        reason: SkipReason::new(SkipKind::OVERLAP, "its firing still runs"),
        waits: gate.overlap == Overlap::QueueOne,
        causes: vec![cause],
    })
}
