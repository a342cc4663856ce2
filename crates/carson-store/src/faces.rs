//! What daemons serve or listen to and cannot at the moment.

use std::collections::BTreeMap;

use carson_core::HostName;
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{query, query_as};

use crate::db::{Store, on, transaction};
use crate::error::StoreError;
use crate::row::row;

row! {
    /// A face of a daemon that is shut, or fails.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct FaceRow {
        /// The daemon's host.
        pub host: String,
        /// Its name: `page`, `mcp`, `metrics`, `chat`.
        pub name: String,
        /// Why.
        pub why: String,
        /// Since when it is that.
        pub since: DateTime<Utc>,
    }
}

impl Store {
    /// Exactly these faces of a host are shut, and why; all others are well, or are not wanted.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_faces(
        &self,
        host: &HostName,
        shut: &BTreeMap<&'static str, String>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        transaction!(self, |tx| {
            let known: Vec<(String,)> = query_as("SELECT name FROM face WHERE host = $1")
                .bind(host.as_str())
                .fetch_all(&mut *tx)
                .await?;
            for (name,) in known {
                if !shut.contains_key(name.as_str()) {
                    query("DELETE FROM face WHERE host = $1 AND name = $2")
                        .bind(host.as_str())
                        .bind(&name)
                        .execute(&mut *tx)
                        .await?;
                }
            }
            for (name, why) in shut {
                query(
                    "INSERT INTO face (host, name, why, since) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (host, name) DO UPDATE SET why = excluded.why, \
                     since = excluded.since WHERE face.why <> excluded.why",
                )
                .bind(host.as_str())
                .bind(*name)
                .bind(self.outside(why).into_owned())
                .bind(now)
                .execute(&mut *tx)
                .await?;
            }
        });
        Ok(())
    }

    /// What is shut, on all hosts.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn faces(&self) -> Result<Vec<FaceRow>, StoreError> {
        Ok(on!(self, |pool| query_as(
            "SELECT host, name, why, since FROM face ORDER BY host, name"
        )
        .fetch_all(pool)
        .await?))
    }
}
