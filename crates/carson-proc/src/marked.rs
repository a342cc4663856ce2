//! Ends what a dead firing left behind.

use std::collections::HashSet;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::{Instant, sleep};

use crate::children;
use crate::hunt::{Found, Hunt, reap_orphans};
use crate::marker::is_marked;
use crate::process_id::ProcessId;
use crate::sandbox::cgroup;
use crate::table::{self, Entry};

/// Time between two looks at who has obeyed SIGTERM.
const PAUSE: Duration = Duration::from_millis(20);

/// Ends every process that was started with `NAME=VALUE` in its environment, and all their
/// descendants, but never ourselves nor our own running children: SIGTERM, `grace`, then SIGKILL
/// until a whole pass finds none, for at most five seconds. Returns how many there were.
pub async fn reap_marked(name: &str, value: &str, grace: Duration) -> u32 {
    let mut seen = ask(name, value, grace).await;
    seen.extend(Hunt::new().run(|| look(name, value)).await);
    // Their owner died with them, and could not remove them.
    cgroup::remove_stale();
    u32::try_from(seen.len()).unwrap_or(u32::MAX)
}

/// Asks politely until nobody is left or the time is up.
async fn ask(name: &str, value: &str, grace: Duration) -> HashSet<ProcessId> {
    let started = Instant::now();
    let mut asked = HashSet::new();
    while started.elapsed() < grace {
        let found = look(name, value);
        if found.alive.is_empty() {
            break;
        }
        for id in found.alive.into_iter().map(ProcessId::from) {
            if asked.insert(id) && id.is_alive() {
                let _ = kill(Pid::from_raw(id.pid), Signal::SIGTERM);
            }
        }
        sleep(PAUSE).await;
    }
    asked
}

fn look(name: &str, value: &str) -> Found {
    let table = table::all();
    let running = children::running();
    let me = Pid::this().as_raw();
    let spared = |entry: &Entry| entry.pid == me || running.contains_key(&entry.pid);
    let mut found = Found::of(&table, spared, |entry| is_marked(entry, name, value));
    found.corpses = reap_orphans(&table, spared);
    found
}

#[cfg(test)]
mod tests;
