//! Who is answered: who asks under a name of ours, and is no web page.
//!
//! A page in the operator's browser can send requests to any port of this machine, also under a name of its own
//! that it lets lead here (DNS rebinding). It cannot choose `Host` and `Origin`.

use std::net::SocketAddr;

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

/// Whether a request may be answered, that reached us at this address.
pub(super) fn is_ours(at: SocketAddr, hosts: &[String], headers: &HeaderMap) -> bool {
    if headers.contains_key(ORIGIN) {
        return false;
    }
    let mut asked = headers.get_all(HOST).iter();
    let (Some(host), None) = (asked.next(), asked.next()) else {
        return false;
    };
    let port = at.port();
    let own = [
        at.to_string(),
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        format!("[::1]:{port}"),
    ];
    let named = hosts.iter().map(|name| format!("{name}:{port}"));
    let host = host.to_str().unwrap_or_default();
    own.into_iter()
        .chain(named)
        .any(|name| name.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn a_name_of_ours_is_answered_and_a_web_page_is_not() {
        let at: SocketAddr = "0.0.0.0:9420".parse().unwrap();
        let hosts = ["attic.lan".to_owned()];
        let asked = |headers: &[(&'static str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, HeaderValue::from_str(value).unwrap());
            }
            is_ours(at, &hosts, &map)
        };
        for host in [
            "127.0.0.1:9420",
            "LOCALHOST:9420",
            "[::1]:9420",
            "Attic.lan:9420",
        ] {
            assert!(asked(&[("host", host)]), "{host}");
        }
        for host in [
            "attic.lan",
            "attic.lan:80",
            "evil.example:9420",
            "attic.lan.evil.example:9420",
            "127.0.0.1",
            "",
        ] {
            assert!(!asked(&[("host", host)]), "{host}");
        }
        assert!(!asked(&[]));
        assert!(!asked(&[
            ("host", "localhost:9420"),
            ("host", "localhost:9420")
        ]));
        let page = [
            ("host", "localhost:9420"),
            ("origin", "http://localhost:9420"),
        ];
        assert!(!asked(&page));
    }
}
