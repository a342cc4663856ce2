//! How the ways out of a role's sessions are cut here.

use carson_config::{NetworkUse, Role, Sandbox};
use carson_proc::sandbox::{Level, NetworkLevel, Ns};

use crate::{Scene, Verdict};

pub(crate) async fn cut(scene: &Scene<'_>, role: &Role) -> Option<Verdict> {
    let confinement = &role.confinement;
    match (&role.egress, confinement.network) {
        (Some(_), _) => Some(how(confinement.sandbox, &scene.machine.level())),
        (None, NetworkUse::Host) => Some(host()),
        // However it is, it stops no firing, and none waits to hear it.
        (None, NetworkUse::Own) if scene.firing.is_some() => Some(Verdict::ok("it has no list")),
        (None, NetworkUse::Own) => shared(confinement.sandbox, &scene.machine.level()),
    }
}

/// Of a role that asks for this machine's network.
fn host() -> Verdict {
    let found = "network = \"host\": its sessions reach this machine's own ports and its \
                 metadata service";
    Verdict::warning(found).mend("leave `network` out of its role.toml")
}

/// Of a role without a list: its sessions should have a network of their own.
fn shared(sandbox: Sandbox, level: &Level) -> Option<Verdict> {
    // What it means that there is no sandbox is said elsewhere.
    if sandbox == Sandbox::Off || level.has(Ns::Net) {
        return None;
    }
    let found = "no network of its own: its sessions reach this machine's own ports and its \
                 metadata service";
    Some(Verdict::warning(found).mend("allow network namespaces, or name `egress`"))
}

/// What becomes of connections that do not ask the proxy.
fn how(sandbox: Sandbox, level: &Level) -> Verdict {
    if sandbox == Sandbox::Off {
        let found = "its sandbox is off: a program that does not ask the proxy gets out";
        return Verdict::warning(found).mend("sandbox = \"best-effort\" in its role.toml");
    }
    if level.has(Ns::Net) {
        return Verdict::ok("a network of its own, with only the proxy in it");
    }
    if level.network == NetworkLevel::Ports {
        let found = "TCP to the proxy's port number only, on whichever host listens there";
        return Verdict::warning(found).mend("allow network namespaces");
    }
    if sandbox == Sandbox::Required {
        let found = "nothing here cuts its connections, so its sessions will not start";
        return Verdict::error(found);
    }
    let found = "nothing here cuts its connections: a program that does not ask the proxy gets out";
    Verdict::warning(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Health;

    #[test]
    fn each_level_has_its_words() {
        let mut level = Level::default();
        let health = |sandbox, level: &Level| how(sandbox, level).health;
        assert_eq!(health(Sandbox::BestEffort, &level), Health::Warning);
        assert_eq!(health(Sandbox::Required, &level), Health::Error);
        level.network = NetworkLevel::Ports;
        assert_eq!(health(Sandbox::Required, &level), Health::Warning);
        level.namespaces.push(Ns::Net);
        assert_eq!(health(Sandbox::Required, &level), Health::Ok);
        assert_eq!(health(Sandbox::Off, &level), Health::Warning);
    }

    #[test]
    fn without_a_list_it_is_said_where_the_network_is_shared() {
        let mut level = Level::default();
        let health = |level: &Level| shared(Sandbox::BestEffort, level).map(|it| it.health);
        assert_eq!(health(&level), Some(Health::Warning));
        level.namespaces.push(Ns::Net);
        assert_eq!(health(&level), None);
        assert_eq!(host().health, Health::Warning);
    }
}
