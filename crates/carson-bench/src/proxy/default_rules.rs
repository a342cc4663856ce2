//! Where sessions may connect to when their role has no list.

use std::net::IpAddr;

use carson_config::{Account, Role};
use carson_core::egress::{Allowlist, Rule, Target};
use url::{Host, Url};

use crate::sign_in;
use carson_home::Home;

/// Everything but this machine, its link and its metadata service; and the addresses that the
/// operator handed in as URLs (in the environment, the CLI's arguments, or the settings beside its
/// sign-in), such as that of a gateway to a model on this machine.
pub(super) fn default_rules(home: &Home, role: &Role, account: &Account) -> Allowlist {
    let settings = sign_in::settings(home, account, role);
    let named = settings.iter().flat_map(|text| quoted(text));
    let handed_in = account.env.values().chain(role.identity.values());
    let handed_in = handed_in.chain(&account.args).map(String::as_str);
    let mut rules = vec![Rule::any()];
    for rule in handed_in.chain(named).filter_map(address) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Allowlist(rules)
}

/// What may be a URL in a file of settings: Codex names its provider in one.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '\'', ' ', '\n'])
        .filter(|part| part.starts_with("http"))
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
    fn what_a_file_of_settings_names_is_found() {
        let text =
            "# http\nbase_url = \"http://127.0.0.1:8080/v1\"\nname = 'https://example.com'\n";
        let found: Vec<_> = quoted(text).filter_map(address).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "127.0.0.1:8080");
    }

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
