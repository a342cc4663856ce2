//! How the ways out of roles with an `egress` are cut here.

use carson_config::Sandbox;
use carson_proc::sandbox::{Level, NetworkLevel, Ns, probe};

use super::Checked;
use crate::household::Household;

const KERNEL: &str = "a kernel that permits network namespaces, or has Landlock ABI 4 (Linux 6.7)";

pub(super) fn roles(house: &Household) -> Vec<Checked> {
    let mut limited = house.fleet.roles.values();
    let limited: Vec<_> = limited
        .by_ref()
        .filter(|role| role.egress.is_some())
        .collect();
    if limited.is_empty() {
        return Vec::new();
    }
    let level = probe();
    let check = |role: &&carson_config::Role| {
        let id = format!("role.{}.egress", role.name);
        cut(id, role.confinement.sandbox, &level)
    };
    limited.iter().map(check).collect()
}

/// What becomes of connections that do not ask the proxy.
fn cut(id: String, sandbox: Sandbox, level: &Level) -> Checked {
    if sandbox == Sandbox::Off {
        let found = "its sandbox is off: a program that does not ask the proxy gets out";
        return Checked::warning(id, found, "sandbox = \"best-effort\" in its role.toml");
    }
    if level.has(Ns::Net) {
        return Checked::ok(id, "a network of its own, with only the proxy in it");
    }
    if level.network == NetworkLevel::Ports {
        let found = "TCP to the proxy's port number only, on whichever host listens there";
        return Checked::warning(id, found, "allow network namespaces");
    }
    if sandbox == Sandbox::Required {
        let found = "nothing here cuts its connections, so its sessions will not start";
        return Checked::broken(id, found, KERNEL);
    }
    let found = "nothing here cuts its connections: a program that does not ask the proxy gets out";
    Checked::warning(id, found, KERNEL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Health;

    #[test]
    fn each_level_has_its_words() {
        let mut level = Level::default();
        let health = |sandbox, level: &Level| cut("x".into(), sandbox, level).health;
        assert_eq!(health(Sandbox::BestEffort, &level), Health::Warning);
        assert_eq!(health(Sandbox::Required, &level), Health::Broken);
        level.network = NetworkLevel::Ports;
        assert_eq!(health(Sandbox::Required, &level), Health::Warning);
        level.namespaces.push(Ns::Net);
        assert_eq!(health(Sandbox::Required, &level), Health::Ok);
        assert_eq!(health(Sandbox::Off, &level), Health::Warning);
    }
}
