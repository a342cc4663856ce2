//! Changes in a tree that stay in it: no link is followed on the way, however late it came.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawMode, chmodat, chownat, mkdirat, open, openat, renameat,
    statat, symlinkat, unlinkat,
};
use rustix::fs::{Gid, Uid};
use rustix::io::Errno;

use super::path::TreePath;

const FLAGS: OFlags = OFlags::CLOEXEC
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

/// The top of a tree.
#[derive(Debug)]
pub(super) struct Top {
    dir: OwnedFd,
    /// Directories that had to be opened up, with the modes that they had.
    opened: RefCell<BTreeMap<TreePath, u32>>,
}

/// What stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    Nothing,
    Dir,
    Other,
}

impl Top {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        let flags = OFlags::CLOEXEC | OFlags::RDONLY | OFlags::DIRECTORY;
        Ok(Self {
            dir: open(root, flags, Mode::empty())?,
            opened: RefCell::default(),
        })
    }

    /// Directories that had to be opened up, with the modes that they had.
    pub(super) fn opened(&self) -> BTreeMap<TreePath, u32> {
        self.opened.borrow().clone()
    }

    /// The directory of a path.
    fn dir_of(&self, path: &TreePath) -> io::Result<OwnedFd> {
        let mut at = self.dir.try_clone()?;
        let Some(parent) = path.parent() else {
            return Ok(at);
        };
        for part in parent.parts() {
            at = openat(
                &at,
                part,
                FLAGS | OFlags::RDONLY | OFlags::DIRECTORY,
                Mode::empty(),
            )?;
        }
        Ok(at)
    }

    pub(super) fn stands(&self, path: &TreePath) -> io::Result<Stands> {
        let found = self
            .dir_of(path)
            .and_then(|dir| Ok(statat(&dir, path.name(), AtFlags::SYMLINK_NOFOLLOW)?));
        match found {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                Ok(Stands::Dir)
            }
            Ok(_) => Ok(Stands::Other),
            Err(error) if is_absence(&error) => Ok(Stands::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Takes a file, a link or an empty directory away.
    pub(super) fn remove(&self, path: &TreePath, is_dir: bool) -> io::Result<()> {
        let flags = match is_dir {
            true => AtFlags::REMOVEDIR,
            false => AtFlags::empty(),
        };
        let dir = self.writable_dir_of(path)?;
        match unlinkat(&dir, path.name(), flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a directory that is ours to fill; it gets its mode later.
    pub(super) fn make_dir(&self, path: &TreePath) -> io::Result<()> {
        let dir = self.writable_dir_of(path)?;
        match mkdirat(&dir, path.name(), Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts a link there, or in the place of what is there.
    pub(super) fn put_link(&self, path: &TreePath, to: &[u8]) -> io::Result<()> {
        let dir = self.writable_dir_of(path)?;
        let beside = beside()?;
        symlinkat(OsStr::from_bytes(to), &dir, &beside)?;
        self.moved(&dir, &beside, path)
    }

    /// Puts a pipe there.
    pub(super) fn put_fifo(&self, path: &TreePath) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            let dir = self.writable_dir_of(path)?;
            let beside = beside()?;
            rustix::fs::mknodat(&dir, &beside, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
            self.moved(&dir, &beside, path)
        }
        #[cfg(not(target_os = "linux"))]
        Err(io::Error::other(format!(
            "{path} is a pipe, which is not made anew here"
        )))
    }

    /// Puts a file there, or in the place of what is there, whole: `fill` writes it.
    pub(super) fn put_file<E: From<io::Error>>(
        &self,
        path: &TreePath,
        mode: u32,
        fill: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<(), E> {
        let dir = self.writable_dir_of(path)?;
        let beside = beside()?;
        let flags = FLAGS | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let file =
            openat(&dir, &beside, flags, Mode::RUSR | Mode::WUSR).map_err(io::Error::from)?;
        let filled = fill(&mut File::from(file)).and_then(|()| {
            if let Ok(stat) = statat(&dir, path.name(), AtFlags::SYMLINK_NOFOLLOW) {
                // Whose it was is not always ours to give.
                let (uid, gid) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
                let _ = chownat(
                    &dir,
                    &beside,
                    Some(uid),
                    Some(gid),
                    AtFlags::SYMLINK_NOFOLLOW,
                );
            }
            // Behind the owner, who takes bits away when he changes.
            chmodat(&dir, &beside, bits(mode), AtFlags::empty()).map_err(io::Error::from)?;
            Ok(self.moved(&dir, &beside, path)?)
        });
        filled.inspect_err(|_| {
            let _ = unlinkat(&dir, &beside, AtFlags::empty());
        })
    }

    /// Gives a file or a directory its mode.
    pub(super) fn set_mode(&self, path: &TreePath, mode: u32) -> io::Result<()> {
        let dir = self.dir_of(path)?;
        let stat = statat(&dir, path.name(), AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            return Ok(());
        }
        Ok(chmodat(&dir, path.name(), bits(mode), AtFlags::empty())?)
    }

    fn moved(&self, dir: &OwnedFd, beside: &str, path: &TreePath) -> io::Result<()> {
        renameat(dir, beside, dir, path.name()).map_err(|error| {
            let _ = unlinkat(dir, beside, AtFlags::empty());
            error.into()
        })
    }

    /// The directory of a path, where we may write: a read-only one of ours is opened up.
    fn writable_dir_of(&self, path: &TreePath) -> io::Result<OwnedFd> {
        let opened = self.dir_of(path);
        let is_open = opened.as_ref().is_ok_and(may_write);
        if let (false, Some(parent)) = (is_open, path.parent()) {
            self.open_up(&parent)?;
            return self.dir_of(path);
        }
        opened
    }

    /// Lets us read, write and enter a directory and those above it, if they are ours.
    fn open_up(&self, path: &TreePath) -> io::Result<()> {
        if let Some(parent) = path.parent() {
            self.open_up(&parent)?;
        }
        let dir = self.dir_of(path)?;
        let stat = statat(&dir, path.name(), AtFlags::SYMLINK_NOFOLLOW)?;
        let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        #[cfg_attr(
            target_os = "linux",
            expect(
                clippy::useless_conversion,
                reason = "the types differ between systems"
            )
        )]
        let mode = u32::from(stat.st_mode) & 0o7777;
        if !is_dir || mode & 0o700 == 0o700 {
            return Ok(());
        }
        chmodat(&dir, path.name(), bits(mode | 0o700), AtFlags::empty())?;
        self.opened.borrow_mut().entry(path.clone()).or_insert(mode);
        Ok(())
    }
}

fn may_write(dir: &OwnedFd) -> bool {
    use rustix::fs::{Access, accessat};
    accessat(
        dir,
        ".",
        Access::WRITE_OK | Access::EXEC_OK,
        AtFlags::EACCESS,
    )
    .is_ok()
}

fn bits(mode: u32) -> Mode {
    Mode::from_raw_mode(RawMode::try_from(mode & 0o7777).unwrap_or(0o644))
}

/// Whether there is nothing, or nothing can be: a file or a link stands where a directory was.
fn is_absence(error: &io::Error) -> bool {
    let absent = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].map(Errno::raw_os_error);
    error
        .raw_os_error()
        .is_some_and(|code| absent.contains(&code))
}

/// A name that nobody has.
fn beside() -> io::Result<String> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!(".carson-{:016x}", u64::from_ne_bytes(random)))
}
