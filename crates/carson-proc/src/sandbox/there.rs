//! Opening what is at a path without links, and nothing else.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, open, openat, openat2};
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
    /// Opens an absolute path. A link in any place of it is an error: since the path was resolved,
    /// somebody has put it there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let names: Option<Vec<&OsStr>> = path
            .components()
            .filter(|part| !matches!(part, Component::RootDir | Component::CurDir))
            .map(|part| match part {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        let names = names
            .filter(|_| path.is_absolute())
            .ok_or(io::ErrorKind::InvalidInput)?;
        let no_links = OpenHow::new()
            .flags(HELD)
            .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
        let fd = match openat2(AT_FDCWD, path, no_links) {
            // Before Linux 5.6, and where a container's filter does not know the call.
            Err(Errno::ENOSYS | Errno::EPERM) => name_by_name(&names)?,
            opened => opened?,
        };
        let kind = SFlag::from_bits_truncate(fstat(&fd)?.st_mode) & SFlag::S_IFMT;
        if kind == SFlag::S_IFLNK {
            return Err(Errno::ELOOP.into());
        }
        let is_dir = kind == SFlag::S_IFDIR;
        Ok(Self { fd, is_dir })
    }
}

const HELD: OFlag = OFlag::O_PATH
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);

/// The same for a kernel that has no call for it.
fn name_by_name(names: &[&OsStr]) -> nix::Result<OwnedFd> {
    let mut fd = open("/", HELD, Mode::empty())?;
    for name in names {
        fd = openat(&fd, *name, HELD, Mode::empty())?;
    }
    Ok(fd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
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
        assert!(There::open(Path::new("tmp")).is_err(), "from nowhere");
        // An old kernel finds the same.
        let names = |way: &str| -> Vec<OsString> {
            let path = dir.join(way);
            path.iter().skip(1).map(OsStr::to_owned).collect()
        };
        let by_name = |way: &str| {
            let names = names(way);
            name_by_name(&names.iter().map(OsString::as_os_str).collect::<Vec<_>>())
        };
        assert!(by_name("a/b").is_ok() && by_name("a/file").is_ok());
        assert!(by_name("link/b").is_err() && by_name("a/none").is_err());
    }
}
