//! The accounts of a role: those that its firings begin with, and what they leave alone.

use carson_config::Role;
use carson_core::AccountName;
use carson_core::admission::Shares;

use carson_home::Home;

/// The accounts of the stage that its firings begin with, in order of preference.
pub(crate) fn first_accounts(role: &Role) -> Vec<AccountName> {
    let mut accounts: Vec<AccountName> = Vec::new();
    for name in role.accounts_of(role.begins_with()).concat() {
        if !accounts.contains(&name) {
            accounts.push(name);
        }
    }
    accounts
}

/// What the role's accounts leave alone.
pub(crate) fn shares(home: &Home, role: &Role) -> Vec<Shares> {
    let accounts = role.accounts();
    let known = accounts
        .iter()
        .filter_map(|name| home.fleet.accounts.get(name));
    known
        .map(|account| Shares {
            account: account.name.clone(),
            warn_at: account.warn_at,
            reserve: account.reserve,
        })
        .collect()
}
