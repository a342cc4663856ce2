//! Landlock: what may be opened, which ports may be connected to, who may be signalled.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};

use crate::sandbox::level::Level;
use crate::sandbox::profile::{Network, Profile};

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

/// Restricts us and our children for good.
pub(super) fn restrict(profile: &Profile, abi: u8, level: &mut Level) -> Result<(), String> {
    let abi = abi.min(KNOWN);
    level.landlock_abi = abi;
    explain(abi, level);
    if abi == 0 {
        return Ok(());
    }
    enforce(profile, abi).map_err(|error| format!("Landlock: {error}"))
}

fn enforce(profile: &Profile, abi: u8) -> Result<(), RulesetError> {
    let known = known(abi);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(known))?;
    let ports = ports(&profile.network).filter(|_| abi >= 4);
    if ports.is_some() {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
    }
    if abi >= 6 {
        ruleset = ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    }
    let ports = ports.unwrap_or_default().into_iter();
    grant(ruleset.create()?, profile, known)?
        .add_rules(
            ports.map(|port| Ok::<_, RulesetError>(NetPort::new(port, AccessNet::ConnectTcp))),
        )?
        .restrict_self()?;
    Ok(())
}

fn grant(
    ruleset: RulesetCreated,
    profile: &Profile,
    abi: ABI,
) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(abi);
    let read = AccessFs::from_read(abi);
    let device: BitFlags<AccessFs> =
        (AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev) & all;
    let dev: Vec<&Path> = DEVICES.iter().map(Path::new).collect();
    let machine: Vec<PathBuf> = MACHINE.iter().map(PathBuf::from).collect();
    ruleset
        .add_rules(path_beneath_rules(&profile.read, read))?
        .add_rules(path_beneath_rules(&profile.write, all))?
        .add_rules(path_beneath_rules(dev, device))?
        .add_rules(path_beneath_rules(["/dev/pts"], device | (read & all)))?
        .add_rules(path_beneath_rules(["/dev/fd"], read))?
        .add_rules(path_beneath_rules(machine, read))
}

/// The ports that stay open; `None` for all.
fn ports(network: &Network) -> Option<Vec<u16>> {
    match network {
        Network::Open => None,
        Network::Ports(ports) => Some(ports.clone()),
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

/// Says what an older kernel leaves open.
fn explain(abi: u8, level: &mut Level) {
    if abi == 0 {
        level
            .weaker
            .push("no Landlock: files are not limited to what is granted".into());
        return;
    }
    if abi < 2 {
        level
            .weaker
            .push("Landlock ABI 1: files cannot be moved between directories".into());
    }
}
