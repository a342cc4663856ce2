//! How a role's sessions are confined, and what is wrong with what a role says about it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::check::Check;
use crate::credentials::CREDENTIALS;
use crate::families::{family, wrong_pattern};
use crate::outside::Paths;
use crate::raw::RoleFile;

/// What becomes of a session when the kernel cannot confine it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// It does not start.
    Required,
    /// It starts with what the kernel has, and the firing says what that is.
    #[default]
    BestEffort,
    /// Sessions are not confined at all.
    Off,
}

impl Sandbox {
    /// As role files write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::BestEffort => "best-effort",
            Self::Off => "off",
        }
    }
}

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Who pushes the firing's branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Push {
    /// Carson, from outside, after the firing settled.
    #[default]
    Carson,
    /// The agent may, with credentials that the operator hands it.
    Agent,
}

impl Push {
    /// As role files write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Carson => "carson",
            Self::Agent => "agent",
        }
    }
}

/// Whose network its sessions are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkUse {
    /// One of their own, wherever there is one to be had: what leaves it goes through the firing's
    /// proxy.
    #[default]
    Own,
    /// This machine's.
    Host,
}

impl NetworkUse {
    /// As role files write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Host => "host",
        }
    }
}

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

/// What a role says about its confinement.
pub(crate) fn confinement(raw: &RoleFile, at: &Paths<'_>, check: &mut Check<'_>) -> Confinement {
    let sandbox = match raw.sandbox.as_str() {
        "required" => Sandbox::Required,
        "off" => Sandbox::Off,
        _ => Sandbox::BestEffort,
    };
    if sandbox == Sandbox::Off {
        let hint = "sandbox = \"best-effort\", unless the machine itself is thrown away";
        let warning = "nothing but the hook stands between its sessions and your files";
        check.warning("sandbox", warning, hint);
        if raw.egress.is_some() {
            let warning = "without a sandbox nothing cuts other ways: a program that does not ask \
                           the proxy gets out";
            check.warning("egress", warning, hint);
        }
    }
    let network = network(raw, check);
    let push = if raw.push == "agent" {
        let warning = "its sessions may push by themselves, past Carson's checks";
        check.warning("push", warning, "push = \"carson\"");
        Push::Agent
    } else {
        Push::Carson
    };
    pass(&raw.pass, check);
    Confinement {
        sandbox,
        network,
        push,
        pass: raw.pass.clone(),
        read: grants("paths.read", &raw.paths.read, at, check),
        write: grants("paths.write", &raw.paths.write, at, check),
    }
}

fn network(raw: &RoleFile, check: &mut Check<'_>) -> NetworkUse {
    if raw.network != "host" {
        return NetworkUse::Own;
    }
    if raw.egress.is_some() {
        let problem = "on this machine's network no list cuts the ways out";
        check.problem("network", problem, "leave out `network`, or `egress`");
    }
    let warning = "its sessions reach this machine's own ports and its metadata service";
    check.warning("network", warning, "network = \"own\"");
    NetworkUse::Host
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

fn too_much(path: &Path, at: &Paths<'_>) -> Option<&'static str> {
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
