//! How a database file keeps what it was while it is being written.
//!
//! A write-ahead log lets readers and a writer go on together, and needs a file of memory that all of
//! its processes share (`-shm`). SQLite writes each page of that file once, so that no later write to the
//! memory can lack room on the disk. Where a disk copies what is written over, that is not so: a page that
//! the disk has no room to copy ends the process that touched it, by SIGBUS, whatever the process does. (Seen
//! on btrfs with a used-up quota; a file that is not copied, `chattr +C`, is asked for room all
//! the same.) There the database keeps its old pages in a file beside it (a rollback journal): readers and
//! a writer wait for each other, and a disk without room is an error that says so.

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection as _, SqlitePool};

use crate::error::{StoreError, Trouble};

/// The journal of a database, by the word of SQLite's `PRAGMA journal_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Journal {
    /// A write-ahead log.
    Log,
    /// A rollback journal, removed at each commit.
    Rollback,
}

impl Journal {
    /// What a database in this directory has.
    pub(crate) fn below(dir: &Path) -> Self {
        match copies_what_is_written_over(dir) {
            true => Self::Rollback,
            false => Self::Log,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Log => "wal",
            Self::Rollback => "delete",
        }
    }

    /// Sees to it that the database has this one; the pool that has it then. The mode stands in the file; a copy
    /// that somebody put there, or one that came from another disk, may have the other.
    ///
    /// # Errors
    /// When the database cannot be read, or a log is needed and somebody holds the database for longer than
    /// `patience`. Away from a log nobody waits: whoever has the database open keeps it until it is
    /// closed, and the next one asks again.
    pub(crate) async fn keep(
        self,
        pool: SqlitePool,
        patience: Duration,
    ) -> Result<SqlitePool, StoreError> {
        if mode(&pool).await? == self.word() {
            return Ok(pool);
        }
        match self {
            Self::Log => begin_a_log(&pool, patience).await.map(|()| pool),
            Self::Rollback => end_the_log(pool).await,
        }
    }
}

/// The mode of the file. A connection that has read nothing yet does not know it.
async fn mode(pool: &SqlitePool) -> Result<String, StoreError> {
    let mut one = pool.acquire().await?;
    let read = sqlx::query("SELECT count(*) FROM sqlite_schema");
    read.execute(&mut *one).await?;
    let mode = sqlx::query_scalar("PRAGMA journal_mode");
    Ok(mode.fetch_one(&mut *one).await?)
}

/// To change the mode, a connection reads first and then asks for more. Of two that do so together
/// SQLite refuses one at once, whatever its busy timeout, because each would wait for the other.
async fn begin_a_log(pool: &SqlitePool, patience: Duration) -> Result<(), StoreError> {
    let since = Instant::now();
    loop {
        let asked = sqlx::query("PRAGMA journal_mode = WAL");
        match asked.execute(pool).await {
            Err(error) if Trouble::of(&error) == Some(Trouble::Locked) => {
                if since.elapsed() >= patience {
                    return Err(error.into());
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            done => return Ok(done.map(drop)?),
        }
    }
}

/// A log ends with the last who has the database open, and a pool may have it open more than once.
async fn end_the_log(pool: SqlitePool) -> Result<SqlitePool, StoreError> {
    let (how, options) = (pool.options().clone(), pool.connect_options());
    pool.close().await;
    let alone = SqliteConnectOptions::clone(&options).busy_timeout(Duration::ZERO);
    let mut alone = SqliteConnection::connect_with(&alone).await?;
    let asked = sqlx::query("PRAGMA journal_mode = DELETE");
    let asked = asked.execute(&mut alone).await;
    alone.close().await?;
    match asked {
        Err(error) if Trouble::of(&error) != Some(Trouble::Locked) => return Err(error.into()),
        _ => {}
    }
    Ok(how
        .connect_with(SqliteConnectOptions::clone(&options))
        .await?)
}

/// Whether the disk below writes to a new place what is written over, so that an allocated page of a
/// file may lack room later. Read off `statfs(2)`; elsewhere nothing is known, and SQLite's own default
/// for such disks is the log.
#[cfg(target_os = "linux")]
fn copies_what_is_written_over(dir: &Path) -> bool {
    use nix::sys::statfs::{BTRFS_SUPER_MAGIC, FsType, statfs};
    /// bcachefs, of `linux/magic.h`.
    const BCACHEFS: FsType = FsType(0xca45_1a4e);
    statfs(dir).is_ok_and(|found| [BTRFS_SUPER_MAGIC, BCACHEFS].contains(&found.filesystem_type()))
}

#[cfg(not(target_os = "linux"))]
fn copies_what_is_written_over(_dir: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use crate::db::{Db, Opening, Store};
    use crate::pauses::PauseScope;

    use super::*;

    async fn mode_of(store: &Store) -> String {
        let Db::Sqlite(pool) = &store.db else {
            panic!("not SQLite");
        };
        mode(pool).await.unwrap()
    }

    async fn keep(journal: Journal, store: Store) -> Store {
        let Db::Sqlite(pool) = store.db else {
            panic!("not SQLite");
        };
        let db = Db::Sqlite(
            journal
                .keep(pool, Opening::default().patience)
                .await
                .unwrap(),
        );
        Store { db, ..store }
    }

    #[tokio::test]
    async fn a_database_that_moves_between_disks_changes_its_journal_and_keeps_its_rows() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}/carson.db", dir.path().display());
        let store = Store::open(&url).await.unwrap();
        assert_eq!(mode_of(&store).await, "wal");
        let now = chrono::DateTime::UNIX_EPOCH;
        let fleet = PauseScope::Fleet;
        store
            .set_pause(&fleet, "moving", None, "a test", now)
            .await
            .unwrap();

        // Somebody has it open: it stays as it is, and nobody waits.
        let other = Store::open(&url).await.unwrap();
        assert_eq!(other.pauses().await.unwrap().len(), 1);
        let since = Instant::now();
        let store = keep(Journal::Rollback, store).await;
        assert_eq!(mode_of(&store).await, "wal");
        let patience = Opening::default().patience;
        assert!(since.elapsed() < patience, "{:?}", since.elapsed());

        other.close().await;
        let store = keep(Journal::Rollback, store).await;
        assert_eq!(mode_of(&store).await, "delete");
        assert!(!dir.path().join("carson.db-wal").exists());
        let store = keep(Journal::Rollback, store).await;
        let store = keep(Journal::Log, store).await;
        assert_eq!(mode_of(&store).await, "wal");
        assert_eq!(store.pauses().await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn readers_and_writers_of_a_rollback_journal_wait_for_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}/carson.db", dir.path().display());
        let first = Store::open(&url).await.unwrap();
        let first = keep(Journal::Rollback, first).await;
        assert_eq!(mode_of(&first).await, "delete");
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..4 {
            let store = first.clone();
            tasks.spawn(async move {
                let role = PauseScope::Role(format!("role-{number}").parse().unwrap());
                for _ in 0..25 {
                    let now = chrono::DateTime::UNIX_EPOCH;
                    store
                        .set_pause(&role, "work", None, "a test", now)
                        .await
                        .unwrap();
                    store.pauses().await.unwrap();
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        assert_eq!(first.pauses().await.unwrap().len(), 4);
    }
}
