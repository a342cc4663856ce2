//! Benches that pruning could not let go.

use carson_core::HostName;
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{query, query_as};

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::row::row;

row! {
    /// A bench of this host that stays, and why.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Stuck {
        /// Its name: the firing's id.
        pub bench: String,
        /// Why it stays.
        pub why: String,
        /// When that was first seen.
        pub since: DateTime<Utc>,
        /// When somebody looked last.
        pub tried_at: DateTime<Utc>,
        /// How often.
        pub tries: i64,
    }
}

impl Store {
    /// Notes that a bench stays.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_stuck(
        &self,
        host: &HostName,
        bench: &str,
        why: &str,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "INSERT INTO stuck (host, bench, why, since, tried_at, tries) \
             VALUES ($1, $2, $3, $4, $4, 1) ON CONFLICT (host, bench) DO UPDATE SET \
             why = excluded.why, tried_at = excluded.tried_at, tries = stuck.tries + 1"
        )
        .bind(host.as_str())
        .bind(bench)
        .bind(self.outside(why).as_ref())
        .bind(at)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// A bench is gone; `false` when nobody knew that it was stuck.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end_stuck(&self, host: &HostName, bench: &str) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| query(
            "DELETE FROM stuck WHERE host = $1 AND bench = $2"
        )
        .bind(host.as_str())
        .bind(bench)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(rows == 1)
    }

    /// Every bench of a host that stays, the oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn stuck(&self, host: &HostName) -> Result<Vec<Stuck>, StoreError> {
        Ok(on!(self, |pool| query_as::<_, Stuck>(
            "SELECT bench, why, since, tried_at, tries FROM stuck WHERE host = $1 ORDER BY since"
        )
        .bind(host.as_str())
        .fetch_all(pool)
        .await?))
    }
}
