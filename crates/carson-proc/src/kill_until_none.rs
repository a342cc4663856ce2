//! Kills until a whole pass finds nothing.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use tracing::warn;

use crate::children;
use crate::group::Group;
use crate::process_id::ProcessId;
use crate::table::{self, Entry};

/// The longest it takes. Who survives it cannot be killed by us at all.
const PATIENCE: Duration = Duration::from_secs(15);

/// For those who got SIGKILL to be gone.
const PAUSE: Duration = Duration::from_millis(1);

/// What one pass over the process table found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The prey, alive.
    pub alive: Vec<Entry>,
    /// The groups that have no other members.
    pub groups: Vec<Group>,
    /// Whether there were fresh corpses. Their children may have been born behind our back.
    pub corpses: bool,
    /// Who has been killed on sight.
    pub caught: Vec<ProcessId>,
}

impl Found {
    /// The processes that `seed` accepts with all their descendants, without the `spared`.
    pub(crate) fn of(
        table: &[Entry],
        spared: impl Fn(&Entry) -> bool,
        seed: impl Fn(&Entry) -> bool,
    ) -> Self {
        let mut inside: HashSet<i32> = table
            .iter()
            .filter(|entry| !spared(entry) && seed(entry))
            .map(|entry| entry.pid)
            .collect();
        loop {
            let before = inside.len();
            for entry in table {
                if inside.contains(&entry.parent) && !spared(entry) {
                    inside.insert(entry.pid);
                }
            }
            if inside.len() == before {
                break;
            }
        }
        let is_prey = |entry: &&Entry| inside.contains(&entry.pid) && !entry.zombie;
        let alive: Vec<Entry> = table.iter().filter(is_prey).copied().collect();
        let mixed: HashSet<i32> = table
            .iter()
            .filter(|entry| !inside.contains(&entry.pid))
            .map(|entry| entry.group)
            .collect();
        let groups: HashSet<i32> = alive.iter().map(|entry| entry.group).collect();
        Self {
            groups: groups.difference(&mixed).copied().map(Group).collect(),
            alive,
            ..Self::default()
        }
    }
}

/// One such killing.
pub(crate) struct KillUntilNone {
    until: Instant,
    killed: HashSet<ProcessId>,
    immune: HashSet<ProcessId>,
}

impl KillUntilNone {
    pub(crate) fn new() -> Self {
        Self {
            until: Instant::now() + PATIENCE,
            killed: HashSet::new(),
            immune: HashSet::new(),
        }
    }

    /// Runs to its end; how many were killed. The pauses are real ones if `pause` says so.
    pub(crate) async fn run(mut self, mut find: impl FnMut() -> Found) -> HashSet<ProcessId> {
        while let Some(fresh) = self.strike(&find()) {
            if fresh {
                tokio::task::yield_now().await;
            } else {
                tokio::time::sleep(PAUSE).await;
            }
        }
        self.killed
    }

    /// The same where nothing can be awaited.
    pub(crate) fn run_blocking(mut self, mut find: impl FnMut() -> Found) {
        while let Some(fresh) = self.strike(&find()) {
            if !fresh {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Kills what was found; `None` when it is over, else whether there was anybody new.
    fn strike(&mut self, found: &Found) -> Option<bool> {
        let prey: Vec<&Entry> = found
            .alive
            .iter()
            .filter(|entry| !self.immune.contains(&ProcessId::from(**entry)))
            .collect();
        let before = self.killed.len();
        self.killed.extend(&found.caught);
        if prey.is_empty() && found.caught.is_empty() && !found.corpses {
            return None;
        }
        if Instant::now() > self.until {
            let pids: Vec<i32> = prey.iter().map(|entry| entry.pid).collect();
            warn!(?pids, "processes survive SIGKILL");
            return None;
        }
        // Whole groups first: their members cannot fork between the look and the signal.
        found.groups.iter().for_each(|group| group.kill());
        prey.into_iter().for_each(|entry| self.kill(entry));
        Some(self.killed.len() > before || found.corpses)
    }

    fn kill(&mut self, entry: &Entry) {
        let id = ProcessId::from(*entry);
        // It may have ended since the look, and its number may be somebody else's by now.
        let still = table::entry(entry.pid).is_some_and(|now| now.start == entry.start);
        match still.then(|| kill(Pid::from_raw(entry.pid), Signal::SIGKILL)) {
            Some(Err(nix::errno::Errno::EPERM)) => {
                warn!(
                    pid = entry.pid,
                    "a process of somebody else cannot be killed"
                );
                self.immune.insert(id);
            }
            _ => {
                self.killed.insert(id);
            }
        }
    }
}

/// Reaps the dead that were handed to us; whether there were any. Nobody else waits for them.
pub(crate) fn reap_orphans(table: &[Entry], spared: impl Fn(&Entry) -> bool) -> bool {
    if !children::are_orphans_ours() {
        return false;
    }
    let me = Pid::this().as_raw();
    table
        .iter()
        .filter(|entry| entry.zombie && entry.parent == me && !spared(entry))
        .filter(|entry| {
            let reaped = waitpid(Pid::from_raw(entry.pid), Some(WaitPidFlag::WNOHANG));
            reaped.is_ok_and(|status| status.pid().is_some())
        })
        .count()
        > 0
}

/// The same without the process table, which costs more than a small child does.
pub(crate) fn reap_dead_orphans() {
    #[cfg(target_os = "linux")]
    while let Some(pid) = dead_child().filter(|_| children::are_orphans_ours()) {
        if children::running().contains_key(&pid) {
            // It hides the others, until whoever started it has reaped it.
            reap_orphans(&table::all(), |entry| {
                children::running().contains_key(&entry.pid)
            });
            break;
        }
        let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
    }
}

/// A child that has ended and was not reaped. It stays so.
#[cfg(target_os = "linux")]
fn dead_child() -> Option<i32> {
    use nix::sys::wait::{Id, waitid};
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    Some(waitid(Id::All, look).ok()?.pid()?.as_raw())
}
