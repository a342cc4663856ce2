//! Files of a directory, opened and replaced without a link on the way: who changes the directory at the same
//! moment, such as an MCP server, leads nobody out of it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Mode, OFlags, fchmod, mkdirat, open, openat, renameat, unlinkat};
use rustix::io::Errno;

/// What every file here is opened with. One that nobody writes into does not hold us up.
const FLAGS: OFlags = OFlags::CLOEXEC
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

/// Opens a file to be read, by its path below the root.
///
/// # Errors
/// When it is not there, or there is a link on the way.
pub fn read(root: &Path, below: &Path) -> io::Result<File> {
    let (dir, name) = parent(root, below, false)?;
    let file = openat(&dir, name, FLAGS | OFlags::RDONLY, Mode::empty())?;
    Ok(File::from(file))
}

/// Puts a file there, or another one in its place, with its owner and mode; all of it or nothing.
///
/// # Errors
/// When it cannot be; then what was there still is.
pub fn replace(root: &Path, below: &Path, content: &[u8]) -> io::Result<()> {
    let (dir, name) = parent(root, below, true)?;
    let before = openat(&dir, name, FLAGS | OFlags::RDONLY, Mode::empty());
    let before = match before {
        Ok(file) => Some(File::from(file).metadata()?),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    let beside = beside()?;
    let flags = FLAGS | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let file = openat(&dir, &beside, flags, Mode::from_raw_mode(0o666))?;
    let put = || -> io::Result<()> {
        let mut file = File::from(file);
        file.write_all(content)?;
        if let Some(before) = before {
            // Whose it was is not always ours to give.
            let _ = fchown(&file, Some(before.uid()), Some(before.gid()));
            fchmod(&file, Mode::from_raw_mode(before.mode() & 0o7777))?;
        }
        renameat(&dir, &beside, &dir, name)?;
        Ok(())
    };
    put().inspect_err(|_| {
        let _ = unlinkat(&dir, &beside, AtFlags::empty());
    })
}

/// The directory that a path below the root ends in, and the name there.
fn parent<'p>(root: &Path, below: &'p Path, make: bool) -> io::Result<(OwnedFd, &'p OsStr)> {
    let flags = FLAGS | OFlags::RDONLY | OFlags::DIRECTORY;
    let name = below.file_name().ok_or(Errno::INVAL)?;
    let mut at = open(root, flags, Mode::empty())?;
    for part in below.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else {
            return Err(Errno::INVAL.into());
        };
        at = match openat(&at, part, flags, Mode::empty()) {
            Err(Errno::NOENT) if make => {
                mkdirat(&at, part, Mode::from_raw_mode(0o777))?;
                openat(&at, part, flags, Mode::empty())?
            }
            next => next?,
        };
    }
    Ok((at, name))
}

/// A name that nobody has.
fn beside() -> io::Result<String> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!(".carson-agent-{:016x}", u64::from_ne_bytes(random)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_with_its_mode_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        replace(root, Path::new("a/b/new"), b"one").unwrap();
        fs::set_permissions(root.join("a/b/new"), fs::Permissions::from_mode(0o750)).unwrap();
        replace(root, Path::new("a/b/new"), b"two").unwrap();
        let mut text = String::new();
        let mut file = read(root, Path::new("a/b/new")).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "two");
        assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o750);
        assert_eq!(fs::read_dir(root.join("a/b")).unwrap().count(), 1);
    }

    #[test]
    fn no_link_is_followed_however_late_it_came() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("work");
        let out = dir.path().join("out");
        for made in [&root, &out] {
            fs::create_dir(made).unwrap();
        }
        fs::write(out.join("f"), "kept").unwrap();
        symlink(&out, root.join("d")).unwrap();
        symlink(out.join("f"), root.join("f")).unwrap();
        for below in ["d/f", "d/new", "f", "../out/f"] {
            let below = Path::new(below);
            assert!(read(&root, below).is_err(), "{below:?}");
            assert!(replace(&root, below, b"evil").is_err(), "{below:?}");
        }
        assert_eq!(fs::read_to_string(out.join("f")).unwrap(), "kept");
        assert!(!out.join("new").exists());
        assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
    }
}
