//! How accounts sign in, and who can read that.

use carson_config::{Account, Family, family};
use carson_core::EngineKind;

use super::Checked;
use crate::household::Household;

const SUBSCRIPTION: &str = "the hook stops reads of it and redaction keeps it out of what leaves, but \
     no wall can: give the role an egress list, or use an account with a key that Carson holds";
const KEY: &str = "use a key that only Carson holds, or a key with a low limit of its own";

pub(super) fn sign_ins(house: &Household) -> Vec<Checked> {
    let accounts = house.fleet.accounts.values();
    accounts.filter_map(sign_in).collect()
}

fn sign_in(account: &Account) -> Option<Checked> {
    if account.engine == EngineKind::Rehearsal {
        return None;
    }
    let id = format!("account.{}.sign_in", account.name);
    if let Some(key) = &account.key {
        let found = format!("the proxy holds the key in {}", key.file.display());
        return Some(Checked::ok(
            id,
            format!("{found}: its sessions never see it"),
        ));
    }
    let has = |name: &str| account.env.contains_key(name);
    let mut secrets = account
        .env
        .keys()
        .filter(|name| family(name) == Some(Family::Secret))
        .filter(|name| !name.ends_with("_DIR") && !name.contains("_TOKENS"))
        .filter(|name| name.contains("KEY") || name.contains("TOKEN") || name.contains("SECRET"));
    Some(if let Some(name) = secrets.next() {
        let found =
            format!("{name} is in its sessions' environment: the model's tools can read it");
        Checked::warning(id, found, KEY)
    } else if has("CLAUDE_CONFIG_DIR") || has("CODEX_HOME") {
        let found = "a subscription: the CLI must read its sign-in, and so can the model's tools";
        Checked::warning(id, found, SUBSCRIPTION)
    } else {
        Checked::ok(id, "no sign-in of its own is within a session's reach")
    })
}
