//! What was said in the chat and is not dealt with yet.
//!
//! A row is written before the chat is told that it was heard, together with the names by which it is known when it is
//! sent again. So whatever ends in between, it is dealt with, and once: a row is held by a lease, and gone when it was
//! dealt with.
//!
//! # In which order
//!
//! What may change something waits for what else may that the same person said, or anybody in the same thread, before it.
//! What only looks waits for that, too, and for what was asked in its thread; nothing that changes waits for it.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use sqlx::{query, query_as};

use crate::chat::{FORGET, REMEMBERED, REMEMBERED_MOST};
use crate::db::{Store, on, transaction};
use crate::error::StoreError;
use crate::row::row;

/// How long somebody holds a row who does not say that they do still.
const LEASE: TimeDelta = TimeDelta::seconds(30);
/// Rows that are kept at most, whatever floods in.
const MOST: i64 = 1_000;

/// Something that was heard.
#[derive(Clone, Debug)]
pub struct NewHeard {
    /// Its names: one of them is the same when it is sent again.
    pub names: Vec<String>,
    /// Who said it.
    pub who: String,
    /// The thread.
    pub place: String,
    /// Whether it may change something.
    pub changes: bool,
    /// What it was.
    pub heard: Value,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is written down.
    New,
    /// It was heard before.
    Known,
    /// There is no room: it is to be sent again.
    Full,
}

/// Something to deal with.
#[derive(Clone, Debug)]
pub struct HeardRow {
    /// Its number.
    pub seq: i64,
    /// What it was; null where it cannot be read.
    pub heard: Value,
    /// Whether somebody began to do what may be done only once.
    pub is_begun: bool,
}

row! {
    struct Raw {
        seq: i64,
        heard: String,
        begun_at: Option<DateTime<Utc>>,
    }
}

impl Store {
    /// Writes down what was heard, unless it was heard before.
    ///
    /// # Errors
    /// When the database does not answer; nothing is written then.
    pub async fn keep_heard(&self, new: &NewHeard, now: DateTime<Utc>) -> Result<Kept, StoreError> {
        Ok(transaction!(self, |tx| {
            let (waiting,): (i64,) = query_as("SELECT COUNT(*) FROM chat_inbox")
                .fetch_one(&mut *tx)
                .await?;
            let mut is_new = true;
            if waiting < MOST {
                for name in &new.names {
                    let rows = query(
                        "INSERT INTO chat_heard (id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    )
                    .bind(self.outside(name).into_owned())
                    .bind(now)
                    .execute(&mut *tx)
                    .await?
                    .rows_affected();
                    is_new &= rows == 1;
                }
                query(FORGET)
                    .bind(now - REMEMBERED)
                    .bind(REMEMBERED_MOST)
                    .execute(&mut *tx)
                    .await?;
            }
            match (waiting < MOST, is_new) {
                (false, _) => Kept::Full,
                (true, false) => Kept::Known,
                (true, true) => {
                    query(
                        "INSERT INTO chat_inbox (who, place, changes, heard, at) \
                         VALUES ($1, $2, $3, $4, $5)",
                    )
                    .bind(self.outside(&new.who).into_owned())
                    .bind(self.outside(&new.place).into_owned())
                    .bind(i64::from(new.changes))
                    .bind(self.outside(&new.heard.to_string()).into_owned())
                    .bind(now)
                    .execute(&mut *tx)
                    .await?;
                    Kept::New
                }
            }
        }))
    }

    /// Takes the oldest row whose turn it is and that nobody holds: one that may change something, or one that only
    /// looks. A lease that ends further ahead than any can is none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn take_heard(
        &self,
        changes: bool,
        now: DateTime<Utc>,
    ) -> Result<Option<HeardRow>, StoreError> {
        let row: Option<Raw> = on!(self, |pool| query_as(
            "UPDATE chat_inbox SET lease_until = $2 WHERE seq = ( \
               SELECT i.seq FROM chat_inbox i WHERE i.changes = $3 \
               AND (i.lease_until IS NULL OR i.lease_until <= $1 OR i.lease_until > $2) \
               AND NOT EXISTS (SELECT 1 FROM chat_inbox e WHERE e.seq < i.seq AND ( \
                 (e.changes = 1 AND (e.who = i.who OR e.place = i.place)) \
                 OR (i.changes = 0 AND e.place = i.place))) \
               ORDER BY i.seq LIMIT 1) \
             AND (lease_until IS NULL OR lease_until <= $1 OR lease_until > $2) \
             RETURNING seq, heard, begun_at"
        )
        .bind(now)
        .bind(now + LEASE)
        .bind(i64::from(changes))
        .fetch_optional(pool)
        .await?);
        Ok(row.map(|raw| HeardRow {
            seq: raw.seq,
            heard: serde_json::from_str(&raw.heard).unwrap_or(Value::Null),
            is_begun: raw.begun_at.is_some(),
        }))
    }

    /// It is held still.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn hold_heard(&self, seq: i64, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.lease_heard(seq, now + LEASE).await
    }

    /// It could not be dealt with, and may be taken again from then on; within the length of a lease.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn put_heard_back(&self, seq: i64, from: DateTime<Utc>) -> Result<(), StoreError> {
        self.lease_heard(seq, from).await
    }

    async fn lease_heard(&self, seq: i64, until: DateTime<Utc>) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "UPDATE chat_inbox SET lease_until = $2 WHERE seq = $1"
        )
        .bind(seq)
        .bind(until)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// What may be done only once begins now.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn begin_heard(&self, seq: i64, now: DateTime<Utc>) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "UPDATE chat_inbox SET begun_at = $2 WHERE seq = $1"
        )
        .bind(seq)
        .bind(now)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// It is dealt with.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn heard_is_dealt_with(&self, seq: i64) -> Result<(), StoreError> {
        on!(self, |pool| query("DELETE FROM chat_inbox WHERE seq = $1")
            .bind(seq)
            .execute(pool)
            .await?
            .rows_affected());
        Ok(())
    }
}
