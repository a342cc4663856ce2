//! By which name a home's host goes.

use carson_core::HostName;
use chrono::{DateTime, Utc};
use sqlx::{query, query_scalar};

use crate::db::{Db, Store};
use crate::error::StoreError;

/// Which home has a name, among the facts of a host.
const HOME: &str = "home";

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
}
