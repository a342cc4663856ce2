//! One daemon per home.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use carson_proc::ProcessId;
use thiserror::Error;

/// How often somebody who only looks may be in the way.
const LOOKERS: u32 = 5;
/// How long an owner may take to write its name down.
const PATIENCE: Duration = Duration::from_secs(1);

/// The lock could not be had.
#[derive(Debug, Error)]
pub enum LockError {
    /// Another daemon has it.
    #[error("another daemon already runs this home ({owner})")]
    Held {
        /// Its process, as it wrote it down.
        owner: String,
    },
    /// The file cannot be used.
    #[error("{path:?} cannot be locked")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Held for as long as the daemon lives; the system frees it when it dies.
#[derive(Debug)]
pub struct DaemonLock(#[expect(dead_code, reason = "held for its lock")] File);

impl DaemonLock {
    /// Takes the lock of a home; also for what may only be done while no daemon runs.
    ///
    /// # Errors
    /// When a daemon has it, or the file cannot be used.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let io = |source| LockError::Io {
            path: path.to_owned(),
            source,
        };
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        let mut file = options.open(path).map_err(io)?;
        match taken(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held {
                    owner: owner(&mut file),
                });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        writeln!(file, "pid {}", std::process::id()).map_err(io)?;
        Ok(Self(file))
    }
}

/// Whoever only looks whether a daemon runs has the lock for a moment.
fn taken(file: &File) -> Result<(), TryLockError> {
    for _ in 0..LOOKERS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(20)),
            ended => return ended,
        }
    }
    file.try_lock()
}

/// Who wrote the file. Whoever has just taken the lock may not have come to that yet: until then
/// there is nothing, or the name of one that is dead.
fn owner(file: &mut File) -> String {
    let started = Instant::now();
    loop {
        let mut owner = String::new();
        let read = file.rewind().and_then(|()| file.read_to_string(&mut owner));
        let pid = owner
            .trim()
            .strip_prefix("pid ")
            .and_then(|pid| pid.parse().ok());
        let lives = read.is_ok() && pid.is_some_and(|pid| ProcessId::of(pid).is_some());
        if lives || started.elapsed() > PATIENCE {
            return owner.trim().to_owned();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_refused_with_the_name_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = DaemonLock::take(&path).unwrap();
        let error = DaemonLock::take(&path).unwrap_err().to_string();
        assert!(
            error.contains(&format!("pid {}", std::process::id())),
            "{error}"
        );
        drop(first);
        DaemonLock::take(&path).unwrap();
    }
}
