//! From a host that the rules name to a connection at an address that they admit.
//!
//! The proxy looks names up itself and connects to the very address that was judged, so a name
//! cannot lead elsewhere between the two. A name that no rule names is not even looked up: a
//! query would carry it out.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use carson_core::egress::{Allowlist, Host, Target};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Duration, timeout};

use crate::refusal::Refusal;

/// How long an address may say nothing before the next one is tried.
const NEXT_ADDRESS: Duration = Duration::from_secs(2);

/// How names become addresses.
#[derive(Clone, Debug, Default)]
pub struct Resolver {
    fixed: BTreeMap<String, Vec<IpAddr>>,
}

impl Resolver {
    /// As the system does it.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// This name is at these addresses, whatever the system says.
    #[must_use]
    pub fn with(mut self, name: &str, addresses: &[IpAddr]) -> Self {
        self.fixed.insert(name.to_owned(), addresses.to_vec());
        self
    }

    async fn addresses(&self, target: &Target) -> Vec<IpAddr> {
        let name = match &target.host {
            Host::Address(address) => return vec![*address],
            Host::Name(name) => name,
        };
        if let Some(addresses) = self.fixed.get(name) {
            return addresses.clone();
        }
        if name == "localhost" {
            return vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        }
        match lookup_host((name.as_str(), target.port)).await {
            Ok(found) => found.map(|address| address.ip()).collect(),
            Err(error) => {
                tracing::debug!(%target, %error, "a host cannot be looked up");
                Vec::new()
            }
        }
    }
}

/// Connects to a host that the rules name, at an address that they admit.
pub(crate) async fn connect(
    resolver: &Resolver,
    rules: &Allowlist,
    target: &Target,
    within: Duration,
) -> Result<TcpStream, Refusal> {
    if !rules.names(target) {
        return Err(Refusal::NotNamed(target.to_string()));
    }
    let connecting = first_that_answers(resolver, rules, target);
    let too_slow = |_| Refusal::TooSlow(target.to_string());
    let stream = timeout(within, connecting).await.map_err(too_slow)??;
    // Small writes of a handshake wait for nothing; without it they are only slower.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

async fn first_that_answers(
    resolver: &Resolver,
    rules: &Allowlist,
    target: &Target,
) -> Result<TcpStream, Refusal> {
    let host = target.to_string();
    let own = own_addresses();
    let mut refusal = Refusal::Unknown(host.clone());
    let mut addresses = resolver.addresses(target).await.into_iter().peekable();
    while let Some(address) = addresses.next() {
        let address = address.to_canonical();
        let there = Target {
            host: Host::Address(address),
            port: target.port,
        };
        // Another of this machine's addresses is this machine too.
        let is_own = (own.contains(&address) || is_routed_here(address)) && !rules.spells(&there);
        if is_own || !rules.admits(target, address) {
            refusal = Refusal::Guarded {
                host: host.clone(),
                address,
            };
            continue;
        }
        let connecting = TcpStream::connect(SocketAddr::new(address, target.port));
        // An address that says nothing must not use up the time of the next one.
        let patience = addresses.peek().map_or(Duration::MAX, |_| NEXT_ADDRESS);
        let connected = timeout(patience, connecting).await;
        match connected.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into())) {
            Ok(stream) => return Ok(stream),
            Err(error) => {
                refusal = Refusal::Unreachable {
                    host: host.clone(),
                    why: error.to_string(),
                };
            }
        }
    }
    Err(refusal)
}

/// Whether a route makes an address this machine's that no interface has: only such a one can be bound.
fn is_routed_here(address: IpAddr) -> bool {
    let binds = |address: IpAddr| std::net::UdpSocket::bind((address, 0)).is_ok();
    // Nobody's (RFC 5737, RFC 3849): where they can be bound, everything can.
    let nobodys: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, 1).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
    };
    binds(address) && !binds(nobodys)
}

/// The addresses of this machine's interfaces; none where they cannot be listed.
fn own_addresses() -> Vec<IpAddr> {
    let Ok(interfaces) = nix::ifaddrs::getifaddrs() else {
        return Vec::new();
    };
    let address = |interface: nix::ifaddrs::InterfaceAddress| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|it| IpAddr::V4(it.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|it| IpAddr::V6(it.ip())))
    };
    interfaces.filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_bound_is_here() {
        assert!(is_routed_here(Ipv4Addr::LOCALHOST.into()));
        // All of it is routed here; no interface has more than the first.
        #[cfg(target_os = "linux")]
        assert!(is_routed_here(Ipv4Addr::new(127, 9, 9, 9).into()));
        assert!(!is_routed_here(Ipv4Addr::new(198, 51, 100, 7).into()));
    }
}
