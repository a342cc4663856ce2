//! What can go wrong with the store.

use thiserror::Error;

/// A store that cannot be opened, read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The address is neither SQLite nor PostgreSQL.
    #[error("database.url {url:?} is neither sqlite:PATH nor postgres://…")]
    Url {
        /// The address, without a password.
        url: String,
    },
    /// It cannot be opened.
    #[error("the database {url} cannot be opened")]
    Open {
        /// The address, without a password.
        url: String,
        /// What the driver said.
        source: sqlx::Error,
    },
    /// Its schema is not ours.
    #[error("the database {url} has a schema that this version cannot use")]
    Schema {
        /// The address, without a password.
        url: String,
        /// What the migrator said.
        source: sqlx::migrate::MigrateError,
    },
    /// A query failed.
    #[error("the database did not answer")]
    Query(#[from] sqlx::Error),
    /// A row holds something that this version cannot read.
    #[error("column {column} of a row holds {value:?}, which cannot be read")]
    Row {
        /// The column.
        column: &'static str,
        /// What it holds.
        value: String,
    },
}

impl StoreError {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Url { .. } => "write sqlite:/path/to/carson.db or postgres://user@host/name",
            Self::Open { .. } => {
                "check that the path is writable, or that the server runs; a damaged file can be \
                 moved away and restored from a backup"
            }
            Self::Schema { .. } => "a newer carson wrote it: install that version again",
            Self::Query(_) => "look at the disk and at the database server's log",
            Self::Row { .. } => "a newer carson may have written it: install that version again",
        }
    }
}
