//! What the kernel can do for sessions, here and for this user.

use carson_config::Sandbox;
use carson_proc::sandbox::{Demand, Level, Network, Ns, Profile, probe};

use super::Checked;
use crate::household::Household;

const NAMESPACES: &str = "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, \
     user.max_user_namespaces above 0, and no AppArmor restriction of them";
const CGROUP: &str = "run the daemon where a cgroup is delegated: \
     systemd-run --user --scope -p Delegate=yes carson daemon, or Delegate=yes in its unit";

pub(super) fn machine() -> Vec<Checked> {
    let level = probe();
    vec![
        walls(&level),
        namespaces(&level),
        cgroup(&level),
        limits(&level),
    ]
}

fn walls(level: &Level) -> Checked {
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
        return Checked::ok("sandbox.level", found);
    }
    let remedy = "Linux 6.12 or newer has everything, with landlock in the list of \
                  /sys/kernel/security/lsm; until then choose who may file issues with care";
    if has.is_empty() {
        Checked::broken("sandbox.level", found, remedy)
    } else {
        Checked::warning("sandbox.level", found, remedy)
    }
}

fn namespaces(level: &Level) -> Checked {
    let wanted = [Ns::Pid, Ns::Mount, Ns::Ipc, Ns::Net];
    let names = |has: bool| -> Vec<String> {
        let some = wanted.iter().filter(|one| level.has(**one) == has);
        some.map(ToString::to_string).collect()
    };
    let id = "sandbox.namespaces";
    if cfg!(not(target_os = "linux")) {
        return Checked::ok(id, "this system has none");
    }
    let (has, lacks) = (names(true), names(false));
    if lacks.is_empty() {
        return Checked::ok(id, format!("this user may make: {}", has.join(", ")));
    }
    let found = format!("this user may not make: {}", lacks.join(", "));
    Checked::warning(id, found, NAMESPACES)
}

fn cgroup(level: &Level) -> Checked {
    let id = "sandbox.cgroup";
    if cfg!(not(target_os = "linux")) {
        return Checked::ok(id, "this system has none");
    }
    let found = format!("control group of a session: {}", level.cgroup);
    if level.cgroup.kill || level.cgroup.memory {
        Checked::ok(id, found)
    } else {
        Checked::warning(id, found, CGROUP)
    }
}

fn limits(level: &Level) -> Checked {
    let id = "sandbox.weaker";
    if level.weaker.is_empty() {
        return Checked::ok(id, "nothing is weaker than on a full kernel");
    }
    Checked::warning(
        id,
        level.weaker.join("; "),
        "docs/SECURITY.md says what each of these means",
    )
}

/// Roles that cannot have what they ask for.
pub(super) fn roles(house: &Household) -> Vec<Checked> {
    let required = |role: &&carson_config::Role| role.confinement.sandbox == Sandbox::Required;
    let mut all = Vec::new();
    for role in house.fleet.roles.values().filter(required) {
        let profile = Profile {
            demand: Demand::Required,
            network: Network::Open,
            ..Profile::default()
        };
        let id = format!("role.{}.sandbox", role.name);
        all.push(match probe().unmet(&profile) {
            None => Checked::ok(id, "the sandbox that it requires is there"),
            Some(missing) => {
                let found = format!("it requires a sandbox, and this machine lacks {missing}");
                Checked::broken(
                    id,
                    found,
                    "sandbox = \"best-effort\", or a kernel that has it",
                )
            }
        });
    }
    all
}
