//! Where a role's sessions may connect to, and whether that lets them work at all.

use std::collections::BTreeMap;

use carson_core::egress::{Allowlist, Rule, Target};
use carson_core::{AccountName, EngineKind};
use url::Url;

use crate::check::Check;
use crate::fleet::Account;

/// Where the provider of each account is that its own CLI must reach.
pub(crate) type Providers = BTreeMap<String, Target>;

/// What Claude Code is told to reach instead of Anthropic.
const ELSEWHERE: [&str; 3] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

pub(crate) fn providers(accounts: &BTreeMap<AccountName, Account>) -> Providers {
    let known = |account: &Account| Some((account.name.to_string(), provider(account)?));
    accounts.values().filter_map(known).collect()
}

/// Only of Claude Code is it known; a key that Carson holds needs no rule.
fn provider(account: &Account) -> Option<Target> {
    let elsewhere = ELSEWHERE.iter().any(|name| account.env.contains_key(*name));
    if account.engine != EngineKind::Claude || account.key.is_some() || elsewhere {
        return None;
    }
    let address = account.env.get("ANTHROPIC_BASE_URL");
    let address = address.map_or("https://api.anthropic.com", String::as_str);
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
