//! Where a role's sessions may connect to, and whether that lets them work at all.

use std::collections::BTreeMap;

use carson_core::AccountName;
use carson_core::egress::{Allowlist, Rule, Target};
use url::Url;

use crate::check::Check;
use crate::fleet::Account;

/// Where the provider of each account is that its own CLI must reach.
pub(crate) type Providers = BTreeMap<String, Target>;

pub(crate) fn providers(accounts: &BTreeMap<AccountName, Account>) -> Providers {
    let known = |account: &Account| Some((account.name.to_string(), provider(account)?));
    accounts.values().filter_map(known).collect()
}

/// Only of a CLI that speaks one API is it known; a key that Carson holds needs no rule.
fn provider(account: &Account) -> Option<Target> {
    let facts = account.engine.facts();
    let mut elsewhere = facts.elsewhere.iter();
    if account.key.is_some() || elsewhere.any(|name| account.env.contains_key(*name)) {
        return None;
    }
    let api = facts.api?;
    let (_, (address, _)) = api.variables();
    let address = account.env.get(address);
    let address = address.map_or(api.upstream(), String::as_str);
    let url = Url::parse(address).ok()?;
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    format!("{host}:{port}").parse().ok()
}

/// What is no rule is left out, so that it opens nothing.
pub(crate) fn egress(
    rules: &[String],
    engines: &[String],
    providers: &Providers,
    check: &mut Check<'_>,
) -> Allowlist {
    let mut allowed: Vec<Rule> = Vec::new();
    let mut sound = true;
    for (index, text) in rules.iter().enumerate() {
        let key = format!("egress.{index}");
        match text.trim().parse::<Rule>() {
            Ok(rule) if allowed.contains(&rule) => {
                check.problem(&key, format!("{text:?} is named twice"), "name it once");
            }
            Ok(rule) => allowed.push(rule),
            Err(error) => {
                sound = false;
                check.problem(&key, error.to_string(), &error.hint());
            }
        }
    }
    let allowed = Allowlist(allowed);
    // One mistake is one finding: the rule that is wrong may be the one that is missing.
    for account in engines.iter().filter(|_| sound) {
        if let Some(target) = providers
            .get(account)
            .filter(|target| !allowed.names(target))
        {
            let warning = format!("account {account} could not reach its provider at {target}");
            check.warning("egress", warning, &format!("add \"{target}\""));
        }
    }
    allowed
}
