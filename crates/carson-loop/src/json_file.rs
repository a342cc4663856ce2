//! JSON files that are whole at every moment: a reader sees the old one or the new one, whatever is killed when.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, fsync, openat, renameat, unlinkat};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::own_file;

/// A file that is not what it should be, or cannot be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// What stands in it is no JSON, or not what belongs there.
    #[error("{}:{line}:{column}: {detail}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong.
        detail: String,
    },
    /// There is more in it than belongs there.
    #[error("{}: it has more than {most} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// What is read.
        most: u64,
    },
    /// The disk said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// How sure a file is to be there after the power went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Whole at every moment for whoever reads it, and on the disk when the system thinks it time.
    Later,
    /// On the disk before anybody is told.
    Now,
}

/// Bytes of a file that is read.
const MOST: u64 = 64 << 20;

impl FileError {
    /// Whether there is no such file.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// Reads one.
///
/// # Errors
/// When it cannot be read, or is not what belongs there: with the line.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, FileError> {
    parse(path, &bytes(path)?)
}

/// Reads one, if it is there.
///
/// # Errors
/// When it is there and cannot be read, or is not what belongs there: with the line.
pub fn read_if_there<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, FileError> {
    match read(path) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The bytes of one, as they are.
///
/// # Errors
/// When it cannot be read, or is no file.
pub fn bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    let read = own_file::read(path, MOST).map_err(FileError::io(path))?;
    read.ok_or_else(|| FileError::TooLong {
        path: path.to_owned(),
        most: MOST,
    })
}

/// What its bytes say.
///
/// # Errors
/// When they are not what belongs there: with the line.
pub fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, FileError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let detail = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let (line, column) = place_of(&error, bytes);
        FileError::Malformed {
            path: path.to_owned(),
            line,
            column,
            detail: detail.strip_suffix(&place).unwrap_or(&detail).to_owned(),
        }
    })
}

/// Where it is wrong: line and column, from 1. Of a value that is of the right form and wrong all the same, the
/// library has read on to what follows it, which may be lines below.
fn place_of(error: &serde_json::Error, bytes: &[u8]) -> (usize, usize) {
    let (line, column) = (error.line().max(1), error.column().max(1));
    if !error.is_data() || error.to_string().starts_with("missing field") {
        return (line, column);
    }
    let begin = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .take(line - 1)
        .map(<[u8]>::len);
    let at = (begin.sum::<usize>() + column).min(bytes.len());
    let read = &bytes[..at];
    let read = read
        .strip_suffix(b"}")
        .or(read.strip_suffix(b"]"))
        .unwrap_or(read);
    let read = read.trim_ascii_end();
    let line = read.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = read.iter().rev().take_while(|byte| **byte != b'\n').count();
    (line, column.max(1))
}

/// Writes one whole, in the place of the one that is there; its directory must be there. What is written
/// comes back.
///
/// # Errors
/// When it cannot be written; then the old one is still there.
pub fn write(path: &Path, value: &impl Serialize, sync: Sync) -> Result<Vec<u8>, FileError> {
    let fail = |error: serde_json::Error| FileError::io(path)(io::Error::other(error));
    let mut text = serde_json::to_vec_pretty(value).map_err(fail)?;
    text.push(b'\n');
    write_bytes(path, &text, sync).map_err(FileError::io(path))?;
    Ok(text)
}

/// Writes any file whole, in the same way.
///
/// # Errors
/// When it cannot be written; then the old one is still there.
pub fn write_bytes(path: &Path, bytes: &[u8], sync: Sync) -> io::Result<()> {
    let (dir, name) = own_file::dir_of(path)?;
    let beside = beside(name);
    let put = || {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let opened = match openat(&dir, &beside, flags, mode) {
            // Somebody guessed the name, and put something there.
            Err(Errno::EXIST) => {
                unlinkat(&dir, &beside, AtFlags::empty())?;
                openat(&dir, &beside, flags, mode)
            }
            opened => opened,
        };
        let mut file = File::from(opened?);
        // A file of a person's stays readable for whom it was.
        let there = fs::symlink_metadata(path);
        if let Some(there) = there.ok().filter(fs::Metadata::is_file) {
            file.set_permissions(there.permissions())?;
        }
        file.write_all(bytes)?;
        if sync == Sync::Now {
            file.sync_data()?;
        }
        renameat(&dir, &beside, &dir, name)?;
        match sync {
            Sync::Now => Ok(fsync(&dir)?),
            Sync::Later => Ok(()),
        }
    };
    put().inspect_err(|_: &io::Error| {
        let _ = unlinkat(&dir, &beside, AtFlags::empty());
    })
}

/// Takes away what writers that were killed in the midst left beside a file.
pub fn sweep(path: &Path) {
    let first = format!(
        ".{}.",
        path.file_name().unwrap_or_default().to_string_lossy()
    );
    let items = path.parent().and_then(|dir| fs::read_dir(dir).ok());
    for item in items.into_iter().flatten().filter_map(Result::ok) {
        let name = item.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(&first));
        if rest.is_some_and(is_left) {
            let _ = fs::remove_file(item.path());
        }
    }
}

/// The same beside every file of a directory, and of those in it to this depth.
pub(crate) fn sweep_dir(dir: &Path, depth: usize) {
    let items = fs::read_dir(dir).into_iter().flatten();
    for item in items.filter_map(Result::ok) {
        let name = item.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix('.'));
        let mut words = name.unwrap_or_default().rsplitn(3, '.');
        let (count, pid, first) = (words.next(), words.next(), words.next());
        let kind = item.file_type();
        match (count, pid, first) {
            (Some(count), Some(pid), Some(_)) if is_left(&format!("{pid}.{count}")) => {
                let _ = fs::remove_file(item.path());
            }
            _ if depth > 0 && kind.is_ok_and(|kind| kind.is_dir()) => {
                sweep_dir(&item.path(), depth - 1);
            }
            _ => {}
        }
    }
}

/// Whether the end of a name is that of a writer that is gone.
fn is_left(rest: &str) -> bool {
    rest.split_once('.')
        .filter(|(_, count)| count.parse::<u64>().is_ok())
        .and_then(|(pid, _)| pid.parse().ok())
        .is_some_and(|pid| carson_proc::ProcessId::of(pid).is_none())
}

/// A name that no other process and no other thread writes.
fn beside(name: &OsStr) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let count = WRITES.fetch_add(1, Ordering::Relaxed);
    let name = name.to_string_lossy();
    format!(".{name}.{}.{count}", std::process::id())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Thing {
        count: u32,
    }

    #[test]
    fn what_is_wrong_is_told_with_file_and_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("thing.json");
        assert_eq!(read_if_there::<Thing>(&path).unwrap(), None);
        write(&path, &Thing { count: 1 }, Sync::Now).unwrap();
        assert_eq!(read::<Thing>(&path).unwrap(), Thing { count: 1 });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        for (text, line, detail) in [
            (
                "{\n  \"count\": 1,\n  \"cuont\": 2\n}",
                3,
                "unknown field `cuont`",
            ),
            ("{\n  \"count\": \"1\"\n}", 2, "invalid type: string \"1\""),
            ("{\n  \"count\": -1\n\n}", 2, "invalid value: integer `-1`"),
            ("{\n\n}", 3, "missing field `count`"),
            ("", 1, "EOF"),
            ("{\n\n", 3, "EOF"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read::<Thing>(&path).unwrap_err().to_string();
            let place = format!("{}:{line}:", path.display());
            assert!(
                error.starts_with(&place) && error.contains(detail),
                "{error}"
            );
            assert!(!error.contains("at line"), "{error}");
        }
    }

    #[test]
    fn what_the_dead_left_is_swept_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("thing.json");
        let mine = format!(".thing.json.{}.0", std::process::id());
        let names = [
            "thing.json",
            &mine,
            ".thing.json.x.1",
            ".thing.json.2147483000",
            ".thing.json.2147483000.1",
            "thing.json.2147483000.1",
        ];
        for name in names {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        sweep(&path);
        let left = |name: &&&str| dir.path().join(name).exists();
        let left: Vec<_> = names.iter().filter(left).collect();
        assert_eq!(left.len(), 5, "{left:?}");
        assert!(!left.contains(&&".thing.json.2147483000.1"));
    }

    #[test]
    fn a_pipe_does_not_hold_a_reader_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(read::<Thing>(&path).is_err());
    }
}
