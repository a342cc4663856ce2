//! What the walls that can be had depend on, as far as the kernel tells it: whoever keeps what was found out asks anew
//! where this is another text.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use crate::process_space::boot_id;
use crate::sandbox::probe::launcher;

/// Lines of `/proc/self/status` that say what we may do.
const RIGHTS: [&str; 6] = ["Uid", "Gid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp"];

/// What the kernel lets users do, and how many of which namespace.
const SETTINGS: [&str; 8] = [
    "kernel/unprivileged_userns_clone",
    "kernel/apparmor_restrict_unprivileged_userns",
    "user/max_user_namespaces",
    "user/max_mnt_namespaces",
    "user/max_pid_namespaces",
    "user/max_net_namespaces",
    "user/max_ipc_namespaces",
    "kernel/seccomp/actions_avail",
];

/// Our own rights, in one line: users and groups, capabilities, the namespace of users that they hold in. A service and its
/// operator's shell may differ in them, and so may a container that is given the same home.
#[must_use]
pub fn rights() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let namespace = fs::metadata("/proc/self/ns/user").map(|namespace| namespace.ino());
    let lines = status.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let value = value.split_whitespace().collect::<Vec<_>>().join(",");
        RIGHTS.contains(&name).then(|| format!("{name}={value}"))
    });
    let namespace = format!("userns={}", namespace.unwrap_or_default());
    lines.chain([namespace]).collect::<Vec<_>>().join(" ")
}

/// All that what [`probe`](super::probe()) says depends on: this boot of the kernel and what it lets users do, our rights and
/// groups, the launcher's file. `None` where the kernel does not say which boot this is.
#[must_use]
pub fn circumstances() -> Option<String> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let settings = SETTINGS.map(|name| read(&format!("/proc/sys/{name}")));
    let own = ["/proc/self/cgroup", "/proc/self/attr/current"].map(read);
    let launcher = launcher().canonicalize().ok()?;
    let file = launcher.metadata().ok()?;
    let written = (file.len(), file.mtime(), file.mtime_nsec());
    let file = format!("{} {written:?}", launcher.display());
    Some([boot_id()?, settings.concat(), rights(), own.concat(), file].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_told_in_one_line_and_stay_as_they_are() {
        let told = rights();
        assert_eq!(told.lines().count(), 1, "{told}");
        assert_eq!(rights(), told);
        if cfg!(target_os = "linux") {
            for name in RIGHTS {
                assert!(told.contains(&format!("{name}=")), "{name}: {told}");
            }
            let all = circumstances().unwrap();
            assert!(all.contains(&told), "{all}");
            assert_eq!(circumstances(), Some(all));
        }
    }
}
