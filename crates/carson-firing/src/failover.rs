//! The next account, when the first session of a firing meets a limit.

use carson_config::Account;
use carson_core::AccountName;
use carson_core::admission::admit_account;
use serde_json::json;
use tracing::{info, warn};

use crate::checks;
use crate::firing::Firing;
use crate::retry::is_untouched;
use crate::stages::workspace::Placed;

/// Moves the firing to the next account of its role that is not blocked and can be used; `false`
/// when there is none, or when work exists already.
pub(crate) async fn moves_on(firing: &Firing<'_>, placed: &Placed<'_, '_>, from: &Account) -> bool {
    if !is_untouched(placed).await {
        return false;
    }
    let after = firing
        .role
        .engines
        .iter()
        .skip_while(|name| **name != from.name);
    for name in after.skip(1) {
        if is_free(firing, name).await && can_be_used(firing, name).await {
            take(firing, from, name).await;
            return true;
        }
    }
    false
}

async fn is_free(firing: &Firing<'_>, name: &AccountName) -> bool {
    let now = firing.house.clock.now();
    let blocks = firing.store().blocks().await;
    blocks.is_ok_and(|blocks| admit_account(std::slice::from_ref(name), &blocks, now).is_ok())
}

async fn can_be_used(firing: &Firing<'_>, name: &AccountName) -> bool {
    let Some(account) = firing.house.fleet.accounts.get(name) else {
        return false;
    };
    let ready = checks::account_is_usable(firing, account).await;
    if let Err(failed) = &ready {
        warn!(firing.id = %firing.id, account = %name, ?failed, "the next account cannot be used");
    }
    ready.is_ok()
}

async fn take(firing: &Firing<'_>, from: &Account, to: &AccountName) {
    info!(firing.id = %firing.id, from = %from.name, %to, "the firing goes on with the next account");
    firing.count(|tally| tally.account = Some(to.clone())).await;
    let data = json!({"from": from.name, "to": to});
    firing.event("account.failover", &data).await;
}
