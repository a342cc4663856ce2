//! The role is not for this host.

use chrono::{DateTime, Utc};

use super::change::{Change, SettingsFile};
use super::gate::Gate;
use super::stop::{Cause, Standing, Stop};
use crate::skip::{SkipKind, SkipReason};

const KIND: SkipKind = SkipKind::new("host-unfit");

pub(super) const STOP: Stop = Stop {
    kinds: &[KIND],
    stands,
    during: None,
    yields: false,
};

fn stands(gate: &Gate, _: DateTime<Utc>) -> Option<Standing> {
    let labels = gate.elsewhere.as_ref()?;
    let labels = labels.join(", ");
    let change = Change::default()
        .text("fire it on a host that has one (")
        .command("hosts")
        .text(" shows them), or change ")
        .key("hosts", SettingsFile::Role(gate.role.clone()))
        .text(" or ")
        .key("fleet.labels", SettingsFile::Fleet);
    let cause = Cause {
        why: format!("it runs on hosts that are called or labelled {labels}, and this is none"),
        until: None,
        change,
    };
    Some(Standing {
        reason: SkipReason::new(KIND, "it runs on other hosts"),
        waits: true,
        causes: vec![cause],
    })
}
