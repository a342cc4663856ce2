//! Kills what a child left behind.

use std::collections::BTreeMap;

use nix::unistd::Pid;
use tracing::info;

use crate::children::{self, Registered};
use crate::group::Group;
use crate::kill_fast_forkers::kill_fast_forkers;
use crate::kill_until_none::{Found, KillUntilNone, reap_dead_orphans, reap_orphans};
use crate::limits::Limits;
use crate::marker::{Marker, Owner};
use crate::process_id::ProcessId;
use crate::sandbox::cgroup::Cgroup;
use crate::table::{self, Entry};

/// How far a tree reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The process group: who leaves it means to stay.
    Group,
    /// Everything that descends from the child.
    Descendants,
}

impl Reach {
    pub(crate) fn of(limits: &Limits) -> Self {
        if limits.sweep {
            Self::Descendants
        } else {
            Self::Group
        }
    }
}

/// A child and everything below it. Dropping it unswept kills it.
pub(crate) struct Tree {
    /// Nothing older than the child descends from it.
    root: ProcessId,
    marker: Marker,
    reach: Reach,
    /// The child still counts as ours.
    registered: Option<Registered>,
    swept: bool,
    /// Nobody gets out of it.
    cgroup: Option<Cgroup>,
}

impl Tree {
    pub(crate) fn new(registered: Registered, marker: Marker, reach: Reach) -> Self {
        Self {
            root: registered.0,
            marker,
            reach,
            registered: Some(registered),
            swept: false,
            cgroup: None,
        }
    }

    /// All of it is in a control group.
    pub(crate) fn within(mut self, cgroup: Option<Cgroup>) -> Self {
        self.cgroup = cgroup;
        self
    }

    pub(crate) fn group(&self) -> Group {
        Group(self.root.pid)
    }

    /// How many of it the kernel has ended for want of memory; to be asked before the sweep.
    pub(crate) fn out_of_memory(&self) -> u32 {
        self.cgroup.as_ref().map_or(0, Cgroup::out_of_memory)
    }

    /// After the child has been reaped: kills what is left of its tree; how many that were.
    pub(crate) async fn sweep(&mut self) -> u32 {
        // Of two runs that end at the same time, neither may leave an orphan to the other.
        self.registered = None;
        let at_once = self.cgroup.as_ref().map_or(0, Cgroup::kill);
        let killed = if self.reach == Reach::Group && self.group().is_empty() {
            reap_dead_orphans();
            at_once
        } else if children::none_are_left() {
            // A walk over the process table costs more than a small child does.
            at_once
        } else {
            at_once
                + KillUntilNone::new()
                    .run(|| self.find_processes())
                    .await
                    .len()
        };
        self.cgroup = None;
        self.swept = true;
        if killed > 0 {
            info!(
                pid = self.root.pid,
                processes = killed,
                "a child left processes behind"
            );
        }
        u32::try_from(killed).unwrap_or(u32::MAX)
    }

    fn find_processes(&self) -> Found {
        let youngest = table::youngest();
        let table = table::all();
        // Behind the table: see `children::spawn`.
        let running = children::running();
        let me = Pid::this().as_raw();
        let spared = |entry: &Entry| entry.pid == me || running.contains_key(&entry.pid);
        let mut found = Found::of(&table, spared, |entry| self.owns(entry, &running));
        found.corpses = reap_orphans(&table, spared);
        found.caught = kill_fast_forkers(youngest, |entry| {
            let running = children::running();
            let spared = entry.pid == me || running.contains_key(&entry.pid);
            !spared && self.owns(entry, &running)
        });
        found
    }

    fn owns(&self, entry: &Entry, running: &BTreeMap<i32, u64>) -> bool {
        if entry.start < self.root.start || entry.zombie {
            return false;
        }
        if entry.group == self.root.pid {
            return true;
        }
        if self.reach == Reach::Group {
            return false;
        }
        match self.marker.owner_of(entry) {
            Owner::This => true,
            Owner::Another => false,
            Owner::Unknown => is_orphan_of_nobody_else(entry, running),
        }
    }
}

/// An orphan without a marker is killed by the last run that can have started it.
fn is_orphan_of_nobody_else(entry: &Entry, running: &BTreeMap<i32, u64>) -> bool {
    entry.parent == Pid::this().as_raw()
        && children::are_orphans_ours()
        && running.values().all(|start| *start > entry.start)
}

impl Drop for Tree {
    fn drop(&mut self) {
        if !self.swept {
            self.registered = None;
            self.cgroup = None;
            KillUntilNone::new().run_blocking(|| self.find_processes());
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod linux_tests;
#[cfg(test)]
mod tests;
