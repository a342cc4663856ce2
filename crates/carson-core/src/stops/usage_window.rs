//! The usage windows of every account leave nothing for this role.

use chrono::{DateTime, Utc};

use super::change::{Change, SettingsFile};
use super::gate::Gate;
use super::stop::{Cause, Standing, Stop};
use crate::id::AccountName;
use crate::skip::{SkipKind, SkipReason};
use crate::usage::UsageWindow;

/// What is left is kept for people.
const RESERVED: SkipKind = SkipKind::new("reserved");
/// Nearly nothing is left, and the role waits first.
const LOW_PRIORITY: SkipKind = SkipKind::new("low-priority");

pub(super) const STOP: Stop = Stop {
    kinds: &[RESERVED, LOW_PRIORITY],
    stands,
    // What people have left is counted when a firing begins.
    during: None,
    yields: true,
};

fn stands(gate: &Gate, now: DateTime<Utc>) -> Option<Standing> {
    if !with_room(gate, now).is_empty() {
        return None;
    }
    let (kind, why, window) = used_up(gate, gate.accounts.first()?, now)?;
    let change = match kind {
        RESERVED => Change::default()
            .text("lower ")
            .key("accounts.NAME.reserve", SettingsFile::Fleet),
        _ => Change::default().set(
            "priority",
            "\"normal\"",
            SettingsFile::Role(gate.role.clone()),
        ),
    };
    let cause = Cause {
        why: why.clone(),
        until: window.resets_at,
        change: change.text(", or wait until the window starts again"),
    };
    Some(Standing::skips(SkipReason::new(kind, why), cause))
}

/// The accounts whose windows leave something for the role.
#[must_use]
pub fn with_room(gate: &Gate, now: DateTime<Utc>) -> Vec<AccountName> {
    let accounts = gate.accounts.iter();
    let free = accounts.filter(|account| used_up(gate, account, now).is_none());
    free.cloned().collect()
}

/// Why an account's fullest window leaves nothing for the role.
fn used_up<'g>(
    gate: &'g Gate,
    account: &AccountName,
    now: DateTime<Utc>,
) -> Option<(SkipKind, String, &'g UsageWindow)> {
    let mut all = gate.shares.iter();
    let shares = all.find(|shares| shares.account == *account)?;
    let windows = gate.windows.iter();
    let fullest = windows
        .filter(|window| window.account == *account && window.stands(now))
        .max_by(|a, b| a.utilization.total_cmp(&b.utilization))?;
    if shares.reserve > 0.0 && fullest.utilization >= 1.0 - shares.reserve {
        let kept = shares.reserve * 100.0;
        let why = format!("kept for people: {kept:.0} %; {fullest}");
        return Some((RESERVED, why, fullest));
    }
    let is_late = gate.is_low && fullest.utilization >= shares.warn_at;
    is_late.then(|| (LOW_PRIORITY, format!("low priority: {fullest}"), fullest))
}
