//! By which name a home's host goes, and what an operator does with hosts.

use carson_core::HostName;
use chrono::{DateTime, Utc};
use sqlx::{query, query_scalar};

use crate::db::{Db, Store, on, transaction};
use crate::error::StoreError;

/// Which home has a name, among the facts of a host.
const HOME: &str = "home";
/// Which local forge its home has.
const FORGE: &str = "forge";

impl Store {
    /// The name of the host of the home `id`: `name`, unless another home that shares this database
    /// has it. Machines that were cloned, and containers, often call themselves the same; by the name alone
    /// each would take the living firings of the other for its own dead ones.
    ///
    /// A file belongs to one home, and so does every name in it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn host_of(
        &self,
        name: &HostName,
        id: &str,
        now: DateTime<Utc>,
    ) -> Result<HostName, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(name.clone());
        };
        query(
            "INSERT INTO measured (host, what, value, at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (host, what) DO NOTHING",
        )
        .bind(name.as_str())
        .bind(HOME)
        .bind(id)
        .bind(now)
        .execute(pool)
        .await?;
        let owner: String =
            query_scalar("SELECT value FROM measured WHERE host = $1 AND what = $2")
                .bind(name.as_str())
                .bind(HOME)
                .fetch_one(pool)
                .await?;
        Ok(match owner == id {
            true => name.clone(),
            false => name.of_home(id),
        })
    }

    /// The hosts that keep the issues of a local forge apart from this one's, which is called `id`. A daemon's
    /// home is noted as one of them, where it may be.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn other_forges(
        &self,
        me: &HostName,
        id: &str,
        is_daemon: bool,
        now: DateTime<Utc>,
    ) -> Result<Vec<String>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(Vec::new());
        };
        let others: Vec<String> = query_scalar(
            "SELECT host FROM measured WHERE what = $2 AND host <> $1 AND value <> $3 ORDER BY host",
        )
        .bind(me.as_str())
        .bind(FORGE)
        .bind(id)
        .fetch_all(pool)
        .await?;
        // One that may not start is none of the fleet, and must not keep the others from starting again.
        if is_daemon && others.is_empty() {
            query(
                "INSERT INTO measured (host, what, value, at) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (host, what) DO UPDATE SET value = excluded.value, at = excluded.at",
            )
            .bind(me.as_str())
            .bind(FORGE)
            .bind(id)
            .bind(now)
            .execute(pool)
            .await?;
        }
        Ok(others)
    }

    /// What time it is by the clock of the database; none where that is this machine's own.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn clock(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(None);
        };
        let now = query_scalar("SELECT clock_timestamp()");
        Ok(Some(now.fetch_one(pool).await?))
    }

    /// Until when the lease of a host stands; none where it has lapsed, or there is none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lease_of(&self, host: &HostName) -> Result<Option<DateTime<Utc>>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(None);
        };
        let until =
            query_scalar("SELECT lease_until FROM host WHERE name = $1 AND lease_until > now()");
        Ok(until.bind(host.as_str()).fetch_optional(pool).await?)
    }

    /// Lets nothing new fire on a host from now on, or lets it fire again. `false` when it was so before, or there is
    /// no host of that name.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn drain_host(
        &self,
        name: &HostName,
        since: Option<DateTime<Utc>>,
    ) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| query(
            "UPDATE host SET drained_at = $2 WHERE name = $1 AND (drained_at IS NULL) = $3"
        )
        .bind(name.as_str())
        .bind(since)
        .bind(since.is_some())
        .execute(pool)
        .await?
        .rows_affected());
        Ok(rows == 1)
    }

    /// Forgets a host for which nothing runs. `false` when something does, or there is none of that name. One that
    /// comes back all the same is a new one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn remove_host(&self, name: &HostName) -> Result<bool, StoreError> {
        Ok(transaction!(self, |tx| {
            let rows = query(
                "DELETE FROM host WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM firing \
                 WHERE ended_at IS NULL AND COALESCE(carrier, host) = $1)",
            )
            .bind(name.as_str())
            .execute(&mut *tx)
            .await?
            .rows_affected();
            if rows == 1 {
                for rest in [
                    "DELETE FROM measured WHERE host = $1",
                    "DELETE FROM job WHERE host = $1",
                    "DELETE FROM stuck WHERE host = $1",
                ] {
                    query(rest).bind(name.as_str()).execute(&mut *tx).await?;
                }
            }
            rows == 1
        }))
    }
}
