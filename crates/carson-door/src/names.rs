//! What this machine is called by who reaches it on purpose.

use std::net::SocketAddr;

use hyper::HeaderMap;
use hyper::header::{HOST, HeaderName, ORIGIN};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

/// The names of one address.
#[derive(Clone, Debug)]
pub struct Names {
    own: [String; 2],
    more: Vec<String>,
}

impl Names {
    /// Those of an address that was listened at.
    #[must_use]
    pub fn of(at: SocketAddr) -> Self {
        Self {
            own: [at.to_string(), format!("localhost:{}", at.port())],
            more: Vec::new(),
        }
    }

    /// And these, which its settings have.
    #[must_use]
    pub fn and(mut self, more: &[String]) -> Self {
        self.more = more.to_vec();
        self
    }

    /// Whether a request says once, and rightly, whom it is for.
    #[must_use]
    pub fn are_meant(&self, headers: &HeaderMap) -> bool {
        let host = only(headers, &HOST).flatten();
        host.is_some_and(|host| self.own(host) || self.more(host))
    }

    /// Whether a request comes from no web page, or from one of ours: those of a name that was given may have come by a
    /// proxy that speaks TLS.
    #[must_use]
    pub fn sent_it(&self, headers: &HeaderMap) -> bool {
        match only(headers, &ORIGIN) {
            Some(None) => true,
            Some(Some(origin)) => match origin.split_once("://") {
                Some(("http", host)) => self.own(host) || self.more(host),
                Some(("https", host)) => self.more(host),
                _ => false,
            },
            None => false,
        }
    }

    fn own(&self, host: &str) -> bool {
        self.own.iter().any(|name| host.eq_ignore_ascii_case(name))
    }

    fn more(&self, host: &str) -> bool {
        self.more.iter().any(|name| host.eq_ignore_ascii_case(name))
    }
}

/// The value of a header that may stand there once: `None` where it is there twice, or is no text.
pub fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<Option<&'h str>> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Some(None),
        (Some(value), None) => value.to_str().ok().map(Some),
        (Some(_), Some(_)) => None,
    }
}

/// Whether somebody knows a secret. How long that takes says nothing but its length.
#[must_use]
pub fn is_same(shown: &[u8], secret: &SecretString) -> bool {
    shown.ct_eq(secret.expose_secret().as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in all {
            map.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        map
    }

    #[test]
    fn a_name_that_was_given_is_one_more_and_may_have_come_by_tls() {
        let names = Names::of("127.0.0.1:7420".parse().unwrap());
        let named = names.clone().and(&["carson.example.net".to_owned()]);
        let there = headers(&[("host", "Carson.example.net")]);
        assert!(!names.are_meant(&there) && named.are_meant(&there));
        assert!(!named.are_meant(&headers(&[("host", "carson.example.net:7420")])));
        let tls = headers(&[("origin", "https://carson.example.net")]);
        assert!(!names.sent_it(&tls) && named.sent_it(&tls));
        let own = headers(&[("origin", "https://127.0.0.1:7420")]);
        assert!(!named.sent_it(&own), "nobody speaks TLS there");
    }

    #[test]
    fn a_secret_is_the_same_or_it_is_not() {
        let secret = SecretString::from("0123");
        assert!(is_same(b"0123", &secret));
        for wrong in ["", "0124", "012", "01234"] {
            assert!(!is_same(wrong.as_bytes(), &secret), "{wrong}");
        }
    }
}
