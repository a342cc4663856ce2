//! The two databases behind one name.

use std::borrow::Cow;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use carson_redact::Redactor;
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{PgPool, SqlitePool};

use crate::error::StoreError;
use crate::firing::plain;

/// One of the two.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// Expands a query body once per database.
macro_rules! on {
    ($store:expr, |$pool:ident| $body:expr) => {
        match &$store.db {
            $crate::db::Db::Sqlite($pool) => $body,
            $crate::db::Db::Postgres($pool) => $body,
        }
    };
}

/// Expands a transaction body once per database; commits when the body comes to its end.
macro_rules! transaction {
    ($store:expr, |$tx:ident| $body:expr) => {
        match &$store.db {
            $crate::db::Db::Sqlite(pool) => {
                let mut $tx = pool.begin_with("BEGIN IMMEDIATE").await?;
                let result = $body;
                $tx.commit().await?;
                result
            }
            $crate::db::Db::Postgres(pool) => {
                let mut $tx = pool.begin().await?;
                let result = $body;
                $tx.commit().await?;
                result
            }
        }
    };
}

pub(crate) use {on, transaction};

/// The rows of a fleet. Cheap to clone; all clones share one pool.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) db: Db,
    redactor: Redactor,
}

impl Store {
    /// Opens `sqlite:PATH` (made when missing, readable by its owner only) or `postgres://…`, and
    /// brings its schema up to date.
    ///
    /// # Errors
    /// When it cannot be opened, or its schema is newer than this version.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let shown = without_password(url);
        if let Some(path) = url.strip_prefix("sqlite:") {
            return open_sqlite(Path::new(path.strip_prefix("//").unwrap_or(path)), shown).await;
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return open_postgres(url, shown).await;
        }
        Err(StoreError::Url { url: shown })
    }

    /// The same store, which takes out of what it writes what this one knows.
    #[must_use]
    pub fn redacting(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Text from outside as it is written: without secrets, and as both databases take it.
    pub(crate) fn outside<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redactor.redact(text) {
            Cow::Borrowed(text) => plain(text),
            Cow::Owned(text) => plain(&text).into_owned().into(),
        }
    }

    /// `sqlite` or `postgres`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.db {
            Db::Sqlite(_) => "sqlite",
            Db::Postgres(_) => "postgres",
        }
    }
}

async fn open_sqlite(path: &Path, url: String) -> Result<Store, StoreError> {
    let io = |source: std::io::Error| StoreError::Open {
        url: url.clone(),
        source: source.into(),
    };
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(io)?;
    }
    make_private(path).map_err(io)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(5))
        .foreign_keys(true);
    let pool = SqlitePoolOptions::new()
        .max_connections(4)
        .connect_with(options)
        .await;
    let pool = pool.map_err(|source| StoreError::Open {
        url: url.clone(),
        source,
    })?;
    let migrator = sqlx::migrate!("../../migrations/sqlite");
    if !is_up_to_date(&pool, &migrator).await {
        // The migrator takes no lock of its own here: two processes that open a new file together
        // would both make its tables.
        let mut alone = pool.begin_with("BEGIN IMMEDIATE").await?;
        // Its `run` cannot be sent between threads when it is given a transaction.
        let migrated = migrator.run_direct(None, &mut *alone, false).await;
        migrated.map_err(|source| StoreError::Schema { url, source })?;
        alone.commit().await?;
    }
    Ok(Store {
        db: Db::Sqlite(pool),
        redactor: Redactor::default(),
    })
}

/// Whether exactly these migrations were made. Whoever only reads must not wait for a writer, so
/// this takes no lock; every doubt is the migrator's to settle.
async fn is_up_to_date(pool: &SqlitePool, migrator: &Migrator) -> bool {
    let made: Result<Vec<(i64, Vec<u8>)>, _> = sqlx::query_as(
        "SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version",
    )
    .fetch_all(pool)
    .await;
    let ours = migrator
        .iter()
        .map(|one| (one.version, one.checksum.to_vec()));
    made.is_ok_and(|made| made.into_iter().eq(ours))
}

/// Makes the file for its owner only. One that exists is not even opened: closing it would drop
/// the locks of every other connection of this process (POSIX locks belong to the file).
fn make_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let made = options.create_new(true).write(true).mode(0o600).open(path);
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

async fn open_postgres(url: &str, shown: String) -> Result<Store, StoreError> {
    let open = |source| StoreError::Open {
        url: shown.clone(),
        source,
    };
    let options = PgConnectOptions::from_str(url).map_err(open)?;
    let pool = PgPoolOptions::new()
        .max_connections(4)
        .acquire_timeout(Duration::from_secs(10))
        .connect_with(options)
        .await
        .map_err(open)?;
    let migrated = sqlx::migrate!("../../migrations/postgres").run(&pool).await;
    migrated.map_err(|source| StoreError::Schema { url: shown, source })?;
    Ok(Store {
        db: Db::Postgres(pool),
        redactor: Redactor::default(),
    })
}

/// The address as it may stand in a message.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    // A password may stand among the parameters too.
    let rest = rest.split('?').next().unwrap_or_default();
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
        None => format!("{scheme}://{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_stay_out_of_messages() {
        assert_eq!(
            without_password("postgres://me:secret@host/db"),
            "postgres://me@host/db"
        );
        assert_eq!(
            without_password("postgres://me@host/db?password=secret"),
            "postgres://me@host/db"
        );
        assert_eq!(
            without_password("postgres://host/db?password=secret"),
            "postgres://host/db"
        );
        assert_eq!(without_password("sqlite:/tmp/x"), "sqlite:/tmp/x");
    }

    #[tokio::test]
    async fn what_was_acknowledged_survives_a_power_cut() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}/carson.db", dir.path().display());
        let Db::Sqlite(pool) = Store::open(&url).await.unwrap().db else {
            panic!("not SQLite");
        };
        let mut connections = Vec::new();
        for _ in 0..4 {
            let mut connection = pool.acquire().await.unwrap();
            let synchronous = sqlx::query_scalar::<_, i64>("PRAGMA synchronous");
            let synchronous = synchronous.fetch_one(&mut *connection).await.unwrap();
            let journal = sqlx::query_scalar::<_, String>("PRAGMA journal_mode");
            let journal = journal.fetch_one(&mut *connection).await.unwrap();
            assert_eq!((synchronous, journal.as_str()), (2, "wal"), "FULL is 2");
            connections.push(connection);
        }
    }
}
