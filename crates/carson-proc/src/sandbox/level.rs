//! What was reached, layer by layer.

use std::fmt;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::sandbox::profile::{Demand, Network, Profile};

/// What was reached, layer by layer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// The Landlock ABI in force; 0 for none.
    pub landlock_abi: u8,
    /// The namespaces of the child's own.
    pub namespaces: Vec<Ns>,
    /// Whether system calls are filtered.
    pub seccomp: bool,
    /// Whether it has `sandbox-exec` around it (macOS).
    #[serde(default)]
    pub seatbelt: bool,
    /// What its control group can do.
    pub cgroup: CgroupLevel,
    /// Who can be talked to.
    pub network: NetworkLevel,
    /// What is weaker than on a full kernel, in words.
    pub weaker: Vec<String>,
}

/// What is weaker where sessions should have a network of their own and have none.
pub(crate) const SHARED_NETWORK: &str =
    "no network of its own: ports of this machine and its metadata service can be reached";

/// A kind of namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ns {
    /// Users: what makes the others possible for an ordinary user.
    User,
    /// Processes.
    Pid,
    /// Mounts.
    Mount,
    /// System V IPC and message queues.
    Ipc,
    /// Network.
    Net,
}

/// What a control group can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CgroupLevel {
    /// Everything in it can be killed at once.
    pub kill: bool,
    /// Bounds the number of processes.
    pub pids: bool,
    /// Bounds the memory.
    pub memory: bool,
}

/// Who can be talked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkLevel {
    /// Everybody.
    #[default]
    Open,
    /// The profile's TCP ports on any host, and nothing else.
    Ports,
    /// Any TCP port; UDP and the rest are closed.
    TcpOnly,
    /// The proxy's TCP port, on any host that has one, and nothing else.
    ProxyPort,
    /// The proxy, in a network of its own.
    Isolated,
}

/// How what is said of a launcher begins that does not answer.
pub(super) const NO_ANSWER: &str = "the launcher does not answer: ";

impl Level {
    /// What a profile that is [`Demand::Required`] does not get; `None` when it gets everything.
    #[must_use]
    pub fn unmet(&self, profile: &Profile) -> Option<String> {
        if profile.demand != Demand::Required || self.seatbelt {
            return None;
        }
        let network = match profile.network {
            Network::Open | Network::Shared => true,
            Network::Ports(_) => self.network == NetworkLevel::Ports,
            Network::Nobody => matches!(self.network, NetworkLevel::Isolated | NetworkLevel::Ports),
            Network::Isolated { .. } => matches!(
                self.network,
                NetworkLevel::Isolated | NetworkLevel::ProxyPort
            ),
        };
        let missing: Vec<&str> = [
            (self.landlock_abi == 0, "Landlock"),
            (!self.seccomp, "seccomp"),
            (!network, "a limit of the network"),
        ]
        .into_iter()
        .filter_map(|(missing, what)| missing.then_some(what))
        .collect();
        (!missing.is_empty()).then(|| missing.join(", "))
    }

    /// What the launcher said in place of an answer: nothing is known of the kernel then.
    #[must_use]
    pub fn launcher_failed(&self) -> Option<&str> {
        let mut said = self.weaker.iter();
        said.find_map(|why| why.strip_prefix(NO_ANSWER))
    }

    /// Reads what the launcher wrote beside a profile.
    ///
    /// # Errors
    /// When it is not there, which means that the program was not started, or is no level.
    pub fn read_beside(profile: &Path) -> io::Result<Self> {
        let text = std::fs::read(Profile::level_path(profile))?;
        serde_json::from_slice(&text).map_err(io::Error::other)
    }

    /// Adds what is weaker, once.
    pub(crate) fn weaken(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.weaker.contains(&what) {
            self.weaker.push(what);
        }
    }

    /// Whether it has a namespace of its own.
    #[must_use]
    pub fn has(&self, namespace: Ns) -> bool {
        self.namespaces.contains(&namespace)
    }
}

/// A few lines for people.
impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.landlock_abi {
            0 if self.seatbelt => writeln!(f, "files: sandbox-exec")?,
            0 => writeln!(f, "files: no Landlock")?,
            abi => writeln!(f, "files: Landlock ABI {abi}")?,
        }
        let names: Vec<String> = self.namespaces.iter().map(ToString::to_string).collect();
        match names.as_slice() {
            [] => writeln!(f, "namespaces: none")?,
            names => writeln!(f, "namespaces: {}", names.join(", "))?,
        }
        let seccomp = if self.seccomp {
            "filtered"
        } else {
            "not filtered"
        };
        writeln!(f, "system calls: {seccomp}")?;
        writeln!(f, "control group: {}", self.cgroup)?;
        write!(f, "network: {}", self.network)?;
        for one in &self.weaker {
            write!(f, "\nweaker: {one}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Ns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Pid => "pid",
            Self::Mount => "mount",
            Self::Ipc => "ipc",
            Self::Net => "net",
        })
    }
}

impl fmt::Display for CgroupLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let can = [
            (self.kill, "kills at once"),
            (self.pids, "bounds processes"),
            (self.memory, "bounds memory"),
        ];
        let can: Vec<&str> = can
            .iter()
            .filter_map(|(can, what)| can.then_some(*what))
            .collect();
        f.write_str(&if can.is_empty() {
            "none".to_owned()
        } else {
            can.join(", ")
        })
    }
}

impl fmt::Display for NetworkLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Ports => "TCP to the given ports only",
            Self::TcpOnly => "TCP only",
            Self::ProxyPort => "TCP to the proxy's port only",
            Self::Isolated => "its own, with the proxy in it",
        })
    }
}
