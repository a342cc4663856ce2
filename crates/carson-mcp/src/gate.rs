//! Who may come in by HTTP: who was started on this machine, knows the token, and is no web page.
//!
//! A page in the operator's browser can send requests to any port of this machine, also under a name of
//! its own that it lets lead here (DNS rebinding). It cannot choose `Host` and `Origin`, so these are looked at
//! first; then the token, in a time that says nothing of it.

use carson_door::{Names, is_same, only};
use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, StatusCode};
use secrecy::SecretString;

/// Where the tools are.
pub(crate) const PATH: &str = "/mcp";

/// A request that is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shut {
    pub(crate) status: StatusCode,
    pub(crate) why: &'static str,
}

const fn shut(status: StatusCode, why: &'static str) -> Shut {
    Shut { status, why }
}

const HOST_WRONG: Shut = shut(StatusCode::FORBIDDEN, "this Host is not served here");
const ORIGIN_WRONG: Shut = shut(StatusCode::FORBIDDEN, "this Origin is not served here");
const NO_TOKEN: Shut = shut(
    StatusCode::UNAUTHORIZED,
    "send Authorization: Bearer TOKEN, with the token of token_file in [mcp]",
);
const NOT_HERE: Shut = shut(StatusCode::NOT_FOUND, "the tools are at /mcp");

/// Whether a request may come in, that reached us at this address.
pub(crate) fn check(
    names: &Names,
    path: &str,
    headers: &HeaderMap,
    token: &SecretString,
) -> Result<(), Shut> {
    if !names.are_meant(headers) {
        return Err(HOST_WRONG);
    }
    if !names.sent_it(headers) {
        return Err(ORIGIN_WRONG);
    }
    let shown = only(headers, &AUTHORIZATION).flatten().and_then(bearer);
    let shown = shown.ok_or(NO_TOKEN)?;
    if !is_same(shown.as_bytes(), token) {
        return Err(NO_TOKEN);
    }
    match path {
        PATH => Ok(()),
        _ => Err(NOT_HERE),
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn asked(path: &str, headers: &[(&'static str, &str)]) -> Result<(), Shut> {
        let at = "127.0.0.1:7421".parse().unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        check(&Names::of(at), path, &map, &SecretString::from(TOKEN))
    }

    const HERE: (&str, &str) = ("host", "127.0.0.1:7421");
    const SHOWN: (&str, &str) = ("authorization", "Bearer 0123456789abcdef0123456789abcdef");

    #[test]
    fn who_knows_the_token_and_is_no_web_page_comes_in() {
        assert_eq!(asked(PATH, &[HERE, SHOWN]), Ok(()));
        assert_eq!(asked(PATH, &[("host", "LocalHost:7421"), SHOWN]), Ok(()));
        for origin in ["http://127.0.0.1:7421", "http://localhost:7421"] {
            assert_eq!(asked(PATH, &[HERE, SHOWN, ("origin", origin)]), Ok(()));
        }
        assert_eq!(asked("/mcp/", &[HERE, SHOWN]), Err(NOT_HERE));
        assert_eq!(asked("/", &[HERE, SHOWN]), Err(NOT_HERE));
    }

    #[test]
    fn another_host_or_origin_is_refused_even_with_the_token() {
        for host in [
            "evil.example",
            "evil.example:7421",
            "127.0.0.1",
            "localhost",
            "127.0.0.1:80",
            "127.0.0.1:7421.evil.example",
            "127.0.0.1:7421@evil.example",
            "user@127.0.0.1:7421",
            "[::1]:7421",
            "0.0.0.0:7421",
            "",
        ] {
            assert_eq!(
                asked(PATH, &[("host", host), SHOWN]),
                Err(HOST_WRONG),
                "{host}"
            );
        }
        assert_eq!(asked(PATH, &[SHOWN]), Err(HOST_WRONG));
        assert_eq!(asked(PATH, &[HERE, HERE, SHOWN]), Err(HOST_WRONG));
        for origin in [
            "null",
            "",
            "http://evil.example",
            "https://127.0.0.1:7421",
            "http://127.0.0.1",
            "http://127.0.0.1:7421.evil.example",
            "http://localhost:7421/",
            "chrome-extension://abc",
            "\u{fc}",
        ] {
            let asked = asked(PATH, &[HERE, SHOWN, ("origin", origin)]);
            assert_eq!(asked, Err(ORIGIN_WRONG), "{origin}");
        }
    }

    #[test]
    fn without_the_token_nobody_learns_what_is_there() {
        for shown in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer 0123456789abcdef0123456789abcde",
            "Bearer 0123456789abcdef0123456789abcdef0",
            "Bearer 0123456789abcdef0123456789abcdeF",
            "Basic 0123456789abcdef0123456789abcdef",
            "0123456789abcdef0123456789abcdef",
        ] {
            for path in [PATH, "/", "/secret"] {
                let asked = asked(path, &[HERE, ("authorization", shown)]);
                assert_eq!(asked, Err(NO_TOKEN), "{shown}");
            }
        }
        assert_eq!(asked(PATH, &[HERE]), Err(NO_TOKEN));
        assert_eq!(asked(PATH, &[HERE, SHOWN, SHOWN]), Err(NO_TOKEN));
    }
}
