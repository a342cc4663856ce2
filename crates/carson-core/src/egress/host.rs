//! A host and a port, in the one form in which they are compared and connected to.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use thiserror::Error;

use super::RuleError;

/// The longest name that DNS has.
const LONGEST: usize = 253;

/// A host, normalised.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A name: lower case, IDNA, without a final dot.
    Name(String),
    /// An address; an IPv4 address that is written as IPv6 is an IPv4 address.
    Address(IpAddr),
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The host.
    pub host: Host,
    /// The port, never 0.
    pub port: u16,
}

/// A text that is no host and port.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TargetError {
    /// The port is missing.
    #[error("{0:?} has no port")]
    NoPort(String),
    /// The port is no port.
    #[error("{0:?} has no port from 1 to 65535")]
    Port(String),
    /// The host is no host.
    #[error("{0:?} has no host that a network knows")]
    Host(String),
}

impl TargetError {
    /// The same, about the whole text.
    pub(super) fn about(self, text: &str) -> RuleError {
        let text = text.to_owned();
        RuleError::Target(match self {
            Self::NoPort(_) => Self::NoPort(text),
            Self::Port(_) => Self::Port(text),
            Self::Host(_) => Self::Host(text),
        })
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let no_port = || TargetError::NoPort(text.to_owned());
        let host_ends = if text.starts_with('[') {
            text.rfind(']').map(|end| end + 1)
        } else {
            text.rfind(':')
        };
        let (host, port) = text.split_at(host_ends.ok_or_else(no_port)?);
        let port = port.strip_prefix(':').ok_or_else(no_port)?;
        Self::new(host, port).map_err(|error| match error {
            TargetError::Host(_) => TargetError::Host(text.to_owned()),
            _ => TargetError::Port(text.to_owned()),
        })
    }
}

impl Target {
    fn new(host: &str, port: &str) -> Result<Self, TargetError> {
        let bad_port = || TargetError::Port(port.to_owned());
        // A number's own parser would take "+443".
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(bad_port());
        }
        let number: u16 = port.parse().map_err(|_| bad_port())?;
        if number == 0 {
            return Err(bad_port());
        }
        Ok(Self {
            host: host.parse()?,
            port: number,
        })
    }
}

impl FromStr for Host {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let wrong = || TargetError::Host(text.to_owned());
        // As browsers read them: percent-decoded, IDNA, and IPv4 in all its odd spellings.
        match url::Host::parse(text).map_err(|_| wrong())? {
            url::Host::Ipv4(address) => Ok(Self::Address(address.into())),
            url::Host::Ipv6(address) => Ok(Self::Address(IpAddr::V6(address).to_canonical())),
            url::Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(&name);
                let is_label = |label: &str| {
                    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
                    (1..=63).contains(&label.len()) && label.bytes().all(known)
                };
                if name.len() > LONGEST || !name.split('.').all(is_label) {
                    return Err(wrong());
                }
                Ok(Self::Name(name.to_ascii_lowercase()))
            }
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}
