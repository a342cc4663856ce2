//! How the ways out of roles with an `egress` are cut here.

use carson_config::{Role, Sandbox};
use carson_proc::sandbox::{Level, NetworkLevel, Ns};

use super::{Scene, Verdict};

pub(super) async fn cut(scene: &Scene<'_>, role: &Role) -> Option<Verdict> {
    role.egress.as_ref()?;
    Some(how(role.confinement.sandbox, scene.machine.level()))
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
        return Verdict::broken(found);
    }
    let found = "nothing here cuts its connections: a program that does not ask the proxy gets out";
    Verdict::warning(found)
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn each_level_has_its_words() {
        let mut level = Level::default();
        let health = |sandbox, level: &Level| how(sandbox, level).health;
        assert_eq!(health(Sandbox::BestEffort, &level), Health::Warning);
        assert_eq!(health(Sandbox::Required, &level), Health::Broken);
        level.network = NetworkLevel::Ports;
        assert_eq!(health(Sandbox::Required, &level), Health::Warning);
        level.namespaces.push(Ns::Net);
        assert_eq!(health(Sandbox::Required, &level), Health::Ok);
        assert_eq!(health(Sandbox::Off, &level), Health::Warning);
    }
}
