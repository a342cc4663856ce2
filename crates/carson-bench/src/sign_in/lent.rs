//! A directory that a session writes, as Carson reads and writes in it.
//!
//! It is opened once, before the session begins, and everything in it is reached from there, one
//! component at a time and through no link: whatever the session makes of its names, nothing
//! outside of it is read or written.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

const DIRECTORY: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);

/// Readable by its owner only.
const OWN: Mode = Mode::S_IRUSR.union(Mode::S_IWUSR);

/// Such a directory.
#[derive(Debug)]
pub(super) struct LentDir(OwnedFd);

impl LentDir {
    /// Makes it, mode 0700.
    pub(super) fn make(path: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().mode(0o700).create(path)?;
        Ok(Self(open(path, DIRECTORY, Mode::empty())?))
    }

    /// A file in it; `None` when it is not there.
    ///
    /// # Errors
    /// When it is no plain file of its own, or larger than `most` bytes.
    pub(super) fn read(&self, file: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        match self.open(file) {
            Ok(file) => plain(&file, most).map(Some),
            Err(Errno::ENOENT) => Ok(None),
            Err(Errno::ELOOP | Errno::ENOTDIR) => Err(io::Error::other("a link is in its place")),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts a file there, mode 0600, in the place of whatever has its name.
    pub(super) fn write(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let (dir, name) = self.place(file, true)?;
        let new = format!("{name}.carson");
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let _ = unlinkat(&dir, new.as_str(), UnlinkatFlags::NoRemoveDir);
        File::from(openat(&dir, new.as_str(), flags, OWN)?).write_all(bytes)?;
        Ok(renameat(&dir, new.as_str(), &dir, name)?)
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, file: &str) {
        if let Ok((dir, name)) = self.place(file, false) {
            let _ = unlinkat(&dir, name, UnlinkatFlags::NoRemoveDir);
        }
    }

    fn open(&self, file: &str) -> nix::Result<File> {
        let (dir, name) = self.place(file, false)?;
        // A pipe in its place must not hold anybody up.
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let opened = openat(&dir, name, flags | OFlag::O_CLOEXEC, Mode::empty())?;
        Ok(opened.into())
    }

    /// The directory that a file lies in, and its last name there.
    fn place<'f>(&self, file: &'f str, make: bool) -> nix::Result<(OwnedFd, &'f str)> {
        let mut names: Vec<&str> = file.split('/').collect();
        let last = names.pop().unwrap_or_default();
        let mut dir = openat(self.0.as_fd(), ".", DIRECTORY, Mode::empty())?;
        for name in names {
            if make {
                match mkdirat(&dir, name, Mode::S_IRWXU) {
                    Ok(()) | Err(Errno::EEXIST) => {}
                    Err(error) => return Err(error),
                }
            }
            dir = openat(&dir, name, DIRECTORY, Mode::empty())?;
        }
        Ok((dir, last))
    }
}

/// What is in a plain file of at most so many bytes, with no other name.
fn plain(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let meta = file.metadata()?;
    if !meta.is_file() || meta.nlink() != 1 {
        return Err(io::Error::other("it is no plain file of its own"));
    }
    bounded(file, most)
}

/// A file of the operator's, which may be a link; `None` when it is not there.
///
/// # Errors
/// When it cannot be read, or is larger than `most` bytes.
pub(super) fn operators(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    match File::open(path) {
        Ok(file) => bounded(&file, most).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn bounded(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        Ok(bytes)
    } else {
        Err(io::Error::other(format!("it is larger than {most} bytes")))
    }
}

/// Replaces a file of the operator's at once, mode 0600: a reader sees the old one or the new one.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    // Where it is a link, what it leads to stays what is read.
    let path = path.canonicalize()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.carson-{}", std::process::id()));
    let made = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new);
    let written = made.and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, &path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}
