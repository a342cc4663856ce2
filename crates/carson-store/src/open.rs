//! Opening a store by its address.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use carson_redact::Redactor;
use sqlx::SqlitePool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::SqliteConnectOptions;

use crate::address::shown_address;
use crate::db::{Db, Opening, Store};
use crate::error::StoreError;
use crate::{server, sqlite};

impl Store {
    /// Opens `sqlite:PATH` (made when missing, readable by its owner only) or `postgres://…`, and
    /// brings its schema up to date.
    ///
    /// # Errors
    /// When it cannot be opened, or its schema is newer than this version.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_as(url, Opening::default()).await
    }

    /// The same, with a say in how.
    ///
    /// # Errors
    /// When it cannot be opened, or its schema is newer than this version.
    pub async fn open_as(url: &str, opening: Opening) -> Result<Self, StoreError> {
        let shown = shown_address(url);
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = Path::new(path.strip_prefix("//").unwrap_or(path));
            return sqlite::open(path, shown, opening).await;
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return server::open(url, opening).await;
        }
        Err(StoreError::Url { url: shown })
    }

    /// A store that was never opened, for what can be said without one: it connects when it is
    /// first asked, and is then as broken as it was.
    #[must_use]
    pub fn unopened(url: &str) -> Self {
        let db = match PgConnectOptions::from_str(url) {
            Ok(options) if !url.starts_with("sqlite:") => {
                Db::Postgres(PgPoolOptions::new().connect_lazy_with(options))
            }
            _ => {
                let path = url.strip_prefix("sqlite:").unwrap_or(url);
                let path = path.strip_prefix("//").unwrap_or(path);
                let options = SqliteConnectOptions::new().filename(path);
                Db::Sqlite(SqlitePool::connect_lazy_with(options))
            }
        };
        Self {
            db,
            notes: None,
            file: None,
            identity: None,
            redactor: Redactor::default(),
            patience: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_acknowledged_survives_a_power_cut() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}/carson.db", dir.path().display());
        let store = Store::open(&url).await.unwrap();
        let (Db::Sqlite(pool), Db::Sqlite(notes)) = (store.db.clone(), store.noting().db) else {
            panic!("not SQLite");
        };
        let mut noting = notes.acquire().await.unwrap();
        let synchronous = sqlx::query_scalar::<_, i64>("PRAGMA synchronous");
        let synchronous = synchronous.fetch_one(&mut *noting).await.unwrap();
        assert_eq!(synchronous, 1, "NORMAL, and only for notes");
        let mut connections = Vec::new();
        for _ in 0..crate::sqlite::CONNECTIONS {
            let mut connection = pool.acquire().await.unwrap();
            // Before its first read a connection does not know the mode of the file.
            let read = sqlx::query("SELECT seq FROM firing LIMIT 1");
            read.execute(&mut *connection).await.unwrap();
            let synchronous = sqlx::query_scalar::<_, i64>("PRAGMA synchronous");
            let synchronous = synchronous.fetch_one(&mut *connection).await.unwrap();
            let journal = sqlx::query_scalar::<_, String>("PRAGMA journal_mode");
            let journal = journal.fetch_one(&mut *connection).await.unwrap();
            assert_eq!((synchronous, journal.as_str()), (2, "wal"), "FULL is 2");
            connections.push(connection);
        }
    }
}
