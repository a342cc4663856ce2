//! By which name a home's host goes, and what an operator does with hosts.

use carson_core::HostName;
use chrono::{DateTime, TimeDelta, Utc};
use nix::unistd::{AccessFlags, access};
use sqlx::{query, query_scalar};

use crate::away::patiently;
use crate::db::{Db, Store, on, transaction};
use crate::error::StoreError;

/// Which home has a name, among the facts of a host.
const HOME: &str = "home";
/// Which local forge its home has.
const FORGE: &str = "forge";

/// How far the clock of a host may be from the database's: by it slots come due, and another host has fired them.
const APART: TimeDelta = TimeDelta::seconds(30);

/// Whether a clock that is so far ahead of the database's, or behind it, is too far off to fire by.
#[must_use]
pub fn is_apart(ahead: TimeDelta) -> bool {
    ahead.abs() > APART
}

/// How far a clock is off, in words: what it is of follows.
#[must_use]
pub fn off(ahead: TimeDelta) -> String {
    let how = match ahead > TimeDelta::zero() {
        true => "ahead of",
        false => "behind",
    };
    format!("{} s {how}", ahead.num_seconds().abs())
}

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
        // Whoever has the name already only looks: a server that takes no row can still be asked.
        let owner = match self.home_of(name).await? {
            Some(owner) => owner,
            None => {
                patiently!(
                    self,
                    query(
                        "INSERT INTO measured (host, what, value, at) VALUES ($1, $2, $3, $4) \
                         ON CONFLICT (host, what) DO NOTHING",
                    )
                    .bind(name.as_str())
                    .bind(HOME)
                    .bind(id)
                    .bind(now)
                    .execute(pool)
                    .await?
                );
                self.home_of(name).await?.unwrap_or_else(|| id.to_owned())
            }
        };
        Ok(match owner == id {
            true => name.clone(),
            false => name.of_home(id),
        })
    }

    async fn home_of(&self, name: &HostName) -> Result<Option<String>, StoreError> {
        Ok(on!(self, |pool| query_scalar(
            "SELECT value FROM measured WHERE host = $1 AND what = $2"
        )
        .bind(name.as_str())
        .bind(HOME)
        .fetch_optional(pool)
        .await?))
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
        let others: Vec<String> = patiently!(
            self,
            query_scalar(
                "SELECT host FROM measured WHERE what = $2 AND host <> $1 AND value <> $3 ORDER BY host",
            )
            .bind(me.as_str())
            .bind(FORGE)
            .bind(id)
            .fetch_all(pool)
            .await?
        );
        // One that may not start is none of the fleet, and must not keep the others from starting again.
        if is_daemon && others.is_empty() {
            patiently!(
                self,
                query(
                    "INSERT INTO measured (host, what, value, at) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (host, what) DO UPDATE SET value = excluded.value, at = excluded.at",
                )
                .bind(me.as_str())
                .bind(FORGE)
                .bind(id)
                .bind(now)
                .execute(pool)
                .await?
            );
        }
        Ok(others)
    }

    /// How far `now` is ahead of the clock of the database, where that is too far to fire by ([`is_apart`]). A file has
    /// no clock but this machine's.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn clock_apart(&self, now: DateTime<Utc>) -> Result<Option<TimeDelta>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(None);
        };
        let database: DateTime<Utc> = patiently!(
            self,
            query_scalar("SELECT clock_timestamp()")
                .fetch_one(pool)
                .await?
        );
        Ok(Some(now - database).filter(|ahead| is_apart(*ahead)))
    }

    /// Whether the database takes no row: its disk or its file is read-only, or its server, as a standby is.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn is_read_only(&self) -> Result<bool, StoreError> {
        match (&self.db, &self.file) {
            (Db::Postgres(pool), _) => Ok(patiently!(
                self,
                query_scalar("SELECT current_setting('transaction_read_only') = 'on'")
                    .fetch_one(pool)
                    .await?
            )),
            // Opening it to see would drop the locks of every connection of this process.
            (Db::Sqlite(_), Some(file)) => Ok(access(&file.path, AccessFlags::W_OK).is_err()),
            (Db::Sqlite(_), None) => Ok(false),
        }
    }

    /// Until when the lease of a host stands; none where it has lapsed, or there is none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lease_of(&self, host: &HostName) -> Result<Option<DateTime<Utc>>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(None);
        };
        Ok(patiently!(
            self,
            query_scalar("SELECT lease_until FROM host WHERE name = $1 AND lease_until > now()")
                .bind(host.as_str())
                .fetch_optional(pool)
                .await?
        ))
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
