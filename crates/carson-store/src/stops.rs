//! The stops that stand in rows: breakers and blocks.

use std::fmt;

use carson_core::admission::{BLOCK_HORIZON, Block};
use carson_core::block_claim::{BlockClaim, Unconfirmed};
use carson_core::breaker::Breaker;
use carson_core::{AccountName, BlockKind, FiringId, RoleName};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::query;

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::{parsed, small};
use crate::pauses::PauseScope;
use crate::row::row;

/// Who sets a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSetter {
    /// A firing that hit the provider's limit.
    Firing(FiringId),
    /// A client of a forge, of which that asks to wait.
    Forge,
    /// A person, who may also shorten it.
    Operator,
}

impl fmt::Display for BlockSetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Firing(id) => id.fmt(f),
            Self::Forge => f.pad("forge"),
            Self::Operator => f.pad("operator"),
        }
    }
}

/// A role's breaker.
#[derive(Clone, Debug, Serialize)]
pub struct BreakerRow {
    /// The role.
    pub role: RoleName,
    /// Its state.
    #[serde(flatten)]
    pub breaker: Breaker,
}

/// A block flag, standing or not.
#[derive(Clone, Debug, Serialize)]
pub struct BlockRow {
    /// The account.
    pub account: AccountName,
    /// Until when; `None` until an operator clears it.
    pub until: Option<DateTime<Utc>>,
    /// Why.
    pub reason: String,
    /// What stands behind it; `None` in rows from before that was kept.
    pub kind: Option<BlockKind>,
    /// The firing or the operator that set it.
    pub set_by: String,
    /// When.
    pub set_at: DateTime<Utc>,
}

row! {
    pub(crate) struct BreakerRaw {
        role: String,
        streak: i64,
        rejections: i64,
        opened_at: Option<DateTime<Utc>>,
        reason: Option<String>,
    }
}

impl BreakerRaw {
    pub(crate) fn breaker(self) -> Breaker {
        Breaker {
            streak: small(self.streak),
            rejections: small(self.rejections),
            opened_at: self.opened_at,
            reason: self.reason,
        }
    }
}

row! {
    struct BlockRaw {
        account: String,
        until: Option<DateTime<Utc>>,
        reason: String,
        kind: Option<String>,
        set_by: String,
        set_at: DateTime<Utc>,
        cleared_at: Option<DateTime<Utc>>,
        claim: Option<String>,
    }
}

/// A claim of a block that only a person ends.
const ENDLESS: &str = "endless";

/// Sets a flag where no longer one stands, or the operator does.
macro_rules! setting {
    ($store:expr, $block:expr, $by:expr, $at:expr) => {
        query(
            "INSERT INTO account_block (account, until, reason, set_by, set_at, kind) \
             VALUES ($1, $2, $3, $4, $5, $7) ON CONFLICT (account) DO UPDATE SET \
             until = excluded.until, reason = excluded.reason, set_by = excluded.set_by, \
             set_at = excluded.set_at, kind = excluded.kind, cleared_at = NULL, claim = NULL \
             WHERE $6 OR account_block.cleared_at IS NOT NULL \
                OR (account_block.until IS NOT NULL \
                    AND (excluded.until IS NULL OR excluded.until > account_block.until))",
        )
        .bind($block.account.as_str())
        .bind($block.until)
        .bind($store.outside(&$block.reason).into_owned())
        .bind($by.to_string())
        .bind($at)
        .bind($by == BlockSetter::Operator)
        .bind($block.kind.map(BlockKind::as_str))
    };
}

pub(crate) use setting;

impl Store {
    /// A role's breaker; closed when it never had one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn breaker(&self, role: &RoleName) -> Result<Breaker, StoreError> {
        let row: Option<BreakerRaw> = on!(self, |pool| sqlx::query_as(
            "SELECT role, streak, rejections, opened_at, reason FROM breaker WHERE role = $1"
        )
        .bind(role.as_str())
        .fetch_optional(pool)
        .await?);
        Ok(row.map(BreakerRaw::breaker).unwrap_or_default())
    }

    /// Every role's breaker that ever moved.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn breakers(&self) -> Result<Vec<BreakerRow>, StoreError> {
        let rows: Vec<BreakerRaw> = on!(self, |pool| sqlx::query_as(
            "SELECT role, streak, rejections, opened_at, reason FROM breaker ORDER BY role"
        )
        .fetch_all(pool)
        .await?);
        rows.into_iter()
            .map(|raw| {
                Ok(BreakerRow {
                    role: parsed("role", &raw.role)?,
                    breaker: raw.breaker(),
                })
            })
            .collect()
    }

    /// Closes a role's breaker and forgets its streak; `false` when there was nothing to reset.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn reset_breaker(&self, role: &RoleName) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| query("DELETE FROM breaker WHERE role = $1")
            .bind(role.as_str())
            .execute(pool)
            .await?
            .rows_affected());
        Ok(rows == 1)
    }

    /// Sets an account's block flag; `false` when a longer one stands. Set by a firing, a shorter
    /// block never overwrites a longer one, and one without an end stands until it is cleared: all
    /// in one statement, so two writers agree. The operator has the last word.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_block(
        &self,
        block: &Block,
        by: BlockSetter,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| setting!(self, block, by, at)
            .execute(pool)
            .await?
            .rows_affected());
        Ok(rows == 1)
    }

    /// Lifts an account's block; `false` when none was set. What its CLI said of its usage windows, and
    /// how often its provider was not reached, is forgotten with it: the operator has the last word.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn clear_block(
        &self,
        account: &AccountName,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        on!(self, |pool| query(
            "DELETE FROM usage_window WHERE account = $1"
        )
        .bind(account.as_str())
        .execute(pool)
        .await?
        .rows_affected());
        on!(self, |pool| query("DELETE FROM outage WHERE account = $1")
            .bind(account.as_str())
            .execute(pool)
            .await?
            .rows_affected());
        let rows = on!(self, |pool| query(
            "UPDATE account_block SET cleared_at = $2 WHERE account = $1 AND cleared_at IS NULL"
        )
        .bind(account.as_str())
        .bind(at)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(rows == 1)
    }

    /// The block flags that nobody cleared, and the accounts that an operator paused, which for a
    /// session is the same; whether one still stands is a question of the time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn blocks(&self) -> Result<Vec<Block>, StoreError> {
        let rows = self.block_rows().await?;
        let open = rows.into_iter().map(|row| Block {
            account: row.account,
            until: row.until,
            reason: row.reason,
            kind: row.kind,
        });
        let paused = self.pauses().await?.into_iter().filter_map(|pause| {
            let PauseScope::Account(account) = pause.scope else {
                return None;
            };
            Some(Block {
                account,
                until: pause.until,
                reason: format!("paused: {}", pause.reason),
                kind: Some(BlockKind::Pause),
            })
        });
        Ok(open.chain(paused).collect())
    }

    /// The same, with who set them and when.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn block_rows(&self) -> Result<Vec<BlockRow>, StoreError> {
        let rows = self.raw_blocks().await?;
        rows.into_iter()
            .filter(|raw| raw.cleared_at.is_none())
            .map(block_row)
            .collect()
    }

    /// When an account was blocked last, and until when, whether that still stands or not. An outage says
    /// nothing of limits, and does not count.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn last_block(
        &self,
        account: &AccountName,
    ) -> Result<Option<(DateTime<Utc>, Option<DateTime<Utc>>)>, StoreError> {
        let rows = self.raw_blocks().await?;
        let outage = Some(BlockKind::Outage.as_str());
        let mut rows = rows.into_iter();
        let last =
            rows.find(|raw| raw.account == account.as_str() && raw.kind.as_deref() != outage);
        Ok(last.map(|raw| (raw.set_at, raw.until)))
    }

    /// Notes that a block is shorter than the firing that set it claims, until another one confirms
    /// the claim. It goes with the block: a newer one, or the operator's word, forgets it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_claim(
        &self,
        account: &AccountName,
        claim: &BlockClaim,
    ) -> Result<(), StoreError> {
        let until = claim.until.map(|until| until.to_rfc3339());
        on!(self, |pool| query(
            "UPDATE account_block SET claim = $3 \
             WHERE account = $1 AND set_by = $2 AND cleared_at IS NULL"
        )
        .bind(account.as_str())
        .bind(&claim.firing)
        .bind(until.as_deref().unwrap_or(ENDLESS))
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// What was claimed of an account and is not believed yet.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn unconfirmed(
        &self,
        account: &AccountName,
    ) -> Result<Option<Unconfirmed>, StoreError> {
        let rows = self.raw_blocks().await?;
        let row = rows.into_iter().find(|raw| raw.account == account.as_str());
        Ok(row.filter(|raw| raw.cleared_at.is_none()).and_then(|raw| {
            // A claim that cannot be read is none: the next one is the first again.
            let until = match raw.claim.as_deref()? {
                ENDLESS => None,
                text => Some(DateTime::parse_from_rfc3339(text).ok()?.to_utc()),
            };
            Some(Unconfirmed {
                stands_until: raw.until?,
                claim: BlockClaim {
                    firing: raw.set_by,
                    kind: raw.kind.as_deref()?.parse().ok()?,
                    until,
                },
            })
        }))
    }

    async fn raw_blocks(&self) -> Result<Vec<BlockRaw>, StoreError> {
        Ok(on!(self, |pool| {
            sqlx::query_as(
            "SELECT account, until, reason, kind, set_by, set_at, cleared_at, claim FROM account_block \
             ORDER BY account"
        )
        .fetch_all(pool)
        .await?
        }))
    }
}

fn block_row(raw: BlockRaw) -> Result<BlockRow, StoreError> {
    // What a firing set is never longer than a provider's longest limit; a value that is was
    // damaged, or written by a clock that was far ahead.
    let by_operator = raw.set_by == BlockSetter::Operator.to_string();
    let until = raw.until.map(|until| match by_operator {
        true => until,
        false => until.min(raw.set_at + BLOCK_HORIZON),
    });
    let kind = raw.kind.as_deref();
    Ok(BlockRow {
        account: parsed("account", &raw.account)?,
        until,
        reason: raw.reason,
        kind: kind.map(|kind| parsed("kind", kind)).transpose()?,
        set_by: raw.set_by,
        set_at: raw.set_at,
    })
}
