//! The file of a database: which one it is, whose, and what SQLite says when it is none.

use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The file of an open database, and which one it was.
#[derive(Clone, Debug)]
pub(crate) struct DbFile {
    pub(crate) path: PathBuf,
    pub(crate) inode: Option<(u64, u64)>,
}

/// What SQLite says of a file that it cannot read.
pub(crate) fn damage(error: &sqlx::Error) -> String {
    let said = error
        .as_database_error()
        .map(sqlx::error::DatabaseError::message);
    let said = said.map_or_else(|| error.to_string(), str::to_owned);
    format!("it is damaged or no database ({said})")
}

/// Makes the file for its owner only. One that exists is not even opened: closing it would drop
/// the locks of every other connection of this process (POSIX locks belong to the file).
pub(crate) fn make_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let made = options.create_new(true).write(true).mode(0o600).open(path);
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}
