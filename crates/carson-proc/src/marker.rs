//! Markers: variables that every descendant of a process carries. One of ours is in every `run`,
//! and callers have their own; who has one is found by it, and can be ended.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use nix::unistd::Pid;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::children;
use crate::kill_until_none::{Found, KillUntilNone, reap_orphans};
use crate::process_id::ProcessId;
use crate::sandbox::cgroup;
use crate::table::{self, Entry};

/// The name of the one that every `run` gives.
pub(crate) const VARIABLE: &str = "CARSON_RUN";

/// Time between two looks at who has obeyed SIGTERM.
const PAUSE: Duration = Duration::from_millis(20);

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

/// Every process that was started with `NAME=…` in its environment, by the value: one look at the
/// whole table, where [`reap_marked`] looks for one value. Processes of other
/// people keep their environment to themselves and are not among them.
#[must_use]
pub fn marked_processes(name: &str) -> BTreeMap<String, Vec<ProcessId>> {
    let mut found: BTreeMap<String, Vec<ProcessId>> = BTreeMap::new();
    for entry in table::all().iter().filter(|entry| !entry.zombie) {
        let environment = table::environment(entry);
        if let Some(value) = table::value(&environment, OsStr::new(name).as_bytes()) {
            let value = String::from_utf8_lossy(value).into_owned();
            found
                .entry(value)
                .or_default()
                .push(ProcessId::from(*entry));
        }
    }
    found
}

/// Ends every process that was started with `NAME=VALUE` in its environment, and all their
/// descendants, but never ourselves nor our own running children: SIGTERM, `grace`, then SIGKILL
/// until a whole pass finds none, for at most five seconds. Returns how many there were.
pub async fn reap_marked(name: &str, value: &str, grace: Duration) -> u32 {
    let (name, value) = (name.to_owned(), value.to_owned());
    reap(move |entry| is_marked(entry, &name, &value), grace).await
}

/// The same, and every process that has locked this file (flock(2)) by having it open: a child has it of its parent,
/// whatever becomes of its environment. Where the system does not say who has, those of the environment alone.
pub async fn reap_marked_or_locking(
    (name, value): (&str, &str),
    file: &std::fs::Metadata,
    grace: Duration,
) -> u32 {
    let (name, value, file) = (name.to_owned(), value.to_owned(), file.clone());
    let has_locked =
        move |entry: &Entry| cfg!(target_os = "linux") && table::has_locked(entry.pid, &file);
    reap(
        move |entry| is_marked(entry, &name, &value) || has_locked(entry),
        grace,
    )
    .await
}

/// Kills what was handed to us (see [`crate::become_subreaper`]) and everything below it, but never our own running
/// children, until a whole pass finds none. Returns how many there were.
pub async fn kill_orphans() -> u32 {
    let me = Pid::this().as_raw();
    reap(move |entry| entry.parent == me, Duration::ZERO).await
}

async fn reap(is_prey: impl Fn(&Entry) -> bool + Send + Sync + 'static, grace: Duration) -> u32 {
    let is_prey = Arc::new(is_prey);
    let (mut seen, is_over) = ask(&is_prey, grace).await;
    if !is_over {
        seen.extend(KillUntilNone::new().run(|| find(&*is_prey)).await);
    }
    // Their owner died with them, and could not remove them.
    let _ = spawn_blocking(cgroup::remove_stale).await;
    u32::try_from(seen.len()).unwrap_or(u32::MAX)
}

/// Asks politely until nobody is left or the time is up: whom, and whether the last look found nobody. Everybody's
/// environment is read for it: beside whatever else is done meanwhile.
async fn ask(
    is_prey: &Arc<impl Fn(&Entry) -> bool + Send + Sync + 'static>,
    grace: Duration,
) -> (HashSet<ProcessId>, bool) {
    let started = Instant::now();
    let mut asked = HashSet::new();
    while started.elapsed() < grace {
        let is_prey = Arc::clone(is_prey);
        let Ok(found) = spawn_blocking(move || find(&*is_prey)).await else {
            break;
        };
        if found.alive.is_empty() {
            return (asked, !found.corpses);
        }
        for id in found.alive.into_iter().map(ProcessId::from) {
            if asked.insert(id) {
                let _ = id.ask_to_end();
            }
        }
        sleep(PAUSE).await;
    }
    (asked, false)
}

fn find(is_prey: impl Fn(&Entry) -> bool) -> Found {
    let table = table::all();
    let running = children::running();
    let me = Pid::this().as_raw();
    let spared = |entry: &Entry| entry.pid == me || running.contains_key(&entry.pid);
    let mut found = Found::of(&table, spared, is_prey);
    found.corpses = reap_orphans(&table, spared);
    found
}

/// `NAME=VALUE` for a look-up in other processes.
fn is_marked(process: &Entry, name: &str, value: &str) -> bool {
    let environment = table::environment(process);
    table::value(&environment, OsStr::new(name).as_bytes()) == Some(value.as_bytes())
}

#[cfg(test)]
mod tests;
