//! The two databases behind one name.

use std::borrow::Cow;
use std::time::Duration;

use carson_redact::Redactor;
use sqlx::{PgPool, SqlitePool};
use uuid::Uuid;

use crate::file::DbFile;

/// One of the two.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// Evaluates a body on the heap: what a question holds while it waits is large, and each caller of a caller would have
/// room for it on the stack.
macro_rules! boxed {
    ($body:expr) => {
        Box::pin(async { Ok::<_, $crate::error::StoreError>($body) }).await?
    };
}

/// Expands a query body once per database.
macro_rules! on {
    ($store:expr, |$pool:ident| $body:expr) => {
        match &$store.db {
            $crate::db::Db::Sqlite($pool) => $crate::db::boxed!($body),
            $crate::db::Db::Postgres($pool) => $crate::away::patiently!($store, $body),
        }
    };
}

/// Expands a transaction body once per database; commits when the body comes to its end.
macro_rules! transaction {
    ($store:expr, |$tx:ident| $body:expr) => {
        match &$store.db {
            $crate::db::Db::Sqlite(pool) => {
                $crate::db::boxed!({
                    let mut $tx = pool.begin_with("BEGIN IMMEDIATE").await?;
                    let result = $body;
                    $tx.commit().await?;
                    result
                })
            }
            $crate::db::Db::Postgres(pool) => {
                $crate::away::committed!($store, pool, {
                    let mut $tx = pool.begin().await?;
                    let result = $body;
                    ($tx, result)
                })
            }
        }
    };
}

pub(crate) use {boxed, on, transaction};

/// The rows of a fleet. Cheap to clone; all clones share one pool.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) db: Db,
    /// The same database for what may be lost with the power, where that is any cheaper
    /// ([`noting`](Self::noting)).
    pub(crate) notes: Option<SqlitePool>,
    pub(crate) redactor: Redactor,
    /// Where it lies, when it is a file.
    pub(crate) file: Option<DbFile>,
    /// Which PostgreSQL database it is.
    pub(crate) identity: Option<Uuid>,
    /// How long an answer of PostgreSQL is waited for while it is away ([`patient`](Self::patient)).
    pub(crate) patience: Duration,
}

/// How to open a store.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Make a database file that is missing.
    pub create: bool,
    /// How long to wait for another process that holds the file locked.
    pub patience: Duration,
    /// How long to wait for a PostgreSQL that is away, now and later ([`Store::patient`]).
    pub away: Duration,
    /// The PostgreSQL database that it has to be ([`Store::identity`]); any where nothing is known.
    pub known: Option<Uuid>,
}

impl Default for Opening {
    fn default() -> Self {
        Self {
            create: true,
            patience: Duration::from_secs(5),
            away: Duration::ZERO,
            known: None,
        }
    }
}

impl Store {
    /// The same store, which waits so long for each answer of a PostgreSQL that is away (`away.rs`). SQLite has no such
    /// thing.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same store, which takes out of what it writes what this one knows.
    #[must_use]
    pub fn redacting(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// The same store for notes on the way: which stage a firing is in, how it is confined, what its
    /// sessions add up to. Every process sees them at once, and they survive the death of any. But nobody
    /// waits until they are on the disk: when the power goes, the newest may be gone, in their order. The
    /// next write of another kind brings all that was noted before it to the disk first. So nothing goes this
    /// way that somebody is told, that something outside follows from, or that is money.
    pub(crate) fn noting(&self) -> Self {
        let db = match &self.notes {
            Some(notes) => Db::Sqlite(notes.clone()),
            None => self.db.clone(),
        };
        Self { db, ..self.clone() }
    }

    /// Opens what notes go through: the first of them need not wait for that. One that fails says so itself.
    pub async fn get_ready_for_notes(&self) {
        if let Some(notes) = &self.notes {
            drop(notes.acquire().await);
        }
    }

    /// Text from outside as it is written: without secrets, and as both databases take it.
    pub(crate) fn outside<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redactor.redact(text) {
            Cow::Borrowed(text) => plain(text),
            Cow::Owned(text) => plain(&text).into_owned().into(),
        }
    }

    /// Closes every connection, also those of its clones, and waits until that is done.
    pub async fn close(&self) {
        if let Some(notes) = &self.notes {
            notes.close().await;
        }
        match &self.db {
            Db::Sqlite(pool) => pool.close().await,
            Db::Postgres(pool) => pool.close().await,
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

/// Text from outside as both databases take it: PostgreSQL has no NUL.
fn plain(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}").into()
    } else {
        text.into()
    }
}
