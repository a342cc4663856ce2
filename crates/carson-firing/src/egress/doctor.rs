//! What `carson doctor` says of the ways out, and of keys that sessions can read.

use carson_config::{Account, EngineKind, Fleet, Sandbox};
use carson_proc::sandbox::{Level, NetworkLevel, Ns};

/// One line of a doctor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether it is as it should be.
    pub good: bool,
    /// What was found.
    pub text: String,
    /// What the operator can do; empty when nothing is to be done.
    pub hint: &'static str,
}

/// Looks at the roles and accounts of a fleet on a machine that reaches this level
/// ([`carson_proc::sandbox::probe`]).
#[must_use]
pub fn examine(fleet: &Fleet, level: &Level) -> Vec<Finding> {
    let limited = fleet.roles.values().filter(|role| role.egress.is_some());
    let mut found: Vec<Finding> = limited
        .map(|role| {
            let (good, how, hint) = cut(role.confinement.sandbox, level);
            Finding {
                good,
                text: format!("egress of role {}: {how}", role.name),
                hint,
            }
        })
        .collect();
    found.extend(fleet.accounts.values().filter_map(sign_in));
    found
}

/// How everything that does not ask the proxy is cut.
fn cut(sandbox: Sandbox, level: &Level) -> (bool, &'static str, &'static str) {
    if sandbox == Sandbox::Off {
        let hint = "sandbox = \"best-effort\" in its role.toml";
        return (false, "only asked for: its sandbox is off", hint);
    }
    if level.has(Ns::Net) {
        return (true, "a network of its own, with only the proxy in it", "");
    }
    if level.network == NetworkLevel::Ports {
        let how = "TCP to the proxy's port number only, which another host could listen on too";
        return (
            true,
            how,
            "permit network namespaces for a network of its own",
        );
    }
    let hint = "a kernel with Landlock ABI 4 (6.7), or one that permits network namespaces";
    match sandbox {
        Sandbox::Required => (
            false,
            "its sessions will not start: nothing here cuts it",
            hint,
        ),
        _ => (
            false,
            "only asked for: nothing here cuts a program that does not ask",
            hint,
        ),
    }
}

/// Who can read what an account signs in with.
fn sign_in(account: &Account) -> Option<Finding> {
    let name = &account.name;
    if let Some(key) = &account.key {
        let file = key.file.display();
        return Some(Finding {
            good: true,
            text: format!("account {name}: its key in {file} is not seen by its sessions"),
            hint: "",
        });
    }
    let readable = account.engine == EngineKind::Claude && !account.env.is_empty();
    let names: Vec<&str> = account.env.keys().map(String::as_str).collect();
    readable.then(|| Finding {
        // A subscription can be used in no other way.
        good: true,
        text: format!(
            "account {name}: its sessions can read its sign-in ({})",
            names.join(", ")
        ),
        hint: "key_file keeps an API key from them; a subscription's sign-in cannot be kept",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_its_words() {
        let mut level = Level::default();
        assert!(!cut(Sandbox::BestEffort, &level).0);
        assert!(cut(Sandbox::Required, &level).1.contains("will not start"));
        level.network = NetworkLevel::Ports;
        assert!(cut(Sandbox::Required, &level).1.contains("port number"));
        level.namespaces.push(Ns::Net);
        assert_eq!(cut(Sandbox::Required, &level).2, "");
        assert!(!cut(Sandbox::Off, &level).0);
    }
}
