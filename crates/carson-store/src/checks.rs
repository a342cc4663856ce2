//! What checks leave behind: streaks of failed preflights, and facts worth keeping.

use carson_core::{HostName, RoleName};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{query, query_as};

use crate::away::patiently;
use crate::db::{Db, Store, on};
use crate::error::StoreError;
use crate::row::row;

row! {
    /// Preflights of a role that failed in a row on one host. When one passes, the row goes.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct PreflightRow {
        /// The host.
        pub host: String,
        /// The role.
        pub role: String,
        /// The id of the check that failed last.
        pub failed: String,
        /// What it found, and what would mend it.
        pub why: String,
        /// How many preflights failed in a row.
        pub streak: i64,
        /// When the first of them did.
        pub since: DateTime<Utc>,
        /// When the last of them did.
        pub last_at: DateTime<Utc>,
        /// When somebody was told.
        pub told_at: Option<DateTime<Utc>>,
    }
}

impl Store {
    /// Writes a role's streak of failed preflights.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_preflight(&self, row: &PreflightRow) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "INSERT INTO preflight (host, role, failed, why, streak, since, last_at, told_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (host, role) DO UPDATE SET \
             failed = excluded.failed, why = excluded.why, streak = excluded.streak, \
             since = excluded.since, last_at = excluded.last_at, told_at = excluded.told_at"
        )
        .bind(&row.host)
        .bind(&row.role)
        .bind(&row.failed)
        .bind(self.outside(&row.why).as_ref())
        .bind(row.streak)
        .bind(row.since)
        .bind(row.last_at)
        .bind(row.told_at)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// Ends a role's streak on a host; `false` when it had none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end_preflight(
        &self,
        host: &HostName,
        role: &RoleName,
    ) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| query(
            "DELETE FROM preflight WHERE host = $1 AND role = $2"
        )
        .bind(host.as_str())
        .bind(role.as_str())
        .execute(pool)
        .await?
        .rows_affected());
        Ok(rows == 1)
    }

    /// Every streak of failed preflights.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn preflights(&self) -> Result<Vec<PreflightRow>, StoreError> {
        Ok(on!(self, |pool| query_as(
            "SELECT host, role, failed, why, streak, since, last_at, told_at FROM preflight \
             ORDER BY role, host"
        )
        .fetch_all(pool)
        .await?))
    }

    /// Keeps a fact of a host.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_measured(
        &self,
        host: &HostName,
        what: &str,
        value: &str,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        on!(self.noting(), |pool| query(
            "INSERT INTO measured (host, what, value, at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (host, what) DO UPDATE SET value = excluded.value, at = excluded.at"
        )
        .bind(host.as_str())
        .bind(what)
        .bind(self.outside(value).as_ref())
        .bind(at)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// A fact of a host, and when it was measured.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn measured(
        &self,
        host: &HostName,
        what: &str,
    ) -> Result<Option<(String, DateTime<Utc>)>, StoreError> {
        Ok(on!(self, |pool| query_as(
            "SELECT value, at FROM measured WHERE host = $1 AND what = $2"
        )
        .bind(host.as_str())
        .bind(what)
        .fetch_optional(pool)
        .await?))
    }

    /// Writes a row and takes it back: whether the database can be written at all.
    ///
    /// # Errors
    /// When it cannot.
    pub async fn try_writing(&self, host: &HostName, at: DateTime<Utc>) -> Result<(), StoreError> {
        const INSERTION: &str = "INSERT INTO measured (host, what, value, at) \
             VALUES ($1, 'try', '', $2) ON CONFLICT (host, what) DO UPDATE SET at = excluded.at";
        match &self.db {
            Db::Sqlite(pool) => {
                let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
                let write = query(INSERTION).bind(host.as_str()).bind(at);
                write.execute(&mut *tx).await?;
                tx.rollback().await?;
            }
            Db::Postgres(pool) => patiently!(self, {
                let mut tx = pool.begin().await?;
                let write = query(INSERTION).bind(host.as_str()).bind(at);
                write.execute(&mut *tx).await?;
                tx.rollback().await?;
            }),
        }
        Ok(())
    }

    /// When the newest firing was claimed, by the clock of whoever did.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn newest_claim(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        let row: Option<(DateTime<Utc>,)> = on!(self, |pool| query_as(
            "SELECT claimed_at FROM firing ORDER BY seq DESC LIMIT 1"
        )
        .fetch_optional(pool)
        .await?);
        Ok(row.map(|(at,)| at))
    }
}
