//! A control group for each confined run: bounds for the whole tree, and a way to end all of it at
//! once that nobody gets out of.
//!
//! Made, emptied and removed by whoever runs the tree, which outlives it; the launcher only joins.
//! The group lies beneath our own one. Version 2 kills; its limits need a subtree that the service
//! manager has delegated to us (`Delegate=yes`), whose own processes are moved to a group beside
//! ours first, because a group with limited children may have none. systemd from 254 on starts a
//! daemon in that group already (`DelegateSubgroup=`): see [`take_over_group`]. Where the limits are
//! those of version 1, as on a hybrid machine, groups there are made too.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tracing::{debug, warn};

use crate::process_id::ProcessId;
use crate::process_space;
use crate::sandbox::level::CgroupLevel;
use crate::sandbox::profile::Resources;

/// All our groups begin so; then comes who made them, and in which namespace of processes: a group
/// is to be seen from all of them, its maker's number means something in its own alone.
static PREFIX: LazyLock<String> = LazyLock::new(|| {
    let namespace = process_space::namespace().unwrap_or_default();
    format!("carson-{namespace}.")
});

/// Where we ourselves are, beside the groups that we make.
const MAIN: &str = "carson-main";

/// Looks at who is in a group that is to be empty: whoever is born meanwhile is born there.
const ROUNDS: usize = 20;

/// For the killed to be gone.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(1);

/// The groups of one run. Dropping them kills who is left and removes them.
#[derive(Debug)]
pub(crate) struct Cgroup {
    dirs: Vec<PathBuf>,
}

impl Cgroup {
    /// Makes what can be made; `None` if that is nothing. The name is that of the run's marker.
    pub(crate) fn make(name: &str, resources: &Resources) -> Option<Self> {
        let dirs: Vec<PathBuf> = parents(resources)
            .into_iter()
            .map(|parent| parent.join(format!("{}{name}", *PREFIX)))
            .filter(|dir| fs::create_dir(dir).is_ok())
            .collect();
        let made = Self { dirs };
        made.limit(resources);
        (!made.dirs.is_empty()).then_some(made)
    }

    /// What the launcher joins.
    pub(crate) fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// What it can do.
    pub(crate) fn level(&self) -> CgroupLevel {
        level_of(&self.dirs)
    }

    fn limit(&self, resources: &Resources) {
        let bytes = resources
            .of_the_tree()
            .map(|mb| mb.saturating_mul(1024 * 1024).to_string());
        // The launcher may be in it too, and the first process of the namespace is.
        let processes = resources
            .processes
            .map(|processes| processes.saturating_add(2).to_string());
        let no_swap = bytes.is_some().then(|| "0".to_owned());
        for (file, bound) in [
            ("pids.max", processes),
            ("memory.max", bytes.clone()),
            ("memory.swap.max", no_swap),
            ("memory.limit_in_bytes", bytes.clone()),
            ("memory.memsw.limit_in_bytes", bytes),
        ] {
            let Some(bound) = bound else { continue };
            for path in self.dirs.iter().map(|dir| dir.join(file)) {
                if path.exists()
                    && let Err(error) = fs::write(&path, &bound)
                {
                    warn!(?path, %error, "a bound of a control group cannot be set");
                }
            }
        }
    }

    /// How many of its processes the kernel has ended because the memory of the group was used up.
    pub(crate) fn out_of_memory(&self) -> u32 {
        let files = ["memory.events", "memory.oom_control"];
        let paths = self
            .dirs
            .iter()
            .flat_map(|dir| files.map(|file| dir.join(file)));
        paths
            .filter_map(|path| ended_for_memory(&fs::read_to_string(path).ok()?))
            .sum()
    }

    /// Kills everybody in it; how many there were. They are gone when this comes back.
    pub(crate) fn kill(&self) -> usize {
        let until = Instant::now() + PATIENCE;
        let mut killed = 0;
        loop {
            let members = self.members();
            killed = killed.max(members.len());
            if members.is_empty() {
                return killed;
            }
            if Instant::now() > until {
                warn!(?members, "processes of a control group survive SIGKILL");
                return killed;
            }
            self.strike(&members);
            std::thread::sleep(PAUSE);
        }
    }

    /// With version 2 at once, else nobody new from now on and then one by one.
    fn strike(&self, members: &[i32]) {
        let mut dirs = self.dirs.iter();
        if dirs.any(|dir| fs::write(dir.join("cgroup.kill"), "1").is_ok()) {
            return;
        }
        for dir in &self.dirs {
            let _ = fs::write(dir.join("pids.max"), "0");
        }
        for pid in members {
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
    }

    fn members(&self) -> Vec<i32> {
        let mut members: Vec<i32> = Vec::new();
        for dir in &self.dirs {
            let text = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
            members.extend(text.lines().filter_map(|line| line.parse::<i32>().ok()));
        }
        members.sort_unstable();
        members.dedup();
        // One that is not to be seen from here has the number 0.
        members.retain(|pid| *pid > 0);
        members
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.kill();
        let until = Instant::now() + PATIENCE;
        for dir in &self.dirs {
            // The kernel needs a moment after the last one has gone.
            while let Err(error) = fs::remove_dir(dir) {
                if error.kind() == std::io::ErrorKind::NotFound {
                    break;
                }
                if Instant::now() > until {
                    debug!(?dir, %error, "a control group cannot be removed");
                    break;
                }
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// The line `oom_kill NUMBER` of what a group tells of its memory.
fn ended_for_memory(told: &str) -> Option<u32> {
    let line = told
        .lines()
        .find_map(|line| line.strip_prefix("oom_kill "))?;
    line.trim().parse().ok()
}

/// What groups can do, by the files that they have.
pub(super) fn level_of(dirs: &[PathBuf]) -> CgroupLevel {
    let has = |file: &str| dirs.iter().any(|dir| dir.join(file).exists());
    CgroupLevel {
        kill: has("cgroup.kill"),
        pids: has("pids.max"),
        memory: has("memory.max") || has("memory.limit_in_bytes"),
    }
}

/// What can be had here, by making one and removing it.
pub(super) fn probe() -> CgroupLevel {
    let resources = Resources {
        processes: Some(1),
        memory_mb: Some(1),
        ..Resources::default()
    };
    let me = ProcessId::current();
    let name = format!("{}.{}.probe", me.pid, me.start);
    Cgroup::make(&name, &resources).map_or_else(CgroupLevel::default, |made| made.level())
}

/// Ends and removes the groups of runs whose owner is dead.
pub(crate) fn remove_stale() {
    let all = Resources {
        processes: Some(1),
        memory_mb: Some(1),
        ..Resources::default()
    };
    for parent in parents(&all) {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        let dirs = entries
            .filter(is_ours)
            .filter(|entry| owner(entry).is_some_and(|owner| !owner.is_alive()));
        dirs.for_each(|entry| {
            drop(Cgroup {
                dirs: vec![entry.path()],
            });
        });
    }
}

/// Another user's group we can neither empty nor remove; waiting for that costs seconds.
fn is_ours(entry: &fs::DirEntry) -> bool {
    let me = nix::unistd::geteuid();
    me.is_root() || entry.metadata().is_ok_and(|it| it.uid() == me.as_raw())
}

/// `carson-NAMESPACE.PID.START.NUMBER`; nobody for groups of other namespaces.
fn owner(entry: &fs::DirEntry) -> Option<ProcessId> {
    let name = entry.file_name();
    let mut numbers = name.to_str()?.strip_prefix(PREFIX.as_str())?.split('.');
    Some(ProcessId {
        pid: numbers.next()?.parse().ok()?,
        start: numbers.next()?.parse().ok()?,
    })
}

/// The groups beneath which we can make ours. Those with version 1 only if they are needed: they
/// cost a system call each.
///
/// What was found is good for as long as we are in the same groups, and for who needs the same.
fn parents(resources: &Resources) -> Vec<PathBuf> {
    let Ok(own) = fs::read_to_string("/proc/self/cgroup") else {
        return Vec::new();
    };
    let needs = Needs {
        processes: resources.processes.is_some(),
        memory: resources.of_the_tree().is_some(),
    };
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if found.own != own {
        *found = Found {
            own,
            parents: BTreeMap::new(),
        };
    }
    let Found { own, parents } = &mut *found;
    let parents = parents.entry(needs).or_insert_with(|| needs.parents(own));
    parents.clone()
}

/// The limits that a run is to have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Needs {
    processes: bool,
    memory: bool,
}

/// What was found last.
struct Found {
    /// The groups that we are in, as the kernel tells them.
    own: String,
    parents: BTreeMap<Needs, Vec<PathBuf>>,
}

static FOUND: Mutex<Found> = Mutex::new(Found {
    own: String::new(),
    parents: BTreeMap::new(),
});

impl Needs {
    fn parents(self, own: &str) -> Vec<PathBuf> {
        let mut parents: Vec<PathBuf> = unified_group(own).map(delegated).into_iter().collect();
        let bounded = |file: &str| parents.iter().any(|group| enables(group, file));
        let (pids, memory) = (bounded("pids"), bounded("memory"));
        if !pids && (self.processes || parents.is_empty()) {
            parents.extend(own_group(Path::new("/sys/fs/cgroup/pids"), own, "pids"));
        }
        if !memory && self.memory {
            parents.extend(own_group(Path::new("/sys/fs/cgroup/memory"), own, "memory"));
        }
        parents
    }
}

/// Our own group of version 2.
fn unified_group(own: &str) -> Option<PathBuf> {
    let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
    let mount = mounts
        .into_iter()
        .find(|mount| mount.join("cgroup.procs").exists())?;
    own_group(mount, own, "")
}

/// `NUMBER:CONTROLLERS:PATH`; version 2 has none.
fn own_group(mount: &Path, own: &str, controller: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let named = controllers.split(',').any(|one| one == controller);
        named.then(|| path.trim_start_matches('/').to_owned())
    })?;
    let group = mount.join(path);
    group.join("cgroup.procs").exists().then_some(group)
}

fn enables(group: &Path, controller: &str) -> bool {
    listed(&group.join("cgroup.subtree_control"), controller)
}

fn listed(file: &Path, controller: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().any(|one| one == controller)
}

/// Turns on limits for what is made beneath the group that the service manager has delegated to us. For a process that it has just
/// started, before anybody else is born: where systemd puts such a process into [`MAIN`] itself, nobody has done it yet.
pub fn take_over_group() {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    if let Some(own) = unified_group(&own) {
        let group = beside(&own).unwrap_or(&own);
        limit_children(group);
    }
}

/// The group beneath which ours are made; with limits for its children, if it is ours to say so.
///
/// Who is in [`MAIN`] turns none on. A firing is there while no daemon runs, and a systemd before 254 could start none in a
/// group whose children are limited.
fn delegated(own: PathBuf) -> PathBuf {
    if let Some(group) = beside(&own) {
        return group.to_owned();
    }
    limit_children(&own);
    own
}

/// Where groups are made for who is in [`MAIN`].
fn beside(own: &Path) -> Option<&Path> {
    let is_main = own.file_name().is_some_and(|name| name == MAIN);
    own.parent().filter(|_| is_main)
}

fn limit_children(own: &Path) {
    let wanted = ["pids", "memory"];
    let available = |one: &&str| listed(&own.join("cgroup.controllers"), one);
    let missing: Vec<&str> = wanted
        .into_iter()
        .filter(available)
        .filter(|one| !enables(own, one))
        .collect();
    if missing.is_empty() || !(super::sys::is_delegated(own) || is_ours_alone(own)) {
        return;
    }
    move_over(own);
    for one in missing {
        if let Err(error) = fs::write(own.join("cgroup.subtree_control"), format!("+{one}")) {
            warn!(controller = one, %error, "a delegated controller cannot be used");
        }
    }
}

/// Whether a group was given to us and holds nobody but our own program. The systemd of a user does not write down which groups
/// it has delegated (252), and all of them are that user's; who else is in one, such as the shell of a terminal, stays where it is.
fn is_ours_alone(group: &Path) -> bool {
    let me = nix::unistd::geteuid();
    let is_mine = fs::metadata(group).is_ok_and(|group| group.uid() == me.as_raw());
    if me.is_root() || !is_mine {
        return false;
    }
    let program = |pid: &str| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let ours = program("self");
    let procs = fs::read_to_string(group.join("cgroup.procs"));
    ours.is_some() && procs.is_ok_and(|procs| procs.lines().all(|pid| program(pid) == ours))
}

/// Moves everybody in a group that was delegated to us, which is us and ours, to one beneath.
fn move_over(own: &Path) {
    let main = own.join(MAIN);
    let _ = fs::create_dir(&main);
    for _ in 0..ROUNDS {
        let procs = fs::read_to_string(own.join("cgroup.procs")).unwrap_or_default();
        if procs.is_empty() {
            return;
        }
        for pid in procs.lines() {
            let _ = fs::write(main.join("cgroup.procs"), pid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "8:pids:/\n4:memory:/a/b\n3:cpu,cpuacct:/\n0::/x\n";

    #[test]
    fn our_own_group_is_found_by_its_controller() {
        let dir = tempfile::tempdir().unwrap();
        for group in ["", "a/b", "x"] {
            fs::create_dir_all(dir.path().join(group)).unwrap();
            fs::write(dir.path().join(group).join("cgroup.procs"), "").unwrap();
        }
        let found = |controller| own_group(dir.path(), HYBRID, controller);
        assert_eq!(found("memory"), Some(dir.path().join("a/b")));
        assert_eq!(found(""), Some(dir.path().join("x")));
        assert_eq!(found("pids"), Some(dir.path().join("")));
        assert_eq!(found("cpu"), Some(dir.path().join("")));
        assert_eq!(found("io"), None);
    }

    #[test]
    fn who_was_ended_for_memory_is_counted_in_both_versions() {
        let told = "low 0\nhigh 0\nmax 78\noom 3\noom_kill 2\noom_group_kill 0\n";
        assert_eq!(ended_for_memory(told), Some(2));
        let told = "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n";
        assert_eq!(ended_for_memory(told), Some(1));
        assert_eq!(ended_for_memory(""), None);
    }

    /// The owner of a directory of this name.
    fn owner_of(name: &str) -> Option<ProcessId> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(name)).unwrap();
        let entry = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap();
        owner(&entry)
    }

    #[test]
    fn a_group_has_an_owner_in_its_own_namespace_alone() {
        let of = |pid, start| Some(ProcessId { pid, start });
        assert_eq!(owner_of(&format!("{}7.80.3", *PREFIX)), of(7, 80));
        assert_eq!(owner_of("carson-1.7.80.3"), None);
        assert_eq!(owner_of("carson-7.80.3"), None);
        assert_eq!(owner_of(MAIN), None);
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a process to be killed, outside of any run"
    )]
    fn everybody_in_it_is_killed_and_it_is_gone() {
        let me = ProcessId::current();
        let name = format!("{}.{}.test", me.pid, me.start);
        let Some(cgroup) = Cgroup::make(&name, &Resources::default()) else {
            assert_eq!(probe(), CgroupLevel::default(), "nothing can be made here");
            return;
        };
        let dirs = cgroup.dirs().to_vec();
        let mut child = std::process::Command::new("/bin/sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        for dir in &dirs {
            fs::write(dir.join("cgroup.procs"), child.id().to_string()).unwrap();
        }
        assert_eq!(cgroup.kill(), 1);
        assert!(!child.wait().unwrap().success());
        drop(cgroup);
        assert!(dirs.iter().all(|dir| !dir.exists()));
    }
}
