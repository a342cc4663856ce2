//! Where sessions may connect to when their role has no list.

use std::net::IpAddr;

use carson_config::{Account, Role};
use carson_core::egress::{Allowlist, Rule, Target};
use url::{Host, Url};

/// Everything but this machine, its link and its metadata service; and the addresses that the
/// operator handed in as URLs, such as that of a gateway to a model on this machine.
pub(super) fn default_rules(role: &Role, account: &Account) -> Allowlist {
    let handed_in = account.env.values().chain(role.identity.values());
    let mut rules = vec![Rule::any()];
    for rule in handed_in.filter_map(|value| address(value)) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Allowlist(rules)
}

/// The rule for a URL whose host is an address, or this machine by its name.
fn address(value: &str) -> Option<Rule> {
    let url = Url::parse(value).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let host = match url.host()? {
        Host::Ipv4(address) => IpAddr::from(address).to_string(),
        Host::Ipv6(address) => format!("[{address}]"),
        Host::Domain("localhost") => "localhost".to_owned(),
        Host::Domain(_) => return None,
    };
    let text = format!("{host}:{}", url.port_or_known_default()?);
    text.parse::<Target>().ok()?;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_were_handed_in_are_named() {
        let shown = |value: &str| address(value).map(|rule| rule.to_string());
        assert_eq!(
            shown("http://127.0.0.1:4000/v1").as_deref(),
            Some("127.0.0.1:4000")
        );
        assert_eq!(shown("http://localhost").as_deref(), Some("localhost:80"));
        assert_eq!(
            shown("https://[2001:db8::1]:8443").as_deref(),
            Some("[2001:db8::1]:8443")
        );
        for other in [
            "https://api.example.com",
            "postgres://127.0.0.1:5432/x",
            "/home/ann/.claude",
            "sk-1234",
            "",
        ] {
            assert_eq!(shown(other), None, "{other}");
        }
    }
}
