//! Addresses that a name must not lead to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Metadata services that are not link-local: whoever reaches one has the machine's own identity.
const METADATA_V4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];
const METADATA_V6: [Ipv6Addr; 4] = [
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0023),
    Ipv6Addr::new(0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042),
];

/// Whether an address is this machine, the link, a group, a cloud's metadata, or nothing that can
/// be connected to: no name may lead there unless the address itself is allowed.
#[must_use]
pub fn is_guarded(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_guarded_v4(address),
        IpAddr::V6(address) => is_guarded_v6(address),
    }
}

fn is_guarded_v4(address: Ipv4Addr) -> bool {
    let [first, ..] = address.octets();
    // 0.0.0.0 connects to this machine; from 224 on are groups and what was never given out.
    first == 0
        || first >= 224
        || address.is_loopback()
        || address.is_link_local()
        || METADATA_V4.contains(&address)
}

fn is_guarded_v6(address: Ipv6Addr) -> bool {
    let site_local = address.segments()[0] & 0xffc0 == 0xfec0;
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unicast_link_local()
        || site_local
        || METADATA_V6.contains(&address)
        || within(address).is_some_and(is_guarded_v4)
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, translated (RFC 2765), NAT64 or
/// 6to4. Of Teredo it is hidden: its server's stands in its place.
fn within(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let of = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0 | 0xffff] => Some(of(g, h)),
        [0, 0, 0, 0, 0xffff, 0] => Some(of(g, h)),
        [0x2001, 0, ..] => Some(of(c, d)),
        [0x64, 0xff9b, 0 | 1, _, _, _] => Some(of(g, h)),
        [0x2002, ..] => Some(of(b, c)),
        _ => None,
    }
}
