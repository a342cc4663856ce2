//! What the walls that are up do not stop, in words.

use crate::sandbox::level::{Level, NetworkLevel, Ns, SHARED_NETWORK};
use crate::sandbox::profile::{Network, Profile};

/// Sets the network level and says what is weaker than on a full kernel.
pub(super) fn find_weaknesses(profile: &Profile, level: &mut Level) {
    level.network = network(profile, level);
    let weaker: Vec<&str> = GAPS
        .iter()
        .filter_map(|(open, what)| open(profile, level).then_some(*what))
        .collect();
    for what in weaker {
        level.weaken(what);
    }
}

fn network(profile: &Profile, level: &Level) -> NetworkLevel {
    let ports = level.landlock_abi >= 4;
    match profile.network {
        _ if level.has(Ns::Net) => NetworkLevel::Isolated,
        Network::Open | Network::Shared => NetworkLevel::Open,
        // What is not TCP is closed by seccomp alone.
        _ if !level.seccomp => NetworkLevel::Open,
        Network::Ports(_) | Network::Nobody if ports => NetworkLevel::Ports,
        Network::Isolated { .. } if ports => NetworkLevel::ProxyPort,
        _ => NetworkLevel::TcpOnly,
    }
}

type Gap = (fn(&Profile, &Level) -> bool, &'static str);

const GAPS: [Gap; 17] = [
    (
        |_, level| level.landlock_abi == 0 && level.has(Ns::Mount),
        "no Landlock: what is granted is limited by mounts alone",
    ),
    (
        |_, level| level.landlock_abi == 0 && !level.has(Ns::Mount),
        "no Landlock and no mounts of its own: it reads and writes whatever its user may",
    ),
    (
        |_, level| level.landlock_abi == 1,
        "Landlock ABI 1: files cannot be moved between directories",
    ),
    (
        |_, level| (1..3).contains(&level.landlock_abi) && !level.has(Ns::Mount),
        "Landlock before ABI 3: files outside can be truncated",
    ),
    (
        |_, level| !level.has(Ns::Mount),
        "no mounts of its own: files outside can be seen by stat and changed by chmod",
    ),
    (
        |profile, level| !level.has(Ns::Mount) && !profile.hide.is_empty(),
        "no mounts of its own: what is hidden beneath something granted can be read",
    ),
    (
        |_, level| !level.has(Ns::Mount) && level.seccomp,
        "no mounts of its own: it has no unix sockets at all",
    ),
    (
        |_, level| !level.has(Ns::Mount) && !level.seccomp,
        "sockets of the machine, such as those of docker and ssh-agent, can be reached",
    ),
    (
        |_, level| level.landlock_abi < 6 && !level.has(Ns::Net) && level.has(Ns::Mount),
        "Landlock before ABI 6: abstract unix sockets of the machine can be reached",
    ),
    (
        |_, level| level.landlock_abi < 6 && !level.has(Ns::Pid),
        "Landlock before ABI 6: processes of the same user outside can be signalled",
    ),
    (
        |_, level| !level.has(Ns::Pid),
        "no process namespace: who is left at its end is looked for one by one",
    ),
    (
        |_, level| !level.has(Ns::Pid) && level.landlock_abi == 0,
        "processes of the same user outside can be read, with their environment",
    ),
    (
        |_, level| !level.seccomp,
        "no seccomp: system calls are not filtered",
    ),
    (
        |profile, level| match profile.network {
            Network::Open | Network::Shared => false,
            _ => matches!(level.network, NetworkLevel::Open | NetworkLevel::TcpOnly),
        },
        "the network is not limited to what was asked for",
    ),
    (
        |profile, level| profile.network == Network::Shared && !level.has(Ns::Net),
        SHARED_NETWORK,
    ),
    (
        |profile, level| {
            profile.resources.processes.is_some() && !level.cgroup.pids && !level.has(Ns::User)
        },
        "no control group: the number of processes is not bounded",
    ),
    (
        |profile, level| profile.resources.memory_mb.is_some() && !level.cgroup.memory,
        "no control group: memory is bounded for each process only",
    ),
];
