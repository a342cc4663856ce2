//! Joining control groups without waiting for the whole machine.
//!
//! A process that is written to `cgroup.procs` waits until no thread anywhere is being made, which
//! takes a grace period of RCU: 5 to 15 ms on an idle machine. Two ways do not wait: version 1
//! takes the writing thread alone through `tasks` (`cgroup_procs_write_start` in the kernel's
//! `kernel/cgroup/cgroup.c`; the launcher has one thread), and version 2 takes a child as it is
//! born (`CLONE_INTO_CGROUP`, clone3(2), Linux 5.7).

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use nix::sched::CloneFlags;
use nix::unistd::Pid;

use crate::sandbox::sys;

/// The groups that the program is to be in.
#[derive(Debug, Default)]
pub(super) struct Membership {
    /// Version 2 has one hierarchy, and so one group; not joined by ourselves yet.
    unified: Option<PathBuf>,
}

impl Membership {
    /// Joins groups of version 1, and remembers the one of version 2 for whoever is born next.
    pub(super) fn of(groups: &[PathBuf]) -> Result<Self, String> {
        let mut membership = Self::default();
        for group in groups {
            let tasks = group.join("tasks");
            if tasks.exists() {
                fs::write(&tasks, "0")
                    .map_err(|error| format!("control group {tasks:?}: {error}"))?;
            } else {
                membership.unified = Some(group.clone());
            }
        }
        Ok(membership)
    }

    /// Forks into new namespaces, the child being a member; `None` in the child.
    ///
    /// Where the kernel or a filter does not know the call, both of us are members.
    pub(super) fn fork_into(&self, namespaces: CloneFlags) -> io::Result<Option<Pid>> {
        if let Some(group) = &self.unified {
            let born =
                File::open(group).and_then(|group| sys::fork_into_group(namespaces, group.as_fd()));
            if born.is_ok() {
                return born;
            }
            self.join().map_err(io::Error::other)?;
        }
        sys::fork_into(namespaces)
    }

    /// We ourselves become a member, and wait for it.
    pub(super) fn join(&self) -> Result<(), String> {
        let Some(group) = &self.unified else {
            return Ok(());
        };
        fs::write(group.join("cgroup.procs"), "0")
            .map_err(|error| format!("control group {group:?}: {error}"))
    }
}
