//! The identity of a process that survives the reuse of its number.

use std::fmt;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::{Instant, sleep};

use crate::table::{self, Entry};

/// A process number with the time of its start, so that a newcomer with the same number is
/// neither trusted nor killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessId {
    /// The number.
    pub pid: i32,
    /// Start time: clock ticks since boot on Linux (field 22 of `/proc/PID/stat`), seconds since
    /// 1970 elsewhere.
    pub start: u64,
}

impl ProcessId {
    /// Ourselves.
    #[must_use]
    pub fn current() -> Self {
        let pid = Pid::this().as_raw();
        Self::of(pid).unwrap_or(Self { pid, start: 0 })
    }

    /// The process that has this number now; `None` for none, and for a zombie.
    #[must_use]
    pub fn of(pid: i32) -> Option<Self> {
        table::entry(pid)
            .filter(|entry| !entry.zombie)
            .map(Self::from)
    }

    /// Whether it still runs. A zombie does not.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid) == Some(*self)
    }

    /// How long ago it started, by a clock that nobody sets; `None` where there is none.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        #[cfg(target_os = "linux")]
        {
            use nix::time::{ClockId, clock_gettime};
            use nix::unistd::{SysconfVar, sysconf};
            let booted: Duration = clock_gettime(ClockId::CLOCK_BOOTTIME).ok()?.into();
            let ticks = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
            let started = Duration::from_millis(self.start.saturating_mul(1000) / ticks.max(1));
            Some(booted.saturating_sub(started))
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Whether it runs and has locked a file (flock(2)). Where the system does not say so, whether it runs.
    #[must_use]
    pub fn has_locked(&self, file: &std::fs::Metadata) -> bool {
        table::has_locked(self.pid, file) && self.is_alive()
    }

    /// SIGTERM, also to one that was halted; whether there was anybody to get it.
    #[must_use]
    pub fn ask_to_end(&self) -> bool {
        let asked = self.is_alive() && kill(Pid::from_raw(self.pid), Signal::SIGTERM).is_ok();
        // A halted one hears nothing.
        asked && kill(Pid::from_raw(self.pid), Signal::SIGCONT).is_ok()
    }

    /// SIGTERM, `grace`, SIGKILL; whether it is gone in the end.
    pub async fn terminate(&self, grace: Duration) -> bool {
        for (signal, patience) in [
            (Signal::SIGTERM, grace),
            (Signal::SIGKILL, Duration::from_secs(2)),
        ] {
            if !self.is_alive() {
                return true;
            }
            // It may end between the look and the signal: that is what we want.
            let _ = kill(Pid::from_raw(self.pid), signal);
            let asked = Instant::now();
            while self.is_alive() && asked.elapsed() < patience {
                sleep(Duration::from_millis(10)).await;
            }
        }
        !self.is_alive()
    }
}

impl From<Entry> for ProcessId {
    fn from(entry: Entry) -> Self {
        Self {
            pid: entry.pid,
            start: entry.start,
        }
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {}", self.pid)
    }
}

#[cfg(test)]
mod tests;
