//! Files of Carson's own in a tree, opened so that nobody leads us elsewhere.
//!
//! A cloned repository can carry a link in the place of any of them, and a task can put one there; what is written by way of
//! it is somebody's file. So from the top of the state downward no link is followed, each directory is opened from the one
//! above, and a file that is written in place has no other name. What is above the top is the tree's, whose path was
//! resolved before.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, open as open_dir, openat, statat};
use rustix::io::Errno;

/// The directories at the top of a tree that state lies in: Carson's, and those of whose place it takes.
const TOPS: [&str; 3] = [".carson", ".alpf", ".runtime"];
const FLAGS: OFlags = OFlags::CLOEXEC
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);
const DIR: OFlags = FLAGS.union(OFlags::DIRECTORY);

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// To be read.
    Read,
    /// To be read and written in place; it is made if need be, and what is in it stays.
    Write,
    /// The same, behind what is in it.
    Append,
}

/// Opens one.
///
/// # Errors
/// When a link stands there or on the way, something else than a file does, or the file has another name, too.
pub(crate) fn open(path: &Path, how: How) -> io::Result<File> {
    let (dir, name) = dir_of(path)?;
    let flags = match how {
        How::Read => FLAGS,
        How::Write => FLAGS | OFlags::RDWR | OFlags::CREATE,
        How::Append => FLAGS | OFlags::RDWR | OFlags::CREATE | OFlags::APPEND,
    };
    let opened = openat(&dir, name, flags, Mode::RUSR | Mode::WUSR);
    let file = File::from(opened.map_err(|error| odd(&dir, name, path, path, error))?);
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(refused(
            "it is no regular file; take it away, and say so again",
        ));
    }
    if how != How::Read && found.nlink() > 1 {
        return Err(refused(
            "it is a hard link, and what is written here would stand under its other name, too; take it away, and say so again",
        ));
    }
    Ok(file)
}

/// The bytes of one; `None` for more than so many.
///
/// # Errors
/// As [`open`], and when it cannot be read.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let file = open(path, How::Read)?;
    if file.metadata()?.len() > most {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Makes a directory, with those above it in the state.
///
/// # Errors
/// When a link or something else stands there or on the way, or the disk says no.
pub(crate) fn make_dir(path: &Path) -> io::Result<()> {
    let (outer, parts) = split(path);
    if parts.is_empty() {
        return fs::create_dir_all(path);
    }
    let (mut at, mut way) = (top(&outer)?, outer);
    for part in parts {
        way.push(part);
        match mkdirat(&at, part, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        at = enter(&at, part, &way, path)?;
    }
    Ok(())
}

/// The directory of a file, and its name in it.
///
/// # Errors
/// When a link stands on the way, or there is no such directory.
pub(crate) fn dir_of(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let (outer, parts) = split(path.parent().unwrap_or(Path::new("")));
    let (mut at, mut way) = (top(&outer)?, outer);
    for part in parts {
        way.push(part);
        at = enter(&at, part, &way, path)?;
    }
    Ok((at, name))
}

/// What is above the top of the state, and the parts from there; a path with no such top has none.
fn split(path: &Path) -> (PathBuf, Vec<&OsStr>) {
    let parts: Vec<Component<'_>> = path.components().collect();
    let is_top = |part: &Component<'_>| TOPS.iter().any(|top| part.as_os_str() == *top);
    let from = parts.iter().rposition(is_top).unwrap_or(parts.len());
    let (outer, inner) = parts.split_at(from);
    let inner = inner.iter().map(|part| part.as_os_str()).collect();
    (outer.iter().collect(), inner)
}

fn top(outer: &Path) -> io::Result<OwnedFd> {
    let outer = match outer.as_os_str().is_empty() {
        true => Path::new("."),
        false => outer,
    };
    Ok(open_dir(
        outer,
        OFlags::CLOEXEC | OFlags::DIRECTORY,
        Mode::empty(),
    )?)
}

fn enter(dir: &OwnedFd, name: &OsStr, way: &Path, path: &Path) -> io::Result<OwnedFd> {
    openat(dir, name, DIR, Mode::empty()).map_err(|error| odd(dir, name, way, path, error))
}

/// Why something cannot be opened; `path` is what people are told of anyway.
fn odd(dir: impl AsFd, name: &OsStr, way: &Path, path: &Path, error: Errno) -> io::Error {
    let found = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW);
    let kind = found.map(|stat| FileType::from_raw_mode(stat.st_mode));
    let it = match way == path {
        true => "it".to_owned(),
        false => way.display().to_string(),
    };
    match (error, kind) {
        (Errno::LOOP | Errno::NOTDIR | Errno::MLINK, Ok(FileType::Symlink)) => refused(&format!(
            "{it} is a link, and none is followed to Carson's own files; take it away, and say so again"
        )),
        (Errno::NOTDIR, Ok(_)) => refused(&format!(
            "{it} is no directory; take it away, and say so again"
        )),
        _ => error.into(),
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_leads_anywhere_wherever_it_stands() {
        let dir = tempfile::tempdir().unwrap();
        let (root, victim) = (dir.path().join("tree"), dir.path().join("victim"));
        fs::create_dir_all(root.join(".carson/loop")).unwrap();
        fs::create_dir_all(victim.join("loop")).unwrap();
        fs::write(victim.join("rc"), "important").unwrap();
        symlink(victim.join("rc"), root.join(".carson/loop/lock")).unwrap();
        symlink(victim.join("new"), root.join(".carson/loop/log")).unwrap();
        fs::hard_link(victim.join("rc"), root.join(".carson/loop/hard")).unwrap();
        symlink(&victim, root.join(".carson/loop/attempts")).unwrap();
        symlink(&victim, root.join(".alpf")).unwrap();
        let said = |name: &str, how| open(&root.join(name), how).unwrap_err().to_string();
        for how in [How::Read, How::Write, How::Append] {
            assert!(said(".carson/loop/lock", how).starts_with("it is a link"));
            assert!(said(".carson/loop/log", how).starts_with("it is a link"));
            let way = said(".carson/loop/attempts/rc", how);
            assert!(way.contains(".carson/loop/attempts is a link"), "{way}");
            assert!(said(".alpf/loop/x", how).contains(".alpf is a link"));
        }
        assert!(said(".carson/loop/hard", How::Write).starts_with("it is a hard link"));
        for name in [".carson/loop/attempts/001", ".alpf/loop/deep", ".alpf"] {
            let error = make_dir(&root.join(name)).unwrap_err().to_string();
            assert!(error.contains("is a link"), "{error}");
        }
        assert_eq!(fs::read(victim.join("rc")).unwrap(), b"important");
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 2);
        assert_eq!(fs::read_dir(victim.join("loop")).unwrap().count(), 0);
        // A link above the tree is nobody's trick.
        symlink(&root, dir.path().join("by")).unwrap();
        make_dir(&dir.path().join("by/.carson/loop/runs/001")).unwrap();
        open(&root.join(".carson/loop/runs/001/x"), How::Write).unwrap();
    }

    #[test]
    fn a_pipe_holds_nobody_up_and_is_named_for_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.json");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = read(&path, 10).unwrap_err().to_string();
        assert!(error.starts_with("it is no regular file"), "{error}");
    }
}
