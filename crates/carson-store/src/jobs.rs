//! The housekeeping jobs of each host, and the rows that they clear away.

use carson_core::HostName;
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{query, query_as};

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::row::row;

/// At most so many rows go in one statement, so that no writer waits for long.
const BATCH: i64 = 1_000;

row! {
    /// How a job went last.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct JobRow {
        /// The host that runs it.
        pub host: String,
        /// Which job.
        pub name: String,
        /// When its last run began.
        pub started_at: DateTime<Utc>,
        /// When that ended.
        pub ended_at: DateTime<Utc>,
        /// When it runs again.
        pub next_at: DateTime<Utc>,
        /// How many things it did.
        pub did: i64,
        /// Runs that failed since the last good one; 0 when the last one was good.
        pub failures: i64,
        /// What it says of that run: what it did, or what went wrong.
        pub said: String,
    }
}

/// Old rows that nobody needs any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// Events.
    Events,
    /// Posts that were sent.
    SentPosts,
    /// Block flags that ended or were cleared.
    EndedBlocks,
    /// What transactions of firings left behind (`away.rs`).
    CommitKeys,
}

impl Store {
    /// Writes down how a job went.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn job_ran(&self, row: &JobRow) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "INSERT INTO job (host, name, started_at, ended_at, next_at, did, failures, said) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (host, name) DO UPDATE SET \
             started_at = excluded.started_at, ended_at = excluded.ended_at, \
             next_at = excluded.next_at, did = excluded.did, failures = excluded.failures, \
             said = excluded.said"
        )
        .bind(&row.host)
        .bind(&row.name)
        .bind(row.started_at)
        .bind(row.ended_at)
        .bind(row.next_at)
        .bind(row.did)
        .bind(row.failures)
        .bind(self.outside(&row.said).as_ref())
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The jobs of one host, or of all.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn jobs(&self, host: Option<&HostName>) -> Result<Vec<JobRow>, StoreError> {
        Ok(on!(self, |pool| query_as(
            "SELECT host, name, started_at, ended_at, next_at, did, failures, said FROM job \
             WHERE host = COALESCE($1, host) ORDER BY host, name"
        )
        .bind(host.map(HostName::as_str))
        .fetch_all(pool)
        .await?))
    }

    /// Ends the pauses whose time has run out; what they were about.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn drop_ended_pauses(&self, now: DateTime<Utc>) -> Result<Vec<String>, StoreError> {
        let rows: Vec<(String,)> = on!(self, |pool| query_as(
            "DELETE FROM pause WHERE until IS NOT NULL AND until <= $1 RETURNING scope"
        )
        .bind(now)
        .fetch_all(pool)
        .await?);
        Ok(rows.into_iter().map(|(scope,)| scope).collect())
    }

    /// Removes a batch of rows of a kind that ended before an instant; how many there were.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn drop_stale(&self, kind: Stale, before: DateTime<Utc>) -> Result<u64, StoreError> {
        let statement = match kind {
            Stale::Events => {
                "DELETE FROM event WHERE seq IN \
                 (SELECT seq FROM event WHERE at < $1 ORDER BY at LIMIT $2)"
            }
            // A thread is known by its first post for as long as its firing lives.
            Stale::SentPosts => {
                "DELETE FROM outbox WHERE seq IN \
                 (SELECT o.seq FROM outbox o WHERE o.sent_at IS NOT NULL AND o.sent_at < $1 \
                  AND NOT EXISTS (SELECT 1 FROM firing f \
                                  WHERE f.id = o.thread AND f.ended_at IS NULL) \
                  AND NOT EXISTS (SELECT 1 FROM outbox w \
                                  WHERE w.thread = o.thread AND w.sink = o.sink \
                                  AND w.sent_at IS NULL) \
                  ORDER BY o.seq LIMIT $2)"
            }
            Stale::EndedBlocks => {
                "DELETE FROM account_block WHERE account IN \
                 (SELECT account FROM account_block \
                  WHERE (cleared_at IS NOT NULL AND cleared_at < $1) \
                     OR (until IS NOT NULL AND until < $1) ORDER BY account LIMIT $2)"
            }
            Stale::CommitKeys => {
                "DELETE FROM commit_key WHERE key IN \
                 (SELECT key FROM commit_key WHERE at < $1 ORDER BY at LIMIT $2)"
            }
        };
        Ok(on!(self, |pool| query(statement)
            .bind(before)
            .bind(BATCH)
            .execute(pool)
            .await?
            .rows_affected()))
    }
}
