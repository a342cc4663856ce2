//! A provider's key that Carson's proxy holds: what an account says of it.

use std::collections::BTreeSet;

use carson_core::{Api, ENGINES, EngineKind};
use url::{Host, Url};

use crate::check::Check;
use crate::fleet::ProviderKey;
use crate::paths::Paths;
use crate::raw::AccountSection;

pub(crate) fn key(
    at: &str,
    engine: EngineKind,
    section: &AccountSection,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> Option<ProviderKey> {
    let Some(file) = &section.key_file else {
        let others = [
            ("api", section.api.is_some()),
            ("upstream", section.upstream.is_some()),
            ("key_header", section.key_header.is_some()),
            ("allow_provider", !section.allow_provider.is_empty()),
        ];
        for (name, _) in others.iter().filter(|(_, is_given)| *is_given) {
            let hint = "key_file = \"provider.key\", or remove this key";
            check.problem(&format!("{at}.{name}"), "it needs a key_file", hint);
        }
        return None;
    };
    let file = paths.expand(file);
    check.secret(&format!("{at}.key_file"), &file);
    let facts = engine.facts();
    let api = section.api.or(facts.api).unwrap_or(Api::OpenAi);
    if let Some(only) = facts.api.filter(|only| *only != api) {
        let problem = format!("{} speaks to {}'s API", facts.title, only.owner());
        let hint = format!("api = {:?}, or remove this key", only.name());
        check.problem(&format!("{at}.api"), problem, &hint);
    }
    other_sign_ins(at, engine, api, section, check);
    let upstream = section.upstream.as_deref().unwrap_or(api.upstream());
    if let Err(problem) = is_upstream(upstream) {
        let hint = format!("upstream = \"{}\"", api.upstream());
        check.problem(&format!("{at}.upstream"), problem, &hint);
    }
    if let Some(header) = &section.key_header {
        let named = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if header.is_empty() || !header.bytes().all(named) {
            let problem = format!("{header:?} is no name of a header");
            check.problem(
                &format!("{at}.key_header"),
                problem,
                "key_header = \"api-key\"",
            );
        }
    }
    let named = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-=".contains(&byte);
    for name in &section.allow_provider {
        if name.is_empty() || !name.bytes().all(named) {
            let problem = format!("{name:?} is no name of a feature");
            let hint = "allow_provider = [\"web_search\"]";
            check.problem(&format!("{at}.allow_provider"), problem, hint);
        }
    }
    Some(ProviderKey {
        file,
        allow: section.allow_provider.clone(),
        api,
        upstream: upstream.trim_end_matches('/').to_owned(),
        header: section
            .key_header
            .as_ref()
            .map(|header| header.to_ascii_lowercase()),
    })
}

/// Two sign-ins in one account would leave open which of them a session uses.
fn other_sign_ins(
    at: &str,
    engine: EngineKind,
    api: Api,
    section: &AccountSection,
    check: &mut Check<'_>,
) {
    let (key, (address, _)) = api.variables();
    let own = engine.facts();
    let speaking = ENGINES
        .iter()
        .filter(|facts| facts.api == Some(api) || facts.name == own.name);
    let others = speaking.flat_map(|facts| {
        let dir = facts.sign_in_dir.map(|(variable, _)| variable);
        dir.into_iter().chain(facts.sign_in_keys.iter().copied())
    });
    let names: BTreeSet<&str> = others.chain([key, address]).collect();
    for name in names {
        if section.env.contains_key(name) {
            let problem = format!("key_file signs in, and {name} would sign in or lead elsewhere");
            let hint = "remove it, or use upstream for another address";
            check.problem(&format!("{at}.env.{name}"), problem, hint);
        }
    }
}

/// The key goes there, so it must be one place, and nobody on the way may read it.
fn is_upstream(text: &str) -> Result<(), String> {
    let url = Url::parse(text).map_err(|error| format!("{text:?} is no address: {error}"))?;
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() != "https" && !(url.scheme() == "http" && here) {
        return Err(format!(
            "{text:?} is not https, and the key would be readable on the way"
        ));
    }
    let bare = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if bare {
        Ok(())
    } else {
        // It is not shown: it may hold a password.
        Err("it is more than https://host/path".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_to_one_place_that_nobody_can_read_on_the_way() {
        for good in [
            "https://api.example.com",
            "https://gateway.example/anthropic/",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "http://localhost:8080",
        ] {
            assert_eq!(is_upstream(good), Ok(()), "{good}");
        }
        for bad in [
            "http://api.example.com",
            "api.example.com",
            "ftp://127.0.0.1",
            "https://user:secret@api.example.com",
            "https://api.example.com?x=1",
            "",
        ] {
            let problem = is_upstream(bad).unwrap_err();
            assert!(!problem.contains("secret"), "{problem}");
        }
    }
}
