//! Addresses of the web.

use url::{Host, Url};

/// An address that is a secret: nobody may read it on the way, and no message may show it.
pub(crate) fn secret(text: &str) -> Result<Url, String> {
    match Url::parse(text.trim()) {
        Ok(url) if is_web(&url) && !is_readable_on_the_way(&url) => Ok(url),
        Ok(url) if is_web(&url) => Err("the address in it is not https".into()),
        _ => Err("what it holds is no web address".into()),
    }
}

pub(crate) fn is_web(url: &Url) -> bool {
    ["https", "http"].contains(&url.scheme())
}

/// Anything but https, unless it stays on this machine.
pub(crate) fn is_readable_on_the_way(url: &Url) -> bool {
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() != "https" && !here
}
