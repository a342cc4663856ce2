//! Opening what is at a path without links, and nothing else.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{Mode, SFlag, fstat};

/// What is at a path, held so that nobody can change which one is meant.
#[derive(Debug)]
pub(super) struct There {
    /// It can be mounted and granted, not read.
    pub fd: OwnedFd,
    /// Whether it is a directory.
    pub is_dir: bool,
}

impl There {
    /// Opens a path name by name. A link in any place of it is an error: since the path was
    /// resolved, somebody has put it there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let held = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mut fd = open("/", held, Mode::empty())?;
        for part in path.components() {
            match part {
                Component::RootDir | Component::CurDir => {}
                Component::Normal(name) => fd = openat(&fd, name, held, Mode::empty())?,
                Component::ParentDir | Component::Prefix(_) => {
                    return Err(io::ErrorKind::InvalidInput.into());
                }
            }
        }
        let kind = SFlag::from_bits_truncate(fstat(&fd)?.st_mode) & SFlag::S_IFMT;
        if kind == SFlag::S_IFLNK {
            return Err(nix::errno::Errno::ELOOP.into());
        }
        let is_dir = kind == SFlag::S_IFDIR;
        Ok(Self { fd, is_dir })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_became_a_link_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        fs::create_dir_all(dir.join("a/b")).unwrap();
        fs::write(dir.join("a/file"), "").unwrap();
        symlink(dir.join("a"), dir.join("link")).unwrap();
        assert!(There::open(&dir.join("a/b")).unwrap().is_dir);
        assert!(!There::open(&dir.join("a/file")).unwrap().is_dir);
        for way in ["link", "link/b", "link/file", "a/../a", "a/none"] {
            assert!(There::open(&dir.join(way)).is_err(), "{way}");
        }
    }
}
