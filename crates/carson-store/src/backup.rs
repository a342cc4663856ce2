//! Backups of a database file: whole copies, made while it is in use, looked through before they
//! count.
//!
//! A copy is `backups/carson-20260102T030405Z.db` beside the database: by name, the last one is the
//! newest. It is written under another name, checked, made durable, and only then renamed, so a
//! file with this name is always whole.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection, Sqlite, SqlitePool, query, query_scalar};
use tokio::time::{Instant, sleep};

use crate::db::{Db, Store};
use crate::error::StoreError;
use crate::file::{damage, make_private};

const PREFIX: &str = "carson-";
const SUFFIX: &str = ".db";
/// How long a connection is waited for that somebody else uses.
const RETURNS: Duration = Duration::from_secs(2);

/// Where the backups of a database file are.
fn dir_of(db: &Path) -> PathBuf {
    db.with_file_name("backups")
}

/// The backups beside a database file, oldest first.
#[must_use]
pub fn beside(db: &Path) -> Vec<PathBuf> {
    let items = fs::read_dir(dir_of(db)).into_iter().flatten().flatten();
    let ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
    };
    let mut found: Vec<PathBuf> = items.map(|item| item.path()).filter(ours).collect();
    found.sort();
    found
}

pub(crate) fn newest_beside(db: &Path) -> Option<PathBuf> {
    beside(db).pop()
}

impl Store {
    /// Copies the database into a new backup and looks through the copy; `None` for a server,
    /// which has means of its own.
    ///
    /// # Errors
    /// When it cannot be written, or the copy is not whole.
    pub async fn back_up(&self, now: DateTime<Utc>) -> Result<Option<PathBuf>, StoreError> {
        let (Db::Sqlite(pool), Some(file)) = (&self.db, &self.file) else {
            return Ok(None);
        };
        let dir = dir_of(&file.path);
        let name = format!("{PREFIX}{}{SUFFIX}", now.format("%Y%m%dT%H%M%SZ"));
        let (whole, part) = (dir.join(&name), dir.join(format!("{name}.part")));
        let fail = |source: io::Error| broken(&whole, &format!("cannot be written: {source}"));
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&dir).map_err(fail)?;
        // What a killed one left.
        let _ = fs::remove_file(&part);
        make_private(&part).map_err(fail)?;
        let made = match copy(pool, &part).await {
            Ok(()) => check(&part).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = made {
            let _ = fs::remove_file(&part);
            return Err(error);
        }
        durable(&part)
            .and_then(|()| fs::rename(&part, &whole))
            .and_then(|()| durable(&dir))
            .map_err(fail)?;
        Ok(Some(whole))
    }

    /// Removes all but the newest `keep` backups; how many those were.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn drop_old_backups(&self, keep: usize) -> Result<u32, StoreError> {
        let Some(file) = &self.file else {
            return Ok(0);
        };
        let all = beside(&file.path);
        let mut dropped = 0;
        for old in all.iter().take(all.len().saturating_sub(keep)) {
            fs::remove_file(old)
                .map_err(|error| broken(old, &format!("cannot be removed: {error}")))?;
            dropped += 1;
        }
        Ok(dropped)
    }

    /// Moves what the write-ahead log holds into the database file and empties the log, as far as
    /// no reader needs it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        if let Db::Sqlite(pool) = &self.db {
            query("PRAGMA wal_checkpoint(TRUNCATE)")
                .execute(pool)
                .await?;
        }
        Ok(())
    }
}

/// When the file was deleted in use, only a connection that has its log open can still read it.
async fn copy(pool: &SqlitePool, to: &Path) -> Result<(), sqlx::Error> {
    let mut tried = Vec::new();
    loop {
        let mut connection = open_already(pool, tried.len()).await?;
        let copied = query("VACUUM INTO $1")
            .bind(to.to_string_lossy().into_owned())
            .execute(&mut *connection)
            .await;
        tried.push(connection);
        match copied {
            Ok(_) => return Ok(()),
            Err(error) if tried.len() >= pool.size() as usize => return Err(error),
            Err(_) => {}
        }
    }
}

/// A connection that is open, when there is one beside those that were tried: it may be on its way
/// back from its last user, and a new one cannot be opened to a file that is gone.
async fn open_already(
    pool: &SqlitePool,
    tried: usize,
) -> Result<PoolConnection<Sqlite>, sqlx::Error> {
    let begun = Instant::now();
    while pool.size() as usize > tried && begun.elapsed() < RETURNS {
        if let Some(open) = pool.try_acquire() {
            return Ok(open);
        }
        sleep(Duration::from_millis(5)).await;
    }
    pool.acquire().await
}

pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A backup must be whole, and ours.
pub(crate) async fn check(path: &Path) -> Result<(), StoreError> {
    if !path.is_file() {
        return Err(broken(path, "is not there"));
    }
    let unreadable = |error: &sqlx::Error| broken(path, &format!("is no use: {}", damage(error)));
    let options = SqliteConnectOptions::new()
        .filename(path)
        .immutable(true)
        .read_only(true);
    let copy = SqliteConnection::connect_with(&options)
        .await
        .map_err(|error| unreadable(&error))?;
    let copy = look_through(path, copy).await?;
    let _ = copy.close().await;
    Ok(())
}

/// The same of one that is open, with what its log holds.
pub(crate) async fn look_through(
    path: &Path,
    mut copy: SqliteConnection,
) -> Result<SqliteConnection, StoreError> {
    let unreadable = |error: &sqlx::Error| broken(path, &format!("is no use: {}", damage(error)));
    let said: Vec<String> = query_scalar("PRAGMA integrity_check(5)")
        .fetch_all(&mut copy)
        .await
        .map_err(|error| unreadable(&error))?;
    if said != ["ok"] {
        return Err(broken(path, &format!("is damaged: {}", said.join("; "))));
    }
    let ours: Result<i64, _> = query_scalar("SELECT COUNT(*) FROM firing")
        .fetch_one(&mut copy)
        .await;
    ours.map_err(|_| broken(path, "is not a database of Carson's"))?;
    Ok(copy)
}

pub(crate) fn broken(path: &Path, wrong: &str) -> StoreError {
    StoreError::Backup {
        path: path.to_owned(),
        wrong: wrong.to_owned(),
    }
}

pub(crate) fn durable(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
