//! Removes what a session wrote, however it is built.
//!
//! Directories may lie deeper than a path can say, more of them in each other than a process has
//! open files, and may not let even their owner in. So no path is ever made: every step is relative to an open
//! directory, and one that lies [`DEEP`] in the others is moved up to the top before it is emptied.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use carson_proc::inspector::Question;
use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, fchmodat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use serde::{Deserialize, Serialize};

/// So many directories in each other are emptied where they are: each is open meanwhile. A move costs more than
/// emptying does.
const DEEP: usize = 32;

/// Empties directories. When it is stopped half way, the next one goes on with the rest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Remove {
    /// The directories; they stay themselves.
    pub dirs: Vec<PathBuf>,
}

impl Question for Remove {
    const NAME: &'static str = "remove";
    /// Of each directory, why it is not empty.
    type Answer = Vec<Option<String>>;

    fn answer(self) -> Result<Self::Answer, String> {
        Ok(self.dirs.iter().map(|dir| empty(dir).err()).collect())
    }
}

/// Removes everything in a directory.
pub(crate) fn empty(dir: &Path) -> Result<(), String> {
    let fail = |what: &str, error: Errno| format!("{}: {what}: {error}", dir.display());
    let top = File::open(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let top = OwnedFd::from(top);
    let mut next = 0;
    // Each round empties every directory that was there when it began; those that it moved up are
    // the next round's.
    loop {
        let found = list(top.as_fd()).map_err(|error| fail("reading", error))?;
        if found.is_empty() {
            return Ok(());
        }
        for (name, kind) in found {
            let gone = match kind {
                Kind::Directory => clear(top.as_fd(), top.as_fd(), &name, (DEEP, &mut next)),
                Kind::Other => unlinkat(&top, name.as_c_str(), UnlinkatFlags::NoRemoveDir),
            };
            gone.map_err(|error| fail(&name.to_string_lossy(), error))?;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Directory,
    Other,
}

/// Empties a directory and removes it. Those that lie `deep` in it go up to the top.
fn clear(
    top: BorrowedFd<'_>,
    above: BorrowedFd<'_>,
    name: &CStr,
    (deep, next): (usize, &mut u64),
) -> nix::Result<()> {
    let dir = open(above, name)?;
    for (inner, kind) in list(dir.as_fd())? {
        if kind == Kind::Other {
            unlinkat(&dir, inner.as_c_str(), UnlinkatFlags::NoRemoveDir)?;
            continue;
        }
        match unlinkat(&dir, inner.as_c_str(), UnlinkatFlags::RemoveDir) {
            Err(Errno::ENOTEMPTY | Errno::EEXIST) if deep > 0 => {
                clear(top, dir.as_fd(), &inner, (deep - 1, next))?;
            }
            Err(Errno::ENOTEMPTY | Errno::EEXIST) => up(dir.as_fd(), &inner, top, next)?,
            other => other?,
        }
    }
    unlinkat(above, name, UnlinkatFlags::RemoveDir)
}

/// Moves a directory to the top, under a name that is free there.
fn up(from: BorrowedFd<'_>, name: &CStr, top: BorrowedFd<'_>, next: &mut u64) -> nix::Result<()> {
    // To move it, its owner must be allowed to write it.
    fchmodat(from, name, Mode::S_IRWXU, FchmodatFlags::FollowSymlink)?;
    loop {
        *next += 1;
        let free = CString::new(format!(".carson-{next}")).map_err(|_| Errno::EINVAL)?;
        match renameat(from, name, top, free.as_c_str()) {
            // Somebody's directory with that name: an empty one would have been replaced.
            Err(Errno::ENOTEMPTY | Errno::EEXIST | Errno::ENOTDIR) => {}
            other => return other,
        }
    }
}

/// Opens a directory with every right of its owner.
fn open(above: BorrowedFd<'_>, name: &CStr) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    fchmodat(above, name, Mode::S_IRWXU, FchmodatFlags::FollowSymlink)?;
    openat(above, name, flags, Mode::empty())
}

/// What is in a directory. It is opened anew each time: btrfs shows what was moved into it since to nobody who had it open.
fn list(dir: BorrowedFd<'_>) -> nix::Result<Vec<(CString, Kind)>> {
    let again = openat(
        dir,
        c".",
        OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC,
        Mode::empty(),
    )?;
    let mut found = Vec::new();
    for item in Dir::from_fd(again)?.iter() {
        let item = item?;
        let name = item.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match item.file_type() {
            Some(Type::Directory) => Kind::Directory,
            Some(_) => Kind::Other,
            None => kind_of(dir, name)?,
        };
        found.push((name.to_owned(), kind));
    }
    Ok(found)
}

/// Where the file system does not say it by the way.
fn kind_of(dir: BorrowedFd<'_>, name: &CStr) -> nix::Result<Kind> {
    use nix::fcntl::AtFlags;
    use nix::sys::stat::{SFlag, fstatat};
    let found = fstatat(dir, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
    let kind = SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT;
    Ok(match kind == SFlag::S_IFDIR {
        true => Kind::Directory,
        false => Kind::Other,
    })
}

#[cfg(test)]
mod tests;
