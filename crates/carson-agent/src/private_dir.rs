//! A directory that only we enter, in the temporary one. It goes with us; those of runs that were killed
//! go with the next run.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const PREFIX: &str = "carson-agent-";
/// Held as long as the directory is somebody's.
const LOCK: &str = "lock";
/// Entries of the temporary directory that are looked at.
const LOOKED_AT: usize = 10_000;

/// Ours, as long as this lives.
#[derive(Debug)]
pub struct PrivateDir {
    path: PathBuf,
    _lock: File,
}

impl PrivateDir {
    /// A new one, beside the others; whoever was killed has none any more.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn new() -> io::Result<Self> {
        let temp = std::env::temp_dir().canonicalize()?;
        let made = Self::in_dir(&temp)?;
        // It may hold a whole build: nobody waits for that.
        let _ = std::thread::Builder::new().spawn(move || sweep(&temp));
        Ok(made)
    }

    fn in_dir(temp: &Path) -> io::Result<Self> {
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!("{PREFIX}{:016x}", u64::from_ne_bytes(random));
        // It has its name once the lock is held: until then nobody takes it for one that was left.
        let (unnamed, path) = (temp.join(format!(".{name}")), temp.join(name));
        DirBuilder::new().mode(0o700).create(&unnamed)?;
        let held = || {
            let lock = File::create_new(unnamed.join(LOCK))?;
            lock.lock()?;
            std::fs::rename(&unnamed, &path)?;
            Ok(lock)
        };
        let lock: io::Result<File> = held();
        let lock = lock.inspect_err(|_| {
            let _ = std::fs::remove_dir_all(&unnamed);
        })?;
        Ok(Self { path, _lock: lock })
    }

    /// Where.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes those of our own user that nobody holds.
fn sweep(temp: &Path) {
    let entries = std::fs::read_dir(temp).into_iter().flatten().flatten();
    for entry in entries.take(LOOKED_AT) {
        let is_named = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes());
        if is_named && is_left(&entry.path()).unwrap_or(false) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn is_left(dir: &Path) -> io::Result<bool> {
    let about = dir.symlink_metadata()?;
    let ours = nix::unistd::geteuid().as_raw();
    if !about.is_dir() || about.uid() != ours || about.mode() & 0o077 != 0 {
        return Ok(false);
    }
    let lock = OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK)
        .open(dir.join(LOCK))?;
    Ok(lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_left_goes_and_what_somebody_holds_stays() {
        let temp = tempfile::tempdir().unwrap();
        let (held, other) = (
            PrivateDir::in_dir(temp.path()).unwrap(),
            temp.path().join("carson-agent-x"),
        );
        std::fs::create_dir(&other).unwrap();
        let left = temp.path().join("carson-agent-0");
        DirBuilder::new().mode(0o700).create(&left).unwrap();
        File::create(left.join(LOCK)).unwrap();
        sweep(temp.path());
        assert!(held.path().exists() && other.exists());
        assert!(!left.exists());
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }
}
