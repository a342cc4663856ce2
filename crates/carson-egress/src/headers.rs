//! Headers that are of one connection only.

use hyper::header::{CONNECTION, HeaderMap, HeaderName, UPGRADE};

/// What concerns one connection only, and the next one not.
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "expect",
];

/// Takes off what must not be passed on: the fixed names, those that `Connection` lists, and
/// upgrades.
pub(crate) fn without_hop_by_hop(headers: &mut HeaderMap) {
    let listed: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in listed {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
    headers.remove(UPGRADE);
}
