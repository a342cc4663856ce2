//! Counts of all firings there were, for who watches the fleet by numbers.
//!
//! Rows of firings are never removed, so what is counted here only grows. To count them all is to read all of
//! them: no firing and no pass of the daemon waits for that, only who asked.

use chrono::{DateTime, Utc};
use sqlx::{query_as, query_scalar};

use crate::away::patiently;
use crate::db::{Db, Store, on};
use crate::error::StoreError;
use crate::firing::large;
use crate::row::row;

/// Bounds of durations, in seconds: a firing is counted at the first that it does not pass. The statement below
/// has the same ones.
pub const BOUNDS: [u32; 11] = [10, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400];

row! {
    /// Firings that ended.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct EndedCount {
        /// The role, as its rows have it.
        pub role: String,
        /// How they ended.
        pub outcome: String,
        /// How many.
        pub firings: i64,
    }
}

row! {
    /// Firings that had a session and ended, by how long they took.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LastedCount {
        /// The role, as its rows have it.
        pub role: String,
        /// The index of the bound that they do not pass; one past the last for those that pass all.
        pub bound: i64,
        /// How many.
        pub firings: i64,
        /// How long they took together.
        pub seconds: f64,
    }
}

/// Each database has its own words for a time between two instants. A clock that was set back makes no negative one.
macro_rules! lasted {
    ($seconds:literal) => {
        concat!(
            "SELECT role, CAST(bound AS BIGINT) AS bound, COUNT(*) AS firings, \
             CAST(SUM(seconds) AS DOUBLE PRECISION) AS seconds FROM ( \
             SELECT role, seconds, CASE WHEN seconds <= 10 THEN 0 WHEN seconds <= 30 THEN 1 \
             WHEN seconds <= 60 THEN 2 WHEN seconds <= 120 THEN 3 WHEN seconds <= 300 THEN 4 \
             WHEN seconds <= 600 THEN 5 WHEN seconds <= 900 THEN 6 WHEN seconds <= 1800 THEN 7 \
             WHEN seconds <= 3600 THEN 8 WHEN seconds <= 7200 THEN 9 WHEN seconds <= 14400 THEN 10 \
             ELSE 11 END AS bound FROM ( \
             SELECT role, CASE WHEN ended_at > started_at THEN ",
            $seconds,
            " ELSE 0 END AS seconds FROM firing \
             WHERE sessions > 0 AND started_at IS NOT NULL AND ended_at IS NOT NULL \
             AND claimed_at >= COALESCE($1, claimed_at) \
             ) AS each_one) AS each_bound GROUP BY role, bound ORDER BY role, bound"
        )
    };
}

impl Store {
    /// How many firings ended, by role and outcome; since then, or ever.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn ended_counts(
        &self,
        since: Option<DateTime<Utc>>,
    ) -> Result<Vec<EndedCount>, StoreError> {
        Ok(on!(self, |pool| query_as(
            "SELECT role, outcome, COUNT(*) AS firings FROM firing WHERE outcome IS NOT NULL \
             AND claimed_at >= COALESCE($1, claimed_at) GROUP BY role, outcome \
             ORDER BY role, outcome"
        )
        .bind(since)
        .fetch_all(pool)
        .await?))
    }

    /// How long firings with sessions took; since then, or ever.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lasted_counts(
        &self,
        since: Option<DateTime<Utc>>,
    ) -> Result<Vec<LastedCount>, StoreError> {
        Ok(match &self.db {
            Db::Sqlite(pool) => {
                query_as(lasted!(
                    "ROUND((julianday(ended_at) - julianday(started_at)) * 86400.0, 3)"
                ))
                .bind(since)
                .fetch_all(pool)
                .await?
            }
            Db::Postgres(pool) => patiently!(
                self,
                query_as(lasted!("EXTRACT(EPOCH FROM ended_at - started_at)"))
                    .bind(since)
                    .fetch_all(pool)
                    .await?
            ),
        })
    }

    /// What the database takes, in bytes: its file, or what its server says.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn bytes(&self) -> Result<Option<u64>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(self.file_bytes());
        };
        let bytes: i64 = patiently!(
            self,
            query_scalar("SELECT pg_database_size(current_database())")
                .fetch_one(pool)
                .await?
        );
        Ok(Some(large(bytes)))
    }
}
