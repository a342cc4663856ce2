//! The variable that every descendant of one `run` carries.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::process_id::ProcessId;
use crate::table::{self, Entry};

/// Its name.
pub(crate) const VARIABLE: &str = "CARSON_RUN";

/// Ours and nobody else's, now and after our number has been used again.
static PREFIX: LazyLock<String> = LazyLock::new(|| {
    let me = ProcessId::current();
    format!("{}.{}.", me.pid, me.start)
});

/// Its value for one `run`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker(String);

/// Whose a process is, by its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The asking run's.
    This,
    /// Another run's of this process, or it was detached by us.
    Another,
    /// It cannot be said: no marker, or one that another program gave.
    Unknown,
}

impl Marker {
    /// One that no other run has.
    pub(crate) fn next() -> Self {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}{number}", *PREFIX))
    }

    /// For what no run owns.
    pub(crate) fn detached() -> Self {
        Self(format!("{}detached", *PREFIX))
    }

    pub(crate) fn value(&self) -> &OsStr {
        OsStr::new(&self.0)
    }

    /// Asks the environment that the process was started with.
    pub(crate) fn owner_of(&self, process: &Entry) -> Owner {
        let environment = table::environment(process);
        match table::value(&environment, VARIABLE.as_bytes()) {
            Some(value) if value == self.0.as_bytes() => Owner::This,
            Some(value) if value.starts_with(PREFIX.as_bytes()) => Owner::Another,
            _ => Owner::Unknown,
        }
    }
}

/// `NAME=VALUE` for a look-up in other processes.
pub(crate) fn is_marked(process: &Entry, name: &str, value: &str) -> bool {
    let environment = table::environment(process);
    table::value(&environment, OsStr::new(name).as_bytes()) == Some(value.as_bytes())
}
