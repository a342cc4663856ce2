//! How a role's sessions are confined, and what is wrong with what a role says about it.

use std::path::{Path, PathBuf};

use crate::check::Check;
use crate::choices::{NetworkUse, Push, Sandbox};
use crate::credentials::CREDENTIALS;
use crate::families::{family, wrong_pattern};
use crate::paths::Paths;
use crate::role_file::RoleFile;

/// The confinement of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Whether the kernel must confine its sessions.
    pub sandbox: Sandbox,
    /// Whose network its sessions are in.
    pub network: NetworkUse,
    /// Who pushes.
    pub push: Push,
    /// Variables of the operator's that its sessions see: names, or beginnings with a `*`.
    pub pass: Vec<String>,
    /// Paths that its sessions may read beside what every session may.
    pub read: Vec<PathBuf>,
    /// Paths that its sessions may write beside their bench.
    pub write: Vec<PathBuf>,
}

impl Confinement {
    /// Whether a session could push: it is handed what that takes, or no kernel keeps it from the operator's.
    #[must_use]
    pub fn may_push(&self) -> bool {
        self.push == Push::Agent || self.sandbox == Sandbox::Off
    }
}

/// What a role says about its confinement.
pub(crate) fn confinement(raw: &RoleFile, at: &Paths<'_>, check: &mut Check<'_>) -> Confinement {
    if raw.sandbox == Sandbox::Off {
        let hint = "sandbox = \"best-effort\", unless the machine itself is thrown away";
        let warning = "nothing but the hook stands between its sessions and your files";
        check.warning("sandbox", warning, hint);
        if raw.egress.is_some() {
            let warning = "without a sandbox nothing cuts other ways: a program that does not ask \
                           the proxy gets out";
            check.warning("egress", warning, hint);
        }
    }
    if raw.network == NetworkUse::Host {
        on_the_hosts_network(raw, check);
    }
    if raw.push == Push::Agent {
        let warning = "its sessions may push by themselves, past Carson's checks";
        check.warning("push", warning, "push = \"carson\"");
    }
    pass(&raw.pass, check);
    Confinement {
        sandbox: raw.sandbox,
        network: raw.network,
        push: raw.push,
        pass: raw.pass.clone(),
        read: grants("paths.read", &raw.paths.read, at, check),
        write: grants("paths.write", &raw.paths.write, at, check),
    }
}

fn on_the_hosts_network(raw: &RoleFile, check: &mut Check<'_>) {
    if raw.egress.is_some() {
        let problem = "on this machine's network no list cuts the ways out";
        check.problem("network", problem, "leave out `network`, or `egress`");
    }
    let warning = "its sessions reach this machine's own ports and its metadata service";
    check.warning("network", warning, "network = \"own\"");
}

fn pass(patterns: &[String], check: &mut Check<'_>) {
    for pattern in patterns {
        if let Some(why) = wrong_pattern(pattern) {
            let hint = "names of variables, such as \"CARGO_*\" or \"RUSTFLAGS\"";
            check.problem("pass", format!("{pattern:?} {why}"), hint);
        } else if pattern.ends_with('*') {
            // Members of a family stay out of a pattern by themselves.
        } else if let Some(family) = family(pattern) {
            let warning = format!("{pattern} reaches its sessions: {family}");
            check.warning(
                "pass",
                warning,
                "leave it out, or hand it in by [identity] env",
            );
        }
    }
}

/// Paths that a role grants: each must be a place of its own, not one that holds everything.
fn grants(key: &str, written: &[String], at: &Paths<'_>, check: &mut Check<'_>) -> Vec<PathBuf> {
    let mut granted = Vec::new();
    for text in written {
        let path = at.expand(text);
        match too_much(&path, at) {
            Some(why) => {
                let hint = "name the directory that is needed, such as \"~/.cargo/registry\"";
                check.problem(key, format!("{text:?} {why}"), hint);
            }
            None => granted.push(path),
        }
    }
    granted
}

pub(crate) fn too_much(path: &Path, at: &Paths<'_>) -> Option<&'static str> {
    let odd = |part| matches!(part, std::path::Component::ParentDir);
    if path.components().any(odd) {
        return Some("leads upwards with ..");
    }
    if at.home.starts_with(path) {
        return Some("holds Carson's own home");
    }
    let user = at.user?;
    if user.starts_with(path) {
        return Some("holds your whole home directory");
    }
    let inside = |place: &str| path.starts_with(user.join(place));
    CREDENTIALS
        .iter()
        .any(|place| inside(place))
        .then_some("holds credentials")
}
