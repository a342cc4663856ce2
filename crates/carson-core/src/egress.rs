//! Where a session may connect to: a role's `egress`, and what it says of a host.
//!
//! A rule is a host and a port. Hosts are compared whole, after normalisation (lower case, IDNA,
//! no final dot, one form per address), and never as text that ends alike. What a name resolves to
//! is judged again: a name that leads to this machine, to the link or to a cloud's metadata is
//! refused, unless a rule names that very address or `localhost`.

mod address;
mod counts;
mod host;

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

pub use address::is_guarded;
pub use counts::EgressHost;
pub use host::{Host, Target, TargetError};

/// One line of a role's `egress`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    hosts: Hosts,
    port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    /// Everybody but this machine, its link and its metadata service, on any port.
    Any,
    /// This machine, by its name or its loopback address.
    Localhost,
    /// This address only.
    Address(IpAddr),
    /// This name only.
    Name(String),
    /// Every name below this one, at any depth; not the name itself.
    Below(String),
}

/// A text that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RuleError {
    /// It is an address of a page.
    #[error("{0:?} is the address of a page, not a host and a port")]
    Page(String),
    /// A `*` that does not stand for the sub-domains of a name.
    #[error("{0:?} has a `*` that is not at its beginning, before a dot and a name")]
    Star(String),
    /// Not a host and a port.
    #[error(transparent)]
    Target(#[from] TargetError),
}

impl RuleError {
    /// What the operator can write.
    #[must_use]
    pub fn hint(&self) -> String {
        const FORMS: &str = "host:port, *.host:port, 192.0.2.1:port, [2001:db8::1]:port or \
                             localhost:port";
        match self {
            Self::Page(text) => {
                let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
                let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
                let port = if scheme == "http" { 80 } else { 443 };
                let with_port = format!("{host}:{port}");
                match (host.parse::<Rule>(), with_port.parse::<Rule>()) {
                    (Ok(rule), _) | (_, Ok(rule)) => format!("did you mean \"{rule}\"?"),
                    _ => FORMS.to_owned(),
                }
            }
            Self::Target(TargetError::NoPort(text)) => {
                match format!("{text}:443").parse::<Rule>() {
                    Ok(rule) => format!("did you mean \"{rule}\"?"),
                    Err(_) => FORMS.to_owned(),
                }
            }
            Self::Star(_) | Self::Target(_) => FORMS.to_owned(),
        }
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        if text.contains('/') {
            return Err(RuleError::Page(text.to_owned()));
        }
        let (below, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if rest.contains('*') {
            return Err(RuleError::Star(text.to_owned()));
        }
        let target: Target = rest
            .parse()
            .map_err(|error: TargetError| error.about(text))?;
        let hosts = match (target.host, below) {
            (Host::Address(_), true) => return Err(RuleError::Star(text.to_owned())),
            (Host::Address(address), false) => Hosts::Address(address),
            (Host::Name(name), false) if name == "localhost" => Hosts::Localhost,
            (Host::Name(name), false) => Hosts::Name(name),
            (Host::Name(name), true) => Hosts::Below(name),
        };
        Ok(Self {
            hosts,
            port: target.port,
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = self.port;
        match &self.hosts {
            Hosts::Any => f.write_str("*"),
            Hosts::Localhost => write!(f, "localhost:{port}"),
            Hosts::Address(IpAddr::V6(address)) => write!(f, "[{address}]:{port}"),
            Hosts::Address(address) => write!(f, "{address}:{port}"),
            Hosts::Name(name) => write!(f, "{name}:{port}"),
            Hosts::Below(name) => write!(f, "*.{name}:{port}"),
        }
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Rule {
    /// Everybody but this machine, its link and its metadata service, on any port. Nobody writes
    /// it: it holds where there is no list.
    #[must_use]
    pub fn any() -> Self {
        Self {
            hosts: Hosts::Any,
            port: 0,
        }
    }

    /// Whether it names this host and port.
    #[must_use]
    pub fn names(&self, target: &Target) -> bool {
        self.hosts == Hosts::Any || self.spells(target)
    }

    /// Whether it names this host and port among others that it does not.
    fn spells(&self, target: &Target) -> bool {
        self.port == target.port
            && match (&self.hosts, &target.host) {
                (Hosts::Any, _) => false,
                (Hosts::Localhost, Host::Name(name)) => name == "localhost",
                (Hosts::Localhost, Host::Address(address)) => address.is_loopback(),
                (Hosts::Address(own), Host::Address(address)) => own == address,
                (Hosts::Name(own), Host::Name(name)) => own == name,
                (Hosts::Below(own), Host::Name(name)) => is_below(name, own),
                (Hosts::Address(_), Host::Name(_))
                | (Hosts::Name(_) | Hosts::Below(_), Host::Address(_)) => false,
            }
    }

    /// Whether a host that it names may turn out to be at this address.
    fn admits(&self, address: IpAddr) -> bool {
        match &self.hosts {
            Hosts::Localhost => address.is_loopback(),
            Hosts::Address(own) => *own == address,
            Hosts::Any | Hosts::Name(_) | Hosts::Below(_) => !is_guarded(address),
        }
    }

    /// Whether it opens a port of this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match &self.hosts {
            Hosts::Localhost => true,
            Hosts::Address(address) => address.is_loopback(),
            Hosts::Any | Hosts::Name(_) | Hosts::Below(_) => false,
        }
    }
}

/// Whether `name` has at least one label more than `parent`, and ends in all of its labels.
fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent)
        .and_then(|labels| labels.strip_suffix('.'))
        .is_some_and(|labels| !labels.is_empty())
}

/// What a role's sessions may reach; without any rule, nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Allowlist(pub Vec<Rule>);

impl Allowlist {
    /// Whether a rule names this host and port.
    #[must_use]
    pub fn names(&self, target: &Target) -> bool {
        self.0.iter().any(|rule| rule.names(target))
    }

    /// Whether a rule names this host and port for itself, and not everybody.
    #[must_use]
    pub fn spells(&self, target: &Target) -> bool {
        self.0.iter().any(|rule| rule.spells(target))
    }

    /// Whether this host and port may be connected to at this address, which it resolved to.
    #[must_use]
    pub fn admits(&self, target: &Target, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let there = Target {
            host: Host::Address(address),
            port: target.port,
        };
        let by_name = |rule: &Rule| rule.names(target) && rule.admits(address);
        self.0.iter().any(by_name) || (self.names(target) && self.spells(&there))
    }
}

#[cfg(test)]
mod tests;
