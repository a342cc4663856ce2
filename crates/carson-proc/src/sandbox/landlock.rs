//! Landlock: what may be opened, which ports may be connected to, who may be signalled.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
    path_beneath_rules,
};

use crate::sandbox::level::{Level, Ns};
use crate::sandbox::plan::Plan;
use crate::sandbox::profile::{Network, Profile};
use crate::sandbox::there::There;

/// The newest that we know the meaning of.
const KNOWN: u8 = 7;

/// Devices without a memory, and terminals: programs expect to write to these.
pub(super) const DEVICES: [&str; 7] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
];

/// What of `/proc` tells about the machine and not about other processes.
const MACHINE: [&str; 10] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/self",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
    "/proc/vmstat",
];

/// What is writable in mounts of our own, whatever is granted.
const SCRATCH: [&str; 2] = ["/dev/shm", "/tmp"];

/// Restricts us and our children for good, as far as this ABI goes.
pub(super) fn restrict(profile: &Profile, plan: &Plan, abi: u8, level: &mut Level) {
    let abi = abi.min(KNOWN);
    if abi == 0 {
        return;
    }
    match enforce(profile, plan, abi, level) {
        Ok(()) => level.landlock_abi = abi,
        Err(error) => level.weaken(format!("no Landlock: {error}")),
    }
}

fn enforce(profile: &Profile, plan: &Plan, abi: u8, level: &Level) -> Result<(), RulesetError> {
    let known = known(abi);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(known))?;
    let ports = ports(&profile.network).filter(|_| abi >= 4 && !level.has(Ns::Net));
    if ports.is_some() {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
    }
    if abi >= 6 {
        ruleset = ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    }
    let ports = ports.unwrap_or_default().into_iter();
    grant(ruleset.create()?, plan, known, level)?
        .add_rules(
            ports.map(|port| Ok::<_, RulesetError>(NetPort::new(port, AccessNet::ConnectTcp))),
        )?
        .restrict_self()?;
    Ok(())
}

fn grant(
    ruleset: RulesetCreated,
    plan: &Plan,
    abi: ABI,
    level: &Level,
) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(abi);
    let read = AccessFs::from_read(abi);
    let device: BitFlags<AccessFs> =
        (AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev) & all;
    let dev: Vec<&Path> = DEVICES.iter().map(Path::new).collect();
    // In our own namespaces these are our own.
    let scratch: &[&str] = if level.has(Ns::Mount) { &SCRATCH } else { &[] };
    let proc: &[&str] = if level.has(Ns::Pid) {
        &["/proc"]
    } else {
        &MACHINE
    };
    // In a root of our own there is nothing to list but what is granted, and the way to it.
    let root: &[&str] = if level.has(Ns::Mount) { &["/"] } else { &[] };
    ruleset
        .add_rules(path_beneath_rules(root, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(scratch, all))?
        .add_rules(held(&plan.read, read, abi))?
        .add_rules(held(&plan.write, all, abi))?
        .add_rules(path_beneath_rules(dev, device))?
        .add_rules(path_beneath_rules(["/dev/pts"], device | (read & all)))?
        .add_rules(path_beneath_rules(["/dev/fd"], read))?
        .add_rules(path_beneath_rules(proc, read))
}

/// Rules about what is at these paths, which have no links.
fn held(
    paths: &[PathBuf],
    access: BitFlags<AccessFs>,
    abi: ABI,
) -> impl Iterator<Item = Result<PathBeneath<OwnedFd>, RulesetError>> {
    let found = paths.iter().filter_map(|path| There::open(path).ok());
    found.map(move |there| {
        // What only directories know is no right of a file.
        let of_file = access & AccessFs::from_file(abi);
        let access = if there.is_dir { access } else { of_file };
        Ok(PathBeneath::new(there.fd, access))
    })
}

/// The ports that stay open; `None` for all.
fn ports(network: &Network) -> Option<Vec<u16>> {
    match network {
        Network::Open | Network::Shared => None,
        Network::Ports(ports) => Some(ports.clone()),
        Network::Nobody => Some(Vec::new()),
        Network::Isolated { proxy, .. } => Some(vec![*proxy]),
    }
}

fn known(abi: u8) -> ABI {
    match abi {
        0 => ABI::Unsupported,
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6 => ABI::V6,
        _ => ABI::V7,
    }
}
