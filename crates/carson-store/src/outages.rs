//! Providers that are down: sessions that did not reach them, counted for all roles and hosts.
//!
//! Whoever changes both the count and the block takes the row of the count first: two that did it in
//! different orders would wait for each other.

use carson_core::admission::Block;
use carson_core::outage::{IN_A_ROW, wait};
use carson_core::{AccountName, BlockKind, FiringId};
use chrono::{DateTime, Utc};
use sqlx::{query, query_as};

use crate::db::{Store, on, transaction};
use crate::error::StoreError;
use crate::firing::small;
use crate::stops::{BlockSetter, setting};

/// Who asks whether a provider is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Nobody has to: it is not down.
    Unneeded,
    /// This firing, and no other one until its block is over again.
    Ours,
    /// Another firing, now or a moment ago.
    Others,
}

/// What is done about a provider that is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// Everybody waits.
    Waits,
    /// A firing asks whether it is back.
    IsAsked,
}

impl Store {
    /// Notes that a session of the account did not reach its provider. Until when the account is
    /// blocked for that; `None` while it may be nothing, or where a longer block of another kind
    /// stands. The firing that asked whether the provider is back begins the next wait, which is as
    /// long as [`wait`] says; of those that were on their way meanwhile none makes it longer.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_unreached(
        &self,
        account: &AccountName,
        firing: FiringId,
        why: &str,
        at: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let kind = BlockKind::Outage;
        let by = BlockSetter::Firing(firing);
        let us = firing.to_string();
        let until: Option<DateTime<Utc>> = transaction!(self, |tx| {
            let (failures, asked, asks): (i64, i64, Option<String>) = query_as(
                "INSERT INTO outage (account, failures) VALUES ($1, 1) \
                 ON CONFLICT (account) DO UPDATE SET failures = outage.failures + 1 \
                 RETURNING failures, asked, asks",
            )
            .bind(account.as_str())
            .fetch_one(&mut *tx)
            .await?;
            let standing: Option<(Option<DateTime<Utc>>,)> = query_as(
                "SELECT until FROM account_block \
                 WHERE account = $1 AND kind = $2 AND cleared_at IS NULL",
            )
            .bind(account.as_str())
            .bind(kind.as_str())
            .fetch_optional(&mut *tx)
            .await?;
            match standing {
                Some(_) if asks.as_deref() == Some(us.as_str()) => {
                    let until = at + wait(small(asked));
                    query("UPDATE account_block SET until = $3 WHERE account = $1 AND kind = $2")
                        .bind(account.as_str())
                        .bind(kind.as_str())
                        .bind(until)
                        .execute(&mut *tx)
                        .await?;
                    query("UPDATE outage SET asks = NULL WHERE account = $1")
                        .bind(account.as_str())
                        .execute(&mut *tx)
                        .await?;
                    Some(until)
                }
                Some((until,)) => until.filter(|until| *until > at),
                None if small(failures) < IN_A_ROW => None,
                None => {
                    let block = Block {
                        account: account.clone(),
                        until: Some(at + wait(0)),
                        reason: why.to_owned(),
                        kind: Some(kind),
                    };
                    query("UPDATE outage SET asked = 0, asks = NULL WHERE account = $1")
                        .bind(account.as_str())
                        .execute(&mut *tx)
                        .await?;
                    let set = setting!(self, block, by, at).execute(&mut *tx).await?;
                    block.until.filter(|_| set.rows_affected() == 1)
                }
            }
        });
        Ok(until)
    }

    /// Notes that the account's provider has answered: the count is over, and so is the block that came
    /// of it. Whether there was one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_reached(
        &self,
        account: &AccountName,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        // Nearly always there is nothing to write.
        let counted: Option<(i64,)> = on!(self, |pool| query_as(
            "SELECT failures FROM outage WHERE account = $1"
        )
        .bind(account.as_str())
        .fetch_optional(pool)
        .await?);
        if counted.is_none() {
            return Ok(false);
        }
        Ok(transaction!(self, |tx| {
            query("DELETE FROM outage WHERE account = $1")
                .bind(account.as_str())
                .execute(&mut *tx)
                .await?;
            let cleared = query(
                "UPDATE account_block SET cleared_at = $3 \
                 WHERE account = $1 AND kind = $2 AND cleared_at IS NULL",
            )
            .bind(account.as_str())
            .bind(BlockKind::Outage.as_str())
            .bind(at)
            .execute(&mut *tx)
            .await?;
            cleared.rows_affected() == 1
        }))
    }

    /// What is done about the account's provider while it is blocked because that is down; `None` where it
    /// is not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn outage(
        &self,
        account: &AccountName,
        at: DateTime<Utc>,
    ) -> Result<Option<Outage>, StoreError> {
        let row: Option<(Option<String>,)> = on!(self, |pool| {
            query_as(
            "SELECT asks FROM account_block LEFT JOIN outage ON outage.account = account_block.account \
             WHERE account_block.account = $1 AND kind = $2 AND cleared_at IS NULL AND until > $3"
        )
        .bind(account.as_str())
        .bind(BlockKind::Outage.as_str())
        .bind(at)
        .fetch_optional(pool)
        .await?
        });
        Ok(row.map(|(asks,)| match asks {
            Some(_) => Outage::IsAsked,
            None => Outage::Waits,
        }))
    }

    /// Asks to be the firing that asks whether the account's provider is back. Whoever may has begun
    /// the next wait by that, for everybody else: one that dies meanwhile holds up nobody for ever.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn take_probe(
        &self,
        account: &AccountName,
        firing: FiringId,
        at: DateTime<Utc>,
    ) -> Result<Probe, StoreError> {
        let kind = BlockKind::Outage.as_str();
        let down: Option<(Option<DateTime<Utc>>,)> = on!(self, |pool| query_as(
            "SELECT until FROM account_block \
             WHERE account = $1 AND kind = $2 AND cleared_at IS NULL"
        )
        .bind(account.as_str())
        .bind(kind)
        .fetch_optional(pool)
        .await?);
        if down.is_none() {
            return Ok(Probe::Unneeded);
        }
        let ours = transaction!(self, |tx| {
            // Changes nothing, but holds the row.
            let (asked,): (i64,) = query_as(
                "INSERT INTO outage (account, failures) VALUES ($1, 0) \
                 ON CONFLICT (account) DO UPDATE SET failures = outage.failures RETURNING asked",
            )
            .bind(account.as_str())
            .fetch_one(&mut *tx)
            .await?;
            let asked = small(asked).saturating_add(1);
            let taken = query(
                "UPDATE account_block SET until = $3 WHERE account = $1 AND kind = $2 \
                 AND cleared_at IS NULL AND until <= $4",
            )
            .bind(account.as_str())
            .bind(kind)
            .bind(at + wait(asked))
            .bind(at)
            .execute(&mut *tx)
            .await?;
            let ours = taken.rows_affected() == 1;
            if ours {
                query("UPDATE outage SET asked = $2, asks = $3 WHERE account = $1")
                    .bind(account.as_str())
                    .bind(i64::from(asked))
                    .bind(firing.to_string())
                    .execute(&mut *tx)
                    .await?;
            }
            ours
        });
        Ok(match ours {
            true => Probe::Ours,
            false => Probe::Others,
        })
    }
}
