//! What the kernel can do for sessions, here and for this user.

use carson_config::{Role, Sandbox};
use carson_proc::sandbox::{Demand, Network, Ns, Profile};

use crate::{Machine, Scene, Verdict};

pub(crate) async fn walls(machine: &Machine) -> Option<Verdict> {
    let level = machine.level();
    if let Some(said) = level.launcher_failed() {
        let found =
            format!("nobody knows: the program that puts the walls up does not answer ({said})");
        return Some(Verdict::error(found).mend(
            "install carson-launch beside carson anew, with the archive's install.sh, the package, or cargo xtask install",
        ));
    }
    let mut has = Vec::new();
    if level.landlock_abi > 0 {
        has.push(format!("Landlock ABI {}", level.landlock_abi));
    }
    if level.seccomp {
        has.push("seccomp".to_owned());
    }
    if level.seatbelt {
        has.push("sandbox-exec".to_owned());
    }
    let found = if has.is_empty() {
        "sessions are not confined by the kernel".to_owned()
    } else {
        format!("sessions are confined by {}", has.join(" and "))
    };
    if level.seatbelt || (level.landlock_abi >= 6 && level.seccomp) {
        return Some(Verdict::ok(found));
    }
    Some(match has.is_empty() {
        true => Verdict::error(found),
        false => Verdict::warning(found),
    })
}

pub(crate) async fn namespaces(machine: &Machine) -> Option<Verdict> {
    let level = machine.level();
    let wanted = [Ns::Pid, Ns::Mount, Ns::Ipc, Ns::Net];
    let names = |has: bool| -> Vec<String> {
        let some = wanted.iter().filter(|one| level.has(**one) == has);
        some.map(ToString::to_string).collect()
    };
    if level.launcher_failed().is_some() {
        return None;
    }
    if cfg!(not(target_os = "linux")) {
        return Some(Verdict::ok("this system has none"));
    }
    let (has, lacks) = (names(true), names(false));
    if lacks.is_empty() {
        return Some(Verdict::ok(format!(
            "this user may make: {}",
            has.join(", ")
        )));
    }
    let found = format!("this user may not make: {}", lacks.join(", "));
    Some(Verdict::warning(found))
}

pub(crate) async fn cgroup(machine: &Machine) -> Option<Verdict> {
    let level = machine.level();
    if cfg!(not(target_os = "linux")) {
        return Some(Verdict::ok("this system has none"));
    }
    let found = format!("control group of a session: {}", level.cgroup);
    Some(if level.cgroup.kill || level.cgroup.memory {
        Verdict::ok(found)
    } else {
        Verdict::warning(found)
    })
}

pub(crate) async fn weaker(machine: &Machine) -> Option<Verdict> {
    let weaker = &machine.level().weaker;
    Some(if weaker.is_empty() {
        Verdict::ok("nothing is weaker than on a full kernel")
    } else {
        Verdict::warning(weaker.join("; "))
    })
}

/// Of a role that cannot do without.
pub(crate) async fn required(scene: &Scene<'_>, role: &Role) -> Option<Verdict> {
    if role.confinement.sandbox != Sandbox::Required {
        return None;
    }
    let profile = Profile {
        demand: Demand::Required,
        network: Network::Open,
        ..Profile::default()
    };
    Some(match scene.machine.level().unmet(&profile) {
        None => Verdict::ok("the sandbox that it requires is there"),
        Some(missing) => Verdict::error(format!(
            "it requires a sandbox, and this machine lacks {missing}"
        )),
    })
}
