//! One owner at a time, known by name: process, start and what it does.
//!
//! The system frees the lock when its owner dies, whatever the death; what the file says is for people, and for
//! whoever comes from where the system's lock does not reach: an owner that the file names and that lives is
//! never taken over.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carson_proc::ProcessId;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::own_file::{How, open};

/// How long an owner may take to write its name down.
const PATIENCE: Duration = Duration::from_millis(500);
/// Bytes of the file that are read.
const MOST: u64 = 4 * 1024;

/// Who has a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Owner {
    /// The number of its process.
    pub pid: i32,
    /// When that started: clock ticks since boot on Linux, seconds since 1970 elsewhere. A newcomer with the same
    /// number has another one.
    pub start: u64,
    /// What it does.
    pub what: String,
    /// Since when.
    pub since: DateTime<Utc>,
}

impl Owner {
    /// This process.
    #[must_use]
    pub fn myself(what: impl Into<String>, since: DateTime<Utc>) -> Self {
        let ProcessId { pid, start } = ProcessId::current();
        let what = what.into();
        Self {
            pid,
            start,
            what,
            since,
        }
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> ProcessId {
        ProcessId {
            pid: self.pid,
            start: self.start,
        }
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let since = carson_core::text::instant(self.since);
        write!(f, "{} (pid {}, since {since})", self.what, self.pid)
    }
}

/// A lock that could not be had.
#[derive(Debug, Error)]
pub enum LockError {
    /// Somebody has it.
    #[error("{} is held by {owner}", path.display())]
    Held {
        /// The file.
        path: PathBuf,
        /// Who.
        owner: Box<Owner>,
    },
    /// Somebody has it who did not write down who it is.
    #[error("{} is held by a process that is not named in it", path.display())]
    HeldByNobody {
        /// The file.
        path: PathBuf,
    },
    /// Somebody took the file away while it was taken.
    #[error("{} was taken away while it was taken: say so again", path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be used.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Held for as long as this lives.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    /// An owner that died with it, whose place this took.
    after: Option<Owner>,
}

impl Lock {
    /// Takes it. An owner that died is taken over, one that lives is in the error.
    ///
    /// # Errors
    /// When somebody has it, or the file cannot be used.
    pub fn take(path: &Path, owner: &Owner) -> Result<Self, LockError> {
        let io = |source| LockError::Io {
            path: path.to_owned(),
            source,
        };
        let mut file = open(path, How::Write).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(path, &mut file)),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let after = read(&mut file).filter(|named| named.process() != owner.process());
        if let Some(named) = after.as_ref().filter(|named| named.process().is_alive()) {
            return Err(LockError::Held {
                path: path.to_owned(),
                owner: Box::new(named.clone()),
            });
        }
        let mut text = serde_json::to_vec(owner).map_err(|error| io(error.into()))?;
        text.push(b'\n');
        write(&mut file, &text).map_err(io)?;
        let lock = Self {
            path: path.to_owned(),
            file,
            after,
        };
        match lock.stands() {
            true => Ok(lock),
            // Somebody removed it between: whoever comes next would not see ours.
            false => Err(LockError::Gone {
                path: path.to_owned(),
            }),
        }
    }

    /// Waits for it for a while.
    ///
    /// # Errors
    /// When somebody has it all the time, or the file cannot be used.
    pub fn wait(path: &Path, owner: &Owner, patience: Duration) -> Result<Self, LockError> {
        let started = Instant::now();
        loop {
            match Self::take(path, owner) {
                Err(LockError::Held { .. } | LockError::HeldByNobody { .. })
                    if started.elapsed() < patience =>
                {
                    std::thread::sleep(Duration::from_millis(5));
                }
                done => return done,
            }
        }
    }

    /// Who had it before and did not give it back: it died.
    #[must_use]
    pub fn after(&self) -> Option<&Owner> {
        self.after.as_ref()
    }

    /// Whether the file is still the one that is locked: nobody removed it or its directory.
    #[must_use]
    pub fn stands(&self) -> bool {
        let place = |found: &fs::Metadata| (found.dev(), found.ino());
        match (self.file.metadata(), fs::symlink_metadata(&self.path)) {
            (Ok(ours), Ok(there)) => place(&ours) == place(&there),
            _ => false,
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file stays: who opened it before it went would lock what nobody else sees.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// Who has a lock now; `None` for nobody, or one that died.
#[must_use]
pub fn owner_of(path: &Path) -> Option<Owner> {
    let mut file = open(path, How::Read).ok()?;
    read(&mut file).filter(|owner| owner.process().is_alive())
}

/// Who has a lock beyond doubt: the process that the file names has it locked. Whoever is sent a signal must be that; what
/// the file says, anybody may have written who can write there.
///
/// # Errors
/// When it is locked by another process than it names.
pub fn holder_of(path: &Path) -> Result<Option<Owner>, LockError> {
    let Ok(mut file) = open(path, How::Read) else {
        return Ok(None);
    };
    let found = file.metadata().map_err(|source| LockError::Io {
        path: path.to_owned(),
        source,
    })?;
    let named = read(&mut file).filter(|owner| owner.process().has_locked(&found));
    match (named, file.try_lock_shared()) {
        (Some(owner), _) => Ok(Some(owner)),
        (None, Ok(())) => Ok(None),
        (None, Err(_)) => Err(LockError::HeldByNobody {
            path: path.to_owned(),
        }),
    }
}

/// Who had a lock and died with it.
#[must_use]
pub fn dead_owner_of(path: &Path) -> Option<Owner> {
    let mut file = open(path, How::Read).ok()?;
    read(&mut file).filter(|owner| !owner.process().is_alive())
}

/// Whoever has just taken the lock may not have written its name yet.
fn held(path: &Path, file: &mut File) -> LockError {
    let started = Instant::now();
    loop {
        let path = path.to_owned();
        match read(file) {
            Some(owner) if owner.process().is_alive() => {
                let owner = Box::new(owner);
                return LockError::Held { path, owner };
            }
            _ if started.elapsed() > PATIENCE => return LockError::HeldByNobody { path },
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn read(file: &mut File) -> Option<Owner> {
    let mut text = Vec::new();
    file.rewind().ok()?;
    io::Read::by_ref(file)
        .take(MOST)
        .read_to_end(&mut text)
        .ok()?;
    serde_json::from_slice(&text).ok()
}

fn write(file: &mut File, text: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(text)?;
    file.set_len(text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn myself(what: &str) -> Owner {
        Owner::myself(what, DateTime::from_timestamp(1_700_000_000, 0).unwrap())
    }

    #[test]
    fn a_pipe_in_its_place_holds_nobody_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!((owner_of(&path), dead_owner_of(&path)), (None, None));
        let error = Lock::take(&path, &myself("x")).unwrap_err().to_string();
        assert!(error.contains("it is no regular file"), "{error}");
    }

    #[test]
    fn a_live_owner_is_refused_by_name_and_a_dead_one_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = Lock::take(&path, &myself("carson loop run")).unwrap();
        assert_eq!(owner_of(&path), Some(myself("carson loop run")));
        let error = Lock::take(&path, &myself("another"))
            .unwrap_err()
            .to_string();
        let me = std::process::id();
        assert!(
            error.contains(&format!("carson loop run (pid {me}, since")),
            "{error}"
        );
        drop(first);
        assert_eq!(owner_of(&path), None);
        assert_eq!(Lock::take(&path, &myself("x")).unwrap().after(), None);

        // The same number, started at another time: that process is gone.
        let dead = Owner {
            start: 1,
            ..myself("the dead")
        };
        fs::write(&path, serde_json::to_vec(&dead).unwrap()).unwrap();
        assert_eq!(dead_owner_of(&path).as_ref(), Some(&dead));
        assert_eq!(
            Lock::take(&path, &myself("x")).unwrap().after(),
            Some(&dead)
        );
    }

    #[test]
    fn who_is_named_and_lives_is_not_taken_over_without_the_systems_lock_either() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let parent = ProcessId::of(nix::unistd::getppid().as_raw()).unwrap();
        let other = Owner {
            pid: parent.pid,
            start: parent.start,
            ..myself("from elsewhere")
        };
        fs::write(&path, serde_json::to_vec(&other).unwrap()).unwrap();
        let error = Lock::take(&path, &myself("x")).unwrap_err();
        assert!(
            matches!(&error, LockError::Held { owner, .. } if **owner == other),
            "{error}"
        );
    }

    #[test]
    fn only_who_has_locked_it_is_its_holder_whoever_it_names() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        assert_eq!(holder_of(&path).unwrap(), None);
        let lock = Lock::take(&path, &myself("x")).unwrap();
        assert_eq!(holder_of(&path).unwrap(), Some(myself("x")));
        let parent = ProcessId::of(nix::unistd::getppid().as_raw()).unwrap();
        let bystander = Owner {
            pid: parent.pid,
            start: parent.start,
            ..myself("x")
        };
        fs::write(&path, serde_json::to_vec(&bystander).unwrap()).unwrap();
        let error = holder_of(&path).unwrap_err();
        assert!(matches!(error, LockError::HeldByNobody { .. }), "{error}");
        drop(lock);
        fs::write(&path, serde_json::to_vec(&bystander).unwrap()).unwrap();
        assert_eq!(holder_of(&path).unwrap(), None);
    }

    #[test]
    fn one_whose_file_is_gone_does_not_stand() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let lock = Lock::take(&path, &myself("x")).unwrap();
        assert!(lock.stands());
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert!(!lock.stands());
    }

    #[test]
    fn half_a_name_is_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        fs::write(&path, r#"{"pid": 12, "st"#).unwrap();
        Lock::take(&path, &myself("x")).unwrap();
    }
}
