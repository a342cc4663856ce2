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

use sqlx::SqlitePool;

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

    /// Sees to it that the database has this one. The mode stands in the file; a copy that somebody
    /// put there, or one that came from another disk, may have the other. A connection that has read
    /// nothing yet does not know; asking for it twice does no harm.
    ///
    /// To change the mode, a connection reads first and then asks for more. Of two that do so together
    /// SQLite refuses one at once, whatever its busy timeout, because each would wait for the other.
    ///
    /// # Errors
    /// When the database cannot be read, or a log is needed and somebody holds the database for longer than
    /// `patience`. Away from a log nobody waits: whoever has the database open keeps it until it is closed, and
    /// the next one asks again.
    pub(crate) async fn keep(
        self,
        pool: &SqlitePool,
        patience: Duration,
    ) -> Result<(), StoreError> {
        let since = Instant::now();
        loop {
            match self.ask(pool).await {
                Err(error) if Trouble::of(&error) == Some(Trouble::Locked) => {
                    if self == Self::Rollback {
                        return Ok(());
                    }
                    if since.elapsed() >= patience {
                        return Err(error.into());
                    }
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                done => return Ok(done?),
            }
        }
    }

    async fn ask(self, pool: &SqlitePool) -> Result<(), sqlx::Error> {
        let mode: String = sqlx::query_scalar("PRAGMA journal_mode")
            .fetch_one(pool)
            .await?;
        if mode == self.word() {
            return Ok(());
        }
        match self {
            Self::Log => {
                sqlx::query("PRAGMA journal_mode = WAL")
                    .execute(pool)
                    .await?;
            }
            Self::Rollback => {
                // Others may have it open for long: that is known at once.
                let mut alone = pool.acquire().await?;
                sqlx::query("PRAGMA busy_timeout = 0")
                    .execute(&mut *alone)
                    .await?;
                let asked = sqlx::query("PRAGMA journal_mode = DELETE");
                let asked = asked.execute(&mut *alone).await;
                // It goes, and another one with the usual patience comes.
                alone.close().await?;
                asked?;
            }
        }
        Ok(())
    }
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
    use crate::db::{Db, Store};
    use crate::pauses::PauseScope;

    use super::*;

    async fn mode(store: &Store) -> String {
        let Db::Sqlite(pool) = &store.db else {
            panic!("not SQLite");
        };
        let asked = sqlx::query_scalar("PRAGMA journal_mode");
        asked.fetch_one(pool).await.unwrap()
    }

    const PATIENCE: Duration = Duration::from_secs(4);

    async fn keep(journal: Journal, store: &Store) {
        let Db::Sqlite(pool) = &store.db else {
            panic!("not SQLite");
        };
        journal.keep(pool, PATIENCE).await.unwrap();
    }

    #[tokio::test]
    async fn a_database_that_moves_between_disks_changes_its_journal_and_keeps_its_rows() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}/carson.db", dir.path().display());
        let store = Store::open(&url).await.unwrap();
        assert_eq!(mode(&store).await, "wal");
        let now = chrono::Utc::now();
        let fleet = PauseScope::Fleet;
        store
            .set_pause(&fleet, "moving", None, "a test", now)
            .await
            .unwrap();

        // Somebody has it open: it stays as it is, and nobody waits.
        let other = Store::open(&url).await.unwrap();
        assert_eq!(other.pauses().await.unwrap().len(), 1);
        let since = Instant::now();
        keep(Journal::Rollback, &store).await;
        assert_eq!(mode(&store).await, "wal");
        assert!(since.elapsed() < PATIENCE, "{:?}", since.elapsed());

        other.close().await;
        keep(Journal::Rollback, &store).await;
        assert_eq!(mode(&store).await, "delete");
        assert!(!dir.path().join("carson.db-wal").exists());
        keep(Journal::Rollback, &store).await;
        keep(Journal::Log, &store).await;
        assert_eq!(mode(&store).await, "wal");
        assert_eq!(store.pauses().await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn readers_and_writers_of_a_rollback_journal_wait_for_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}/carson.db", dir.path().display());
        let first = Store::open(&url).await.unwrap();
        keep(Journal::Rollback, &first).await;
        assert_eq!(mode(&first).await, "delete");
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..4 {
            let store = first.clone();
            tasks.spawn(async move {
                let role = PauseScope::Role(format!("role-{number}").parse().unwrap());
                for _ in 0..25 {
                    let now = chrono::Utc::now();
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
