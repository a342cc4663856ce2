//! What makes and changes the tables, as the build found it in `migrations/`.
//!
//! The macros of sqlx would do this too, and bring both databases' clients, SQLite and TLS into the
//! build a second time for it: for the compiler.

use sqlx::SqlStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// A migration: version, description, SQL.
type File = (i64, &'static str, &'static str);

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// Runs these.
pub(crate) fn migrator(files: &[File]) -> Migrator {
    let migration = |&(version, description, sql): &File| {
        let (kind, sql) = (MigrationType::Simple, SqlStr::from_static(sql));
        Migration::new(version, description.into(), kind, sql, false)
    };
    Migrator::with_migrations(files.iter().map(migration).collect())
}

/// The version of the newest of these.
pub(crate) fn newest(files: &[File]) -> Option<i64> {
    files.iter().map(|(version, ..)| *version).max()
}
