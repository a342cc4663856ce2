//! Which of its slots a role would fire at.

use chrono::{DateTime, TimeDelta, Utc};

use super::facts::{Cap, RoleFacts};

/// The slots that become firings, when one firing takes this long: a role has one at a time. What stops it
/// and its daily cap leave others out.
pub(super) fn picks(facts: &RoleFacts, each_runs: TimeDelta) -> Vec<DateTime<Utc>> {
    let mut caps = facts.caps.clone();
    let mut free_at: Option<DateTime<Utc>> = None;
    let mut picked = Vec::new();
    for at in facts.slots.iter().copied() {
        let is_busy = free_at.is_some_and(|free| at < free);
        if is_busy || is_stopped(facts, at) || !has_room(&mut caps, at) {
            continue;
        }
        free_at = at.checked_add_signed(each_runs.max(TimeDelta::zero()));
        picked.push(at);
    }
    picked
}

fn is_stopped(facts: &RoleFacts, at: DateTime<Utc>) -> bool {
    let stopped = facts.stopped.as_ref();
    stopped.is_some_and(|stopped| stopped.until.is_none_or(|until| at < until))
}

/// Counts one more firing, if its day takes it.
fn has_room(caps: &mut [Cap], at: DateTime<Utc>) -> bool {
    let mut all = caps.iter_mut();
    let Some(cap) = all.find(|cap| cap.from <= at && at < cap.to) else {
        return true;
    };
    let has_room = cap.left > 0;
    cap.left = cap.left.saturating_sub(1);
    has_room
}
