//! Opening a database file: looked at first, written to only when it is ours and whole.
//!
//! A file that is missing or empty is a new database, unless there are backups beside it: then it
//! is a lost one, and beginning anew would forget breakers, pauses and what was fired.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

use nix::sys::statvfs::{FsFlags, statvfs};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection, SqlitePool};

use crate::backup;
use crate::db::{Db, Opening, Store};
use crate::error::{StoreError, Trouble};
use crate::file::{DbFile, damage, make_private};
use crate::journal::Journal;
use crate::migrations;

/// Bytes without which no file beside the database can be had: two blocks of its log's index.
const ROOM: u64 = 64 * 1024;

/// A page of anything is fewer.
const ROWS_AHEAD: usize = 1_000;

/// Connections of one process, beside the one for notes. A query gives its own back a moment after it has its answer, so
/// that even who asks one thing after the other opens as many as there may be; each is a thread, and reads the whole schema.
pub(crate) const CONNECTIONS: u32 = 2;

pub(crate) async fn open(path: &Path, url: String, opening: Opening) -> Result<Store, StoreError> {
    let io = |source: std::io::Error| StoreError::Open {
        url: url.clone(),
        source: source.into(),
    };
    let size = path.metadata().map_or(0, |found| found.len());
    if size == 0 {
        may_begin(path, opening)?;
        if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(dir).map_err(io)?;
        }
        make_private(path).map_err(io)?;
    }
    let log = hold_log(path, opening.patience).await;
    let opened = open_file(path, url, opening).await;
    match (log, &opened) {
        (log, Err(StoreError::Unusable { .. })) => std::mem::forget(log),
        (Some(log), _) => drop(log.close().await),
        (None, _) => {}
    }
    opened
}

async fn open_file(path: &Path, url: String, opening: Opening) -> Result<Store, StoreError> {
    // The journal mode stands in the file: it is set once the file is known to be ours.
    let options = SqliteConnectOptions::new()
        .filename(path)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(opening.patience)
        // In KiB where it is below nothing: what a recall among many lessons reads again and again.
        .pragma("cache_size", "-8192")
        // So many rows are read on before somebody took the first: less turns between two threads.
        .row_buffer_size(ROWS_AHEAD)
        .foreign_keys(true);
    let pool = connections(CONNECTIONS, opening)
        .connect_with(options.clone())
        .await
        .map_err(|source| refused(path, &url, source))?;
    let migrator = migrations::migrator(migrations::SQLITE);
    if !is_up_to_date(&pool, &migrator).await {
        judge(&pool, path, &url).await?;
        let done = bring_up(&pool, &migrator).await;
        done.map_err(|source| not_brought_up(path, url, source))?;
    }
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let journal = Journal::below(dir.unwrap_or(Path::new(".")));
    let pool = journal.keep(pool, opening.patience).await?;
    Ok(Store {
        db: Db::Sqlite(pool),
        notes: (journal == Journal::Log).then(|| notes(options, opening)),
        file: Some(DbFile {
            path: path.to_owned(),
            inode: inode(path),
        }),
        identity: None,
        redactor: carson_redact::Redactor::default(),
        patience: Duration::ZERO,
    })
}

/// One connection, opened when it is first needed, whose commits are in the log and not yet on the disk:
/// with a log that is safe, and whoever flushes it next flushes them, too. A rollback journal would have
/// the file itself in doubt.
fn notes(options: SqliteConnectOptions, opening: Opening) -> SqlitePool {
    connections(1, opening).connect_lazy_with(options.synchronous(SqliteSynchronous::Normal))
}

/// So many connections, none of which comes back in a transaction. Where the disk is full or fails, SQLite itself
/// ends the transaction (<https://sqlite.org/lang_transaction.html>); the driver, whose `ROLLBACK` is refused then,
/// believes that it goes on and refuses each later one of that connection.
fn connections(at_most: u32, opening: Opening) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(at_most)
        .acquire_timeout(opening.patience * 2 + Duration::from_secs(20))
        // A file does not hang up: asking each time costs two wake-ups.
        .test_before_acquire(false)
        .after_release(|connection, _| Box::pin(is_out_of_transactions(connection)))
}

async fn is_out_of_transactions(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // What rolls it back may be on its way.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}

/// Whether a file that is missing or empty may become a new database.
fn may_begin(path: &Path, opening: Opening) -> Result<(), StoreError> {
    let exists = path.exists();
    let backup = backup::newest_beside(path);
    if (opening.create || exists) && backup.is_none() {
        return Ok(());
    }
    let wrong = if exists {
        "the file is empty"
    } else {
        "the file is gone"
    };
    Err(StoreError::Unusable {
        path: path.to_owned(),
        wrong: wrong.to_owned(),
        backup,
    })
}

fn refused(path: &Path, url: &str, source: sqlx::Error) -> StoreError {
    let trouble = match Trouble::of(&source) {
        Some(Trouble::Damaged) => return unusable(path, damage(&source)),
        // The driver names a file beside it that it could neither make nor grow.
        Some(Trouble::Disk) => disk_of(path),
        other => other,
    };
    match trouble {
        Some(trouble) => StoreError::Trouble { trouble, source },
        None => StoreError::Open {
            url: url.to_owned(),
            source,
        },
    }
}

/// A disk without room is no matter of the schema.
fn not_brought_up(path: &Path, url: String, source: MigrateError) -> StoreError {
    match source {
        MigrateError::Execute(said) | MigrateError::ExecuteMigration(said, _)
            if Trouble::of(&said).is_some() =>
        {
            refused(path, &url, said)
        }
        source => StoreError::Schema { url, source },
    }
}

/// What is wrong with the disk on which a file lies, as the disk itself says.
fn disk_of(path: &Path) -> Option<Trouble> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let found = statvfs(dir.unwrap_or(Path::new("."))).ok()?;
    if found.flags().contains(FsFlags::ST_RDONLY) {
        return Some(Trouble::ReadOnly);
    }
    let free = found
        .blocks_available()
        .saturating_mul(found.fragment_size());
    (free < ROOM).then_some(Trouble::Full)
}

fn unusable(path: &Path, wrong: String) -> StoreError {
    StoreError::Unusable {
        path: path.to_owned(),
        wrong,
        backup: backup::newest_beside(path),
    }
}

/// Looks what the file is, and reads only: ours, somebody else's, or damaged.
async fn judge(pool: &SqlitePool, path: &Path, url: &str) -> Result<(), StoreError> {
    let tables: Result<Vec<String>, _> =
        sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            .fetch_all(pool)
            .await;
    let tables = tables.map_err(|source| refused(path, url, source))?;
    let has = |name: &str| tables.iter().any(|table| table == name);
    if tables.is_empty() || has("_sqlx_migrations") && has("firing") {
        return Ok(());
    }
    let some: Vec<&str> = tables.iter().take(5).map(String::as_str).collect();
    let wrong = format!("it is another program's (tables {})", some.join(", "));
    Err(unusable(path, wrong))
}

/// Makes or changes the tables. The migrator takes no lock of its own here: two processes that
/// open a new file together would both make its tables.
async fn bring_up(pool: &SqlitePool, migrator: &Migrator) -> Result<(), MigrateError> {
    let mut alone = pool.begin_with("BEGIN IMMEDIATE").await?;
    // Its `run` cannot be sent between threads when it is given a transaction.
    migrator.run_direct(None, &mut *alone, false).await?;
    alone.commit().await?;
    Ok(())
}

/// Whether exactly these migrations were made. Whoever only reads
/// must not wait for a writer, so this takes no lock; every doubt is the migrator's to settle.
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

/// Who closes a database last moves its log into the file and removes it. After a crash the log may
/// be what is whole of a damaged one, so nobody may be the last there: this connection can write
/// nothing itself, and is never closed then. `None` where there is no log to keep.
async fn hold_log(path: &Path, patience: Duration) -> Option<SqliteConnection> {
    let log = backup::with_ending(path, "-wal");
    if log.metadata().map_or(0, |found| found.len()) == 0 {
        return None;
    }
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(patience);
    let mut held = SqliteConnection::connect_with(&options).await.ok()?;
    // The first read opens the log, also when it fails; why it does is for others to say. This one reads a number of the
    // first page, and not the whole schema.
    let _ = sqlx::query("PRAGMA schema_version")
        .fetch_all(&mut held)
        .await;
    Some(held)
}

/// Device and number: another file under the same name has others.
fn inode(path: &Path) -> Option<(u64, u64)> {
    let found = path.metadata().ok()?;
    Some((found.dev(), found.ino()))
}

impl Store {
    /// Whether the file under the database's name is the one that was opened. One that was deleted
    /// or replaced would still take rows, which nobody would ever find again.
    ///
    /// # Errors
    /// When it is another one, or gone.
    pub fn still_there(&self) -> Result<(), StoreError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let now = inode(&file.path);
        if file.inode.is_none() || now == file.inode {
            return Ok(());
        }
        let wrong = match now {
            None => "the file was deleted while it was in use",
            Some(_) => "the file was replaced by another one while it was in use",
        };
        Err(unusable(&file.path, wrong.to_owned()))
    }

    /// Looks through the whole database, or with `quick` at all but the order of its indexes; what
    /// is wrong with it. A server looks after its own: then nothing is.
    ///
    /// # Errors
    /// When it cannot be read at all.
    pub async fn damage(&self, quick: bool) -> Result<Vec<String>, StoreError> {
        let Db::Sqlite(pool) = &self.db else {
            return Ok(Vec::new());
        };
        let said: Vec<String> = if quick {
            sqlx::query_scalar("PRAGMA quick_check(5)")
                .fetch_all(pool)
                .await?
        } else {
            sqlx::query_scalar("PRAGMA integrity_check(5)")
                .fetch_all(pool)
                .await?
        };
        Ok(said.into_iter().filter(|line| line != "ok").collect())
    }

    /// The same as an error that says what to do.
    ///
    /// # Errors
    /// When something is wrong with it.
    pub async fn must_be_whole(&self, quick: bool) -> Result<(), StoreError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let wrong = match self.damage(quick).await {
            Ok(wrong) if wrong.is_empty() => return Ok(()),
            Ok(wrong) => format!("it is damaged ({})", wrong.join("; ")),
            Err(StoreError::Trouble {
                trouble: Trouble::Damaged,
                source,
            }) => damage(&source),
            Err(other) => return Err(other),
        };
        std::mem::forget(hold_log(&file.path, Opening::default().patience).await);
        Err(unusable(&file.path, wrong))
    }

    /// The size of the database's file.
    #[must_use]
    pub fn file_bytes(&self) -> Option<u64> {
        let file = self.file.as_ref()?;
        Some(file.path.metadata().ok()?.len())
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    /// As a full disk does in the midst of a transaction, where it is the database that ends it.
    const ENDS_IT: &str = "CREATE TRIGGER no BEFORE DELETE ON host BEGIN \
                           SELECT RAISE(ROLLBACK, 'no room'); END";

    #[tokio::test(flavor = "multi_thread")]
    async fn a_transaction_that_the_database_ended_spoils_none_that_comes_later() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}/carson.db", dir.path().display());
        let store = Store::open(&url).await.unwrap();
        let Db::Sqlite(pool) = &store.db else {
            panic!("not SQLite");
        };
        let host = "here".parse().unwrap();
        let beat = store.heartbeat(&host, 1, 1, "0", DateTime::UNIX_EPOCH);
        beat.await.unwrap();
        sqlx::query(ENDS_IT).execute(pool).await.unwrap();
        // More often than there are connections.
        for _ in 0..8 {
            let error = store.remove_host(&host).await.unwrap_err();
            assert!(format!("{error:?}").contains("no room"), "{error:?}");
        }
        sqlx::query("DROP TRIGGER no").execute(pool).await.unwrap();
        for turn in 0..8 {
            assert_eq!(store.remove_host(&host).await.unwrap(), turn == 0);
        }
    }
}
