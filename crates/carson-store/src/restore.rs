//! Puts a database file into the place of another that nobody has open.
//!
//! A backup is one file. What was set aside, or copied out of a home, may be up to three: what was last
//! written stands in its write-ahead log alone, until somebody closes the database. So a file with a log
//! beside it is read with its log, from a private copy of both: reading would change them.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection, query};

use crate::backup::{broken, check, durable, look_through, with_ending};
use crate::error::StoreError;
use crate::file::{damage, make_private};

/// What stands beside a database file and is part of it: journals first. Without its own the old file
/// is older, but with a foreign one the new file is wrong.
const PARTS: [&str; 4] = ["-journal", "-wal", "-shm", ""];

/// Puts a backup into the place of a database that nobody has open. What was there before is moved
/// aside, not removed; where it is now.
///
/// # Errors
/// When the backup is not whole, or a file cannot be moved or written. Then the database is as it
/// was.
pub async fn restore(
    db: &Path,
    backup: &Path,
    now: DateTime<Utc>,
) -> Result<Option<PathBuf>, StoreError> {
    let fail = |source: io::Error| broken(backup, &format!("cannot be restored: {source}"));
    let new = with_ending(db, ".restored");
    remove(&new).map_err(fail)?;
    if has_a_log(backup) {
        with_its_log(db, backup, &new).await?;
    } else {
        check(backup).await?;
        fs::copy(backup, &new).map_err(fail)?;
    }
    durable(&new).map_err(fail)?;
    empty_its_log(db).await;
    let aside = free_name(db, now);
    let mut moved = false;
    for part in PARTS {
        let from = with_ending(db, part);
        if from.symlink_metadata().is_err() {
            continue;
        }
        fs::create_dir_all(&aside).map_err(fail)?;
        let to = aside.join(from.file_name().unwrap_or_default());
        fs::rename(&from, &to).map_err(fail)?;
        moved = true;
    }
    let dir = db.parent().unwrap_or(Path::new("."));
    fs::rename(&new, db)
        .and_then(|()| durable(dir))
        .map_err(fail)?;
    Ok(moved.then_some(aside))
}

/// Where what was there goes: never into what was set aside within the same second.
fn free_name(db: &Path, now: DateTime<Utc>) -> PathBuf {
    let name = format!("replaced-{}", now.format("%Y%m%dT%H%M%SZ"));
    let mut aside = db.with_file_name(&name);
    for more in 2.. {
        if aside.symlink_metadata().is_err() {
            break;
        }
        aside = db.with_file_name(format!("{name}-{more}"));
    }
    aside
}

/// Whether rows may stand beside a file that are not yet in it.
fn has_a_log(file: &Path) -> bool {
    let holds = |part: &&str| {
        let log = with_ending(file, part).metadata();
        log.is_ok_and(|found| found.len() > 0)
    };
    file.is_file() && ["-wal", "-journal"].iter().any(holds)
}

/// Writes a database with what its log holds into one new file.
async fn with_its_log(db: &Path, file: &Path, new: &Path) -> Result<(), StoreError> {
    let fail = |source: io::Error| broken(file, &format!("cannot be read with its log: {source}"));
    let dir = with_ending(db, ".reading");
    remove(&dir).map_err(fail)?;
    let mut builder = DirBuilder::new();
    builder.mode(0o700).create(&dir).map_err(fail)?;
    let written = copied_with_its_log(&dir, file, new).await;
    let removed = remove(&dir).map_err(fail);
    if written.is_err() {
        let _ = remove(new);
    }
    written.and(removed)
}

async fn copied_with_its_log(dir: &Path, file: &Path, new: &Path) -> Result<(), StoreError> {
    let fail = |source: io::Error| broken(file, &format!("cannot be read with its log: {source}"));
    let copy = dir.join("carson.db");
    // The memory that the processes of a log share is made anew.
    for part in ["", "-wal", "-journal"] {
        let from = with_ending(file, part);
        if from.is_file() {
            fs::copy(&from, with_ending(&copy, part)).map_err(fail)?;
        }
    }
    make_private(new).map_err(fail)?;
    let unreadable = |error: &sqlx::Error| broken(file, &format!("is no use: {}", damage(error)));
    let options = SqliteConnectOptions::new().filename(&copy);
    let open = SqliteConnection::connect_with(&options).await;
    let open = open.map_err(|error| unreadable(&error))?;
    let mut open = look_through(file, open).await?;
    let whole = query("VACUUM INTO $1")
        .bind(new.to_string_lossy().into_owned())
        .execute(&mut open)
        .await;
    whole.map_err(|error| unreadable(&error))?;
    let _ = open.close().await;
    Ok(())
}

/// Moves what a crash left in the log of a whole database into its file, so that whoever keeps that
/// one file has all of it. A log beside a damaged file stays: it may be what is whole of it, and who looks
/// writes nothing.
async fn empty_its_log(db: &Path) {
    if !has_a_log(db) {
        return;
    }
    let options = SqliteConnectOptions::new().filename(db);
    let looks = options.clone().read_only(true);
    let Ok(looks) = SqliteConnection::connect_with(&looks).await else {
        return;
    };
    let Ok(looked) = look_through(db, looks).await else {
        return;
    };
    let _ = looked.close().await;
    if let Ok(mut writes) = SqliteConnection::connect_with(&options).await {
        let _ = query("PRAGMA wal_checkpoint(TRUNCATE)")
            .execute(&mut writes)
            .await;
        let _ = writes.close().await;
    }
}

/// Removes what a killed restore left.
fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}
