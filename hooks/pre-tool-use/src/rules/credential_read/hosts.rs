//! Hosts of cloud metadata services, in any spelling a resolver takes.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Addresses of metadata services: most clouds', two of one cloud's containers, one of another cloud.
const ADDRESSES: [Ipv4Addr; 4] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(100, 100, 100, 200),
];

/// The one that has no IPv4 form.
const IPV6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
];

/// Their names.
const NAMES: [&str; 5] = [
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
];

/// Services that answer an address written into a name.
const ECHOES: [&str; 3] = [".nip.io", ".sslip.io", ".xip.io"];

/// Whether an address (a URL, or `host/path` as command line tools take it) leads to a metadata
/// service.
pub fn is_metadata(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    is_metadata_host(without_port(host))
}

/// Whether a host is a metadata service.
pub fn is_metadata_host(host: &str) -> bool {
    let host = unescaped(host).replace(['。', '．', '｡'], ".");
    let host = host.to_ascii_lowercase();
    let host = host.trim_matches(['[', ']']).trim_end_matches('.');
    let host = host.split(crate::marks::is_mark).next().unwrap_or_default();
    if NAMES.contains(&host) {
        return true;
    }
    if let Some(name) = ECHOES.iter().find_map(|echo| host.strip_suffix(echo)) {
        let plain = name.replace('-', ".");
        return ADDRESSES
            .iter()
            .any(|known| plain.ends_with(&known.to_string()));
    }
    let zone = host.split('%').next().unwrap_or_default();
    match zone.parse::<Ipv6Addr>() {
        Ok(address) => {
            let mapped = address.to_ipv4().or_else(|| translated(address));
            IPV6.contains(&address) || mapped.is_some_and(|v4| ADDRESSES.contains(&v4))
        }
        Err(_) => ipv4(host).is_some_and(|address| ADDRESSES.contains(&address)),
    }
}

/// The IPv4 address in one of NAT64's.
fn translated(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = address.segments();
    let prefix = parts[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    prefix.then(|| Ipv4Addr::from((u32::from(parts[6]) << 16) | u32::from(parts[7])))
}

/// `host:port` and `[host]:port`.
fn without_port(text: &str) -> &str {
    if let Some(inside) = text.strip_prefix('[') {
        return inside.split(']').next().unwrap_or_default();
    }
    match text.rsplit_once(':') {
        Some((host, _)) if !host.contains(':') => host,
        _ => text,
    }
}

/// An IPv4 address as `inet_aton` reads it: one to four numbers, decimal, octal or hexadecimal; the
/// last one fills what is left.
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u64> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, head) = parts.split_last()?;
    let room = 4usize.checked_sub(head.len())?;
    if head.iter().any(|part| *part > 255) || *last >= 1u64 << (8 * room) {
        return None;
    }
    let high = head.iter().fold(0u64, |sum, part| (sum << 8) | part);
    let whole = if head.is_empty() {
        0
    } else {
        high << (8 * room)
    } | last;
    u32::try_from(whole).ok().map(Ipv4Addr::from)
}

fn number(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    match text.strip_prefix('0').filter(|rest| !rest.is_empty()) {
        Some(octal) => u64::from_str_radix(octal, 8).ok(),
        None => text.parse().ok(),
    }
}

/// The text with `%2e` and its like resolved.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3);
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &rest[at + 3..];
            }
            None => {
                out.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    out + rest
}
