//! Files that work needs and git ignores, copied into a workspace.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use carson_config::Included;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::bench::Bench;
use crate::private_dir::private_dir;

/// Bytes of one of them.
const LARGEST: u64 = 16 << 20;

impl Bench {
    /// Copies them to where the worktree finds them, each for its owner alone. What the commit has
    /// stays, and what a setup left there does not. No link is followed on the way: the commit may have one.
    /// On layers they lie below what the session writes, in a directory of the bench's own, and are no work of the session's; that is to be
    /// done before there is a worktree, and in a copy behind it.
    ///
    /// # Errors
    /// When one cannot be read or written; with its path.
    pub fn include(&self, files: &[Included]) -> Result<(), (PathBuf, io::Error)> {
        let to = match self.stands() && !files.is_empty() {
            true => self.included(),
            false => self.tree(),
        };
        for file in files {
            let made = match self.stands() {
                true if self.is_of_the_base(&file.to) => Ok(()),
                true if self.has_file_above(&file.to) => {
                    let why = "the repository has a file where it needs a directory";
                    Err(io::Error::other(why))
                }
                true => private_dir(&to).and_then(|()| copy(file, &to)),
                false => copy(file, &to),
            };
            made.map_err(|error| (file.from.clone(), error))?;
        }
        Ok(())
    }

    /// Those that lie in the worktree as they were copied: the commit has nothing at these paths.
    #[must_use]
    pub fn has_included<'f>(&self, files: &'f [Included]) -> Vec<&'f Included> {
        let is_ours = |file: &&Included| {
            let here = self.tree().join(&file.to);
            match self.stands() {
                true => !self.is_of_the_base(&file.to) && here.symlink_metadata().is_err(),
                false => is_same(file, &self.tree()).unwrap_or(false),
            }
        };
        files.iter().filter(is_ours).collect()
    }

    /// Puts these back where a setup has written something else in their place.
    ///
    /// # Errors
    /// When one cannot be read or written; with its path.
    pub fn include_again(&self, files: &[&Included]) -> Result<(), (PathBuf, io::Error)> {
        let tree = self.tree();
        for file in files {
            let put_back = || {
                remove(&file.to, &tree)?;
                match self.stands() {
                    // It lies below.
                    true => Ok(()),
                    false => copy(file, &tree),
                }
            };
            put_back().map_err(|error| (file.from.clone(), error))?;
        }
        Ok(())
    }
}

/// Whether a plain file with the same content lies there. The commit may have a link in its place, to what never ends.
fn is_same(file: &Included, tree: &Path) -> io::Result<bool> {
    let Some(name) = file.to.file_name() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let above = file.to.parent().unwrap_or(Path::new(""));
    let dir = open_below(tree, above)?;
    let plain = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let here = File::from(openat(&dir, name, plain, Mode::empty())?);
    let from = File::open(&file.from)?;
    let sizes =
        [here.metadata()?, from.metadata()?].map(|found| found.is_file().then_some(found.len()));
    let [Some(size), Some(other)] = sizes else {
        return Ok(false);
    };
    if size != other || size > LARGEST {
        return Ok(false);
    }
    let (mut now, mut was) = (Vec::new(), Vec::new());
    here.take(LARGEST).read_to_end(&mut now)?;
    from.take(LARGEST).read_to_end(&mut was)?;
    Ok(now == was)
}

/// What lies at a path below `tree`, where something does.
fn remove(path: &Path, tree: &Path) -> io::Result<()> {
    let Some(name) = path.file_name() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let above = path.parent().unwrap_or(Path::new(""));
    if tree.join(path).symlink_metadata().is_err() {
        return Ok(());
    }
    let dir = open_below(tree, above)?;
    match unlinkat(&dir, name, UnlinkatFlags::NoRemoveDir) {
        Err(Errno::ENOENT) => Ok(()),
        done => Ok(done?),
    }
}

fn copy(file: &Included, tree: &Path) -> io::Result<()> {
    let mut from = File::open(&file.from)?;
    let found = from.metadata()?;
    if !found.is_file() || found.len() > LARGEST {
        let why = format!("it is no file of at most {} MB", LARGEST >> 20);
        return Err(io::Error::other(why));
    }
    let Some(name) = file.to.file_name() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let above = file.to.parent().unwrap_or(Path::new(""));
    let dir = open_below(tree, above)?;
    let new = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW;
    let mode = Mode::S_IRUSR | Mode::S_IWUSR;
    match openat(&dir, name, new | OFlag::O_CLOEXEC, mode) {
        Err(Errno::EEXIST) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(to) => io::copy(&mut from, &mut File::from(to)).map(drop),
    }
}

/// The directory at a path below `tree`, made where it is missing.
fn open_below(tree: &Path, path: &Path) -> io::Result<OwnedFd> {
    let dir = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut at = open(tree, dir, Mode::empty())?;
    for part in path {
        match mkdirat(&at, part, Mode::from_bits_truncate(0o755)) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(error) => return Err(error.into()),
        }
        at = openat(&at, part, dir, Mode::empty())?;
    }
    Ok(at)
}

/// What of them cannot be read.
#[must_use]
pub fn missing(files: &[Included]) -> Vec<&Path> {
    let is_file = |file: File| file.metadata().is_ok_and(|found| found.is_file());
    let is_missing = |file: &&Included| !File::open(&file.from).is_ok_and(is_file);
    let missing = files.iter().filter(is_missing);
    missing.map(|file| file.from.as_path()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_copy_follows_no_link_and_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, from, away) = (
            dir.path().join("tree"),
            dir.path().join("from"),
            dir.path().join("away"),
        );
        for dir in [&tree, &from, &away] {
            fs::create_dir(dir).unwrap();
        }
        fs::write(from.join(".env"), "KEY=1\n").unwrap();
        symlink(&away, tree.join("link")).unwrap();
        fs::write(tree.join("known"), "the commit's").unwrap();
        let file = |to: &str| Included {
            from: from.join(".env"),
            to: to.into(),
        };
        copy(&file("a/b/.env"), &tree).unwrap();
        assert_eq!(fs::read(tree.join("a/b/.env")).unwrap(), b"KEY=1\n");
        copy(&file("known"), &tree).unwrap();
        assert_eq!(fs::read(tree.join("known")).unwrap(), b"the commit's");
        assert!(copy(&file("link/.env"), &tree).is_err());
        // A link as long as the file is not followed: this one would never end.
        assert!(is_same(&file("a/b/.env"), &tree).unwrap());
        fs::write(from.join(".env"), "x".repeat("/dev/zero".len())).unwrap();
        symlink("/dev/zero", tree.join("zero")).unwrap();
        assert!(is_same(&file("zero"), &tree).is_err());
        assert!(!is_same(&file("known"), &tree).unwrap());
        assert_eq!(fs::read_dir(&away).unwrap().count(), 0);
    }
}
