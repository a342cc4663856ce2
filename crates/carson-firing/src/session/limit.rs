//! The block flag: one wall, one stop.

use carson_config::Account;
use carson_core::BlockKind;
use carson_core::admission::{BLOCK_HORIZON, Block, UsageWindow};
use carson_core::block_claim::{BlockClaim, UNCONFIRMED};
use carson_core::settle::Halt;
use carson_engine::{Limit, LimitKind};
use carson_store::{BlockSetter, StoreError};
use chrono::{DateTime, TimeDelta, Utc};
use tracing::{error, warn};

use crate::ctx::Ctx;
use crate::forge_text::one_line;

/// The first block when the provider names no reset time; each one that follows closely doubles.
const FIRST: TimeDelta = TimeDelta::minutes(15);
/// The longest of them.
const LONGEST: TimeDelta = TimeDelta::hours(5);

/// Sets the flag on the account and says how the firing ends.
/// `seen` is when the provider's own answers said that it may be asked again.
pub(super) async fn hit(
    ctx: &Ctx<'_>,
    account: &Account,
    limit: &Limit,
    seen: Option<DateTime<Utc>>,
) -> Halt {
    let now = ctx.home.clock.now();
    let until = match limit.kind {
        // Nothing but a person mends these.
        LimitKind::Auth | LimitKind::Billing => None,
        _ => Some(reset(ctx, account, limit.resets_at.or(seen), now).await),
    };
    let kind = match limit.kind {
        LimitKind::UsageWindow | LimitKind::RateLimit => BlockKind::Limit,
        LimitKind::Auth => BlockKind::Auth,
        LimitKind::Billing => BlockKind::Billing,
    };
    let claim = BlockClaim::of(ctx.id, kind, until);
    let mut reason = reason(ctx, account, limit);
    let is_believed = is_believed(ctx, account, &claim, now).await;
    let until = if is_believed {
        until
    } else {
        reason.push_str(&unconfirmed(&claim));
        Some(now + UNCONFIRMED)
    };
    let block = Block {
        account: account.name.clone(),
        until,
        reason: reason.clone(),
        kind: Some(kind),
    };
    warn!(account = %account.name, ?until, is_believed, "provider limit: the account is blocked");
    if let Err(error) = set(ctx, &block, (!is_believed).then_some(&claim), now).await {
        error!(account = %account.name, %error, "the block flag could not be set");
    }
    Halt::RateLimited {
        account: account.name.clone(),
        until,
        kind: Some(kind),
        why: reason,
    }
}

/// Whether the account is blocked for as long as the session said. A database that does not answer
/// leaves it at the short block.
async fn is_believed(
    ctx: &Ctx<'_>,
    account: &Account,
    claim: &BlockClaim,
    now: DateTime<Utc>,
) -> bool {
    let before = ctx.store().unconfirmed(&account.name).await;
    let before = before.unwrap_or_else(|error| {
        warn!(account = %account.name, %error, "an earlier block could not be read");
        None
    });
    claim.is_believed(before.as_ref(), now)
}

async fn set(
    ctx: &Ctx<'_>,
    block: &Block,
    unconfirmed: Option<&BlockClaim>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let by = BlockSetter::Firing(ctx.id);
    let is_set = ctx.store().set_block(block, by, now).await?;
    if let Some(claim) = unconfirmed.filter(|_| is_set) {
        ctx.store().note_claim(&block.account, claim).await?;
    }
    Ok(())
}

/// What is said of a claim that only one firing has made.
fn unconfirmed(claim: &BlockClaim) -> String {
    let end = claim.until.map_or_else(
        || "until a person mends it".to_owned(),
        |until| format!("until {}", until.format("%Y-%m-%d %H:%M:%SZ")),
    );
    format!("; it says {end}, and the next firing asks once more before that is believed")
}

/// What the provider said, and what a person does about it where only a person can.
fn reason(ctx: &Ctx<'_>, account: &Account, limit: &Limit) -> String {
    let said = ctx.home.redactor.redact(&limit.message).into_owned();
    let window = limit.window.as_ref();
    let window = window.map_or(String::new(), |name| format!(" {}", one_line(name)));
    let mut reason = format!("{}{window}: {}", limit.kind, one_line(&said));
    if matches!(limit.kind, LimitKind::Auth | LimitKind::Billing) {
        let remedy = limit.remedy.unwrap_or("renew the account's access");
        let name = &account.name;
        reason.push_str(&format!("; {remedy}, then `carson block clear {name}`"));
    }
    reason
}

async fn reset(
    ctx: &Ctx<'_>,
    account: &Account,
    named: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> DateTime<Utc> {
    if let Some(named) = named.filter(|at| *at > now) {
        return named.min(now + BLOCK_HORIZON);
    }
    let before = ctx.store().last_block(&account.name).await.ok().flatten();
    now + before.map_or(FIRST, |(set_at, until)| next_wait(set_at, until, now))
}

/// How much of a usage window is used: what roles of low priority and the reserve go by.
pub(super) async fn note_windows(ctx: &Ctx<'_>, account: &Account, seen: &[Seen]) {
    let now = ctx.home.clock.now();
    for seen in seen {
        let window = UsageWindow {
            account: account.name.clone(),
            name: one_line(&seen.name),
            utilization: seen.utilization.clamp(0.0, 1.0),
            // A reset that nobody would live to see is none.
            resets_at: seen.resets_at.map(|at| at.min(now + BLOCK_HORIZON)),
            seen_at: now,
        };
        ctx.best_effort("a usage window", ctx.store().note_window(&window))
            .await;
    }
}

/// A usage window as a session told it.
pub(super) struct Seen {
    pub name: String,
    pub utilization: f64,
    pub resets_at: Option<DateTime<Utc>>,
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
