//! A file that all have open which a run starts, and that is locked by that: so whoever threw its environment away is found
//! when the run was killed.
//!
//! It is handed on as files are that nobody closes. Whoever merely looks into it has not locked it. One that closes all
//! files that it was given, throws its environment away and leaves its parent is not found.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::own_file::{How, open};

/// Held for as long as something may be started.
#[derive(Debug)]
pub(crate) struct Mark(#[expect(dead_code, reason = "what is started has it, too")] File);

impl Mark {
    /// Gives everything that is started from now on this file.
    pub(crate) fn set(path: &Path) -> io::Result<Self> {
        let file = open(path, How::Write)?;
        // Those that a killed run left have it, too.
        flock(&file, FlockOperation::NonBlockingLockShared)?;
        fcntl_setfd(&file, FdFlags::empty())?;
        Ok(Self(file))
    }

    /// Which file it is, where there was a run.
    pub(crate) fn of(path: &Path) -> Option<Metadata> {
        open(path, How::Read).ok()?.metadata().ok()
    }
}
