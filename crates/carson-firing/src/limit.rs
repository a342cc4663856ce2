//! The block flag: one wall, one stop.

use carson_config::Account;
use carson_core::admission::Block;
use carson_core::settle::Halt;
use carson_engine::{Limit, LimitKind};
use carson_store::BlockSetter;
use chrono::{DateTime, TimeDelta, Utc};
use tracing::{error, warn};

use crate::firing::Firing;

/// The first block when the provider names no reset time; each one that follows closely doubles.
const FIRST: TimeDelta = TimeDelta::minutes(15);
/// The longest of them.
const LONGEST: TimeDelta = TimeDelta::hours(5);

/// Sets the flag on the account and says how the firing ends.
pub(crate) async fn hit(firing: &Firing<'_>, account: &Account, limit: &Limit) -> Halt {
    let now = firing.house.clock.now();
    let until = match limit.kind {
        // Nothing but a person mends these.
        LimitKind::Auth | LimitKind::Billing => None,
        _ => Some(reset(firing, account, limit, now).await),
    };
    let reason = format!("{:?}: {}", limit.kind, limit.message);
    let block = Block {
        account: account.name.clone(),
        until,
        reason,
    };
    warn!(account = %account.name, ?until, "provider limit: the account is blocked");
    if let Err(error) = firing
        .store()
        .set_block(&block, BlockSetter::Firing(firing.id), now)
        .await
    {
        error!(account = %account.name, %error, "the block flag could not be set");
    }
    Halt::RateLimited {
        account: account.name.clone(),
        until,
    }
}

async fn reset(
    firing: &Firing<'_>,
    account: &Account,
    limit: &Limit,
    now: DateTime<Utc>,
) -> DateTime<Utc> {
    if let Some(named) = limit.resets_at.filter(|at| *at > now) {
        return named;
    }
    let before = firing
        .store()
        .last_block(&account.name)
        .await
        .ok()
        .flatten();
    now + before.map_or(FIRST, |(set_at, until)| next_wait(set_at, until, now))
}

/// Doubles the last wait when it ended no longer ago than it lasted.
fn next_wait(set_at: DateTime<Utc>, until: Option<DateTime<Utc>>, now: DateTime<Utc>) -> TimeDelta {
    let Some(until) = until else { return FIRST };
    let last = until - set_at;
    if now - until > last {
        FIRST
    } else {
        (last * 2).clamp(FIRST, LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(minutes * 60, 0).unwrap()
    }

    #[test]
    fn waits_double_up_to_five_hours_and_start_again_after_a_quiet_time() {
        assert_eq!(
            next_wait(at(0), Some(at(15)), at(16)),
            TimeDelta::minutes(30)
        );
        assert_eq!(next_wait(at(0), Some(at(15)), at(31)), FIRST);
        assert_eq!(next_wait(at(0), Some(at(280)), at(281)), LONGEST);
        assert_eq!(next_wait(at(0), None, at(281)), FIRST);
    }
}
