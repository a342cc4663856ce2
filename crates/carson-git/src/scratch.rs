//! Files of our own that live as long as a value.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use carson_proc::ProcessId;

use crate::error::{GitError, io};

/// A file beside a mirror, in a directory that only we may enter: no bench reaches it. Its name
/// holds our pid, so that what a killed process left can be told from what is in use.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A name for a file that is not there yet.
    pub(crate) fn name(mirror: &Path, kind: &str) -> Result<Self, GitError> {
        fresh(mirror, kind).map(Self)
    }

    /// A file with this content, for our eyes only.
    pub(crate) fn with(mirror: &Path, kind: &str, content: &[u8]) -> Result<Self, GitError> {
        let file = Self::name(mirror, kind)?;
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&file.0);
        let written = opened.and_then(|mut open| open.write_all(content));
        written.map_err(|source| io(&file.0, source))?;
        Ok(file)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        // Git appends its own ending for locks.
        let mut lock = self.0.clone().into_os_string();
        lock.push(".lock");
        let _ = fs::remove_file(lock);
    }
}

/// A directory of the same kind.
#[derive(Debug)]
pub(crate) struct ScratchDir(PathBuf);

impl ScratchDir {
    pub(crate) fn new(mirror: &Path, kind: &str) -> Result<Self, GitError> {
        let dir = Self(fresh(mirror, kind)?);
        let made = fs::DirBuilder::new().mode(0o700).create(&dir.0);
        made.map_err(|source| io(&dir.0, source))?;
        Ok(dir)
    }

    /// The same, if a small file can be written there.
    pub(crate) fn with_room(self) -> Result<Self, GitError> {
        let file = self.0.join("room");
        let written = fs::write(&file, [0; 16 * 1024]).and_then(|()| fs::remove_file(&file));
        written.map_err(|source| io(&file, source))?;
        Ok(self)
    }

    /// One of a new name in the system's own place for such.
    pub(crate) fn elsewhere(kind: &str) -> std::io::Result<Self> {
        let name = std::env::temp_dir().join(format!("carson-{kind}-XXXXXX"));
        Ok(Self(nix::unistd::mkdtemp(&name)?))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A name that no other process and no other part of this one uses.
fn fresh(mirror: &Path, kind: &str) -> Result<PathBuf, GitError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let dir = dir(mirror);
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&dir);
    made.map_err(|source| io(&dir, source))?;
    let (pid, at) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Ok(dir.join(format!("{pid}-{at}-{kind}")))
}

fn dir(mirror: &Path) -> PathBuf {
    mirror.with_extension("scratch")
}

/// Removes what killed processes left behind.
pub(crate) fn sweep(mirror: &Path) {
    let Ok(items) = fs::read_dir(dir(mirror)) else {
        return;
    };
    for item in items.flatten() {
        let name = item.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.split('-').next()?.parse().ok());
        if pid.is_some_and(|pid| ProcessId::of(pid).is_none_or(|process| !process.is_alive())) {
            let _ = match item.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => fs::remove_dir_all(item.path()),
                false => fs::remove_file(item.path()),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_is_private_and_goes_with_the_value() {
        let home = tempfile::tempdir().unwrap();
        let mirror = home.path().join("widget.git");
        let file = Scratch::with(&mirror, "credential", b"secret").unwrap();
        let path = file.path().to_owned();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(
            fs::metadata(dir(&mirror)).unwrap().permissions().mode() & 0o777,
            0o700
        );
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn a_sweep_removes_what_the_dead_left_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let mirror = home.path().join("widget.git");
        let ours = Scratch::with(&mirror, "index", b"").unwrap();
        // No system gives out this pid.
        let dead = dir(&mirror).join("2147483647-0-credential");
        fs::write(&dead, "secret").unwrap();
        sweep(&mirror);
        assert!(ours.path().exists());
        assert!(!dead.exists());
    }
}
