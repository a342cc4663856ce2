//! A wall clock that a test sets, under processes that run.
//!
//! libfaketime (Debian's package `faketime`) stands before the C library of `carson` and of what it starts; the
//! monotonic clock goes on as it is, as it does when somebody sets a machine's clock. What it cannot do is
//! wake a timer that waits for the time that has come: whoever sets the clock tells the daemon to look.

#![expect(
    clippy::unwrap_used,
    reason = "support of tests: it may panic when the machine does not do what was asked"
)]

use std::fs;
use std::path::{Path, PathBuf};

use carson_core::Clock;
use chrono::{DateTime, TimeDelta, Utc};
use tempfile::TempDir;

use crate::fleet::TestFleet;

const LIBRARY: &str = "/usr/$LIB/faketime/libfaketimeMT.so.1";

/// The clock of one fleet.
#[derive(Debug)]
pub struct SetClock {
    /// Not in the fleet's own directory, whose disk a test may fill.
    dir: TempDir,
    ahead: TimeDelta,
}

impl SetClock {
    /// The same fleet with a clock that can be set; until then it is right.
    #[must_use]
    pub fn of(fleet: TestFleet) -> (TestFleet, Self) {
        let installed = Path::new("/usr/lib/x86_64-linux-gnu/faketime").exists()
            || Path::new("/usr/lib/aarch64-linux-gnu/faketime").exists();
        assert!(installed, "Debian's package faketime is not installed");
        let mut clock = Self {
            dir: tempfile::tempdir().unwrap(),
            ahead: TimeDelta::zero(),
        };
        clock.set_ahead(TimeDelta::zero());
        let fleet = fleet
            .with_env("LD_PRELOAD", LIBRARY)
            .with_env("FAKETIME_TIMESTAMP_FILE", clock.file())
            .with_env("FAKETIME_NO_CACHE", "1")
            .with_env("DONT_FAKE_MONOTONIC", "1");
        (fleet, clock)
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("clock")
    }

    /// Sets it, so far from the machine's own.
    pub fn set_ahead(&mut self, ahead: TimeDelta) {
        self.ahead = ahead;
        let micros = ahead.num_microseconds().unwrap();
        let sign = if micros < 0 { '-' } else { '+' };
        let (seconds, rest) = (micros.abs() / 1_000_000, micros.abs() % 1_000_000);
        // Whole at every moment: it is read at every look at the clock.
        let new = self.dir.path().join("new");
        fs::write(&new, format!("{sign}{seconds}.{rest:06}\n")).unwrap();
        fs::rename(new, self.file()).unwrap();
    }

    /// Sets it to this time, from which it goes on.
    pub fn set(&mut self, to: DateTime<Utc>) {
        self.set_ahead(to - Clock::system().now());
    }

    /// What it says.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        Clock::system().now() + self.ahead
    }
}
