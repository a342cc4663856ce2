//! Kills what a child left behind, until nothing is left.

use std::collections::HashSet;
use std::io;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use tokio::time::{Instant, sleep};

use crate::table::{self, Entry};

/// The variable that marks every descendant of one `run`.
pub(crate) const RUN_MARKER: &str = "CARSON_RUN";

/// Passes of one sweep. A fork bomb may outrun any number; it gets this many.
const PASSES: u32 = 60;

/// Our own direct children. Any other process whose parent we are was handed to us as an orphan.
static CHILDREN: LazyLock<Mutex<HashSet<i32>>> = LazyLock::new(Mutex::default);

/// Notes a direct child for as long as it lives.
pub(crate) struct Known(i32);

impl Known {
    pub(crate) fn new(pid: i32) -> Self {
        CHILDREN
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(pid);
        Self(pid)
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        CHILDREN
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.0);
    }
}

/// Makes orphaned descendants ours instead of init's, so that none can hide from the sweep.
///
/// # Errors
/// What the kernel says. Systems without subreapers answer `Ok`.
pub fn become_subreaper() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true)?;
    Ok(())
}

/// What belongs to one `run`.
pub(crate) struct Tree {
    pub group: i32,
    pub marker: String,
    /// Start of the child; nothing older can be its descendant.
    pub since: u64,
}

impl Tree {
    /// Whether the group has members, without a walk over the table.
    pub(crate) fn group_lives(&self) -> bool {
        killpg(Pid::from_raw(self.group), None) != Err(Errno::ESRCH)
    }

    /// Kills until a whole pass finds nothing; how many were killed.
    pub(crate) async fn sweep(&self) -> u32 {
        let mut killed = HashSet::new();
        for _ in 0..PASSES {
            let found = self.members();
            if found.is_empty() {
                break;
            }
            for pid in found {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
                killed.insert(pid);
                reap(pid);
            }
            sleep(Duration::from_millis(2)).await;
        }
        let count = u32::try_from(killed.len()).unwrap_or(u32::MAX);
        killed.into_iter().for_each(reap);
        count
    }

    fn members(&self) -> Vec<i32> {
        let variable = format!("{RUN_MARKER}={}", self.marker);
        let me = Pid::this().as_raw();
        let known = CHILDREN
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let table: Vec<Entry> = table::all();
        let ours = |entry: &Entry| {
            entry.start >= self.since
                && (entry.group == self.group
                    || (entry.parent == me && !known.contains(&entry.pid))
                    || table::environment_holds(entry.pid, &variable))
        };
        closure(&table, ours)
            .into_iter()
            .filter(|entry| entry.pid != me && !known.contains(&entry.pid))
            .filter(|entry| {
                if entry.zombie {
                    reap(entry.pid);
                }
                !entry.zombie
            })
            .map(|entry| entry.pid)
            .collect()
    }
}

/// The processes that `seed` accepts, with all their descendants.
fn closure(table: &[Entry], seed: impl Fn(&Entry) -> bool) -> Vec<Entry> {
    let mut inside: HashSet<i32> = table.iter().filter(|e| seed(e)).map(|e| e.pid).collect();
    loop {
        let before = inside.len();
        for entry in table {
            if inside.contains(&entry.parent) {
                inside.insert(entry.pid);
            }
        }
        if inside.len() == before {
            break;
        }
    }
    table
        .iter()
        .filter(|entry| inside.contains(&entry.pid))
        .copied()
        .collect()
}

fn reap(pid: i32) {
    let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
}

/// Ends every process that was started with `NAME=VALUE` in its environment, and all their
/// descendants, but never ourselves: SIGTERM, `grace`, SIGKILL until a whole pass finds none.
/// Returns how many there were. This is how a dead firing's tools are found again.
pub async fn reap_marked(name: &str, value: &str, grace: Duration) -> u32 {
    let variable = format!("{name}={value}");
    let mut seen = HashSet::new();
    let until = Instant::now() + grace;
    for _ in 0..PASSES + u32::try_from(grace.as_millis() / 50).unwrap_or(u32::MAX) {
        let found = marked(&variable);
        if found.is_empty() {
            break;
        }
        let patient = Instant::now() < until;
        for pid in found {
            let first = seen.insert(pid);
            if first && patient {
                let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
            } else if !patient {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            reap(pid);
        }
        sleep(Duration::from_millis(if patient { 50 } else { 2 })).await;
    }
    u32::try_from(seen.len()).unwrap_or(u32::MAX)
}

fn marked(variable: &str) -> Vec<i32> {
    let me = Pid::this().as_raw();
    let table = table::all();
    closure(&table, |entry| {
        entry.pid != me && table::environment_holds(entry.pid, variable)
    })
    .into_iter()
    .filter(|entry| entry.pid != me && !entry.zombie)
    .map(|entry| entry.pid)
    .collect()
}
