//! The role's last firing still runs, or is not concluded yet.

use chrono::{DateTime, Utc};

use super::change::{Change, SettingsFile};
use super::gate::{Gate, LastFiring, Overlap};
use super::stop::{Cause, Standing, Stop};
use crate::skip::{SkipKind, SkipReason};

pub(super) const STOP: Stop = Stop {
    kinds: &[SkipKind::OVERLAP],
    stands,
    during: None,
    yields: false,
};

fn stands(gate: &Gate, _: DateTime<Utc>) -> Option<Standing> {
    match gate.last {
        LastFiring::Ended => None,
        LastFiring::Runs => Some(runs(gate)),
        LastFiring::Died => Some(died()),
    }
}

fn runs(gate: &Gate) -> Standing {
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
    Standing {
        reason: SkipReason::new(SkipKind::OVERLAP, "its firing still runs"),
        waits: gate.overlap == Overlap::QueueOne,
        causes: vec![cause],
    }
}

/// A slot must not be lost to who is dead already: after a reboot it may be the only one of the day.
fn died() -> Standing {
    let change = Change::default()
        .text("the daemon concludes it within seconds, and so does ")
        .command("prune");
    let cause = Cause {
        why: "the process of its last firing is gone, and that firing is not concluded".to_owned(),
        until: None,
        change,
    };
    Standing {
        reason: SkipReason::new(SkipKind::OVERLAP, "its last firing is not concluded"),
        waits: true,
        causes: vec![cause],
    }
}
