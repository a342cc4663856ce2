//! Checks that cost no model call and, for the common case of no work, no process.

use carson_config::Account;
use carson_core::Stage;
use carson_core::admission::admit_account;
use carson_core::settle::Halt;

use super::OrBroken;
use crate::checks;
use crate::firing::Firing;

/// Preflight passed.
pub(crate) struct Ready;

pub(crate) async fn run(firing: &Firing<'_>) -> Result<Ready, Halt> {
    firing.enter(Stage::Preflight).await;
    let account = unblocked_account(firing).await?;
    checks::always(firing, account).await?;
    let name = account.name.clone();
    firing.count(|tally| tally.account = Some(name)).await;
    Ok(Ready)
}

/// The flag is read again here: it may have been set since admission.
async fn unblocked_account<'h>(firing: &Firing<'h>) -> Result<&'h Account, Halt> {
    let blocks = firing
        .store()
        .blocks()
        .await
        .or_broken("reading the block flags")?;
    let name = admit_account(&firing.role.engines, &blocks, firing.house.clock.now())
        .map_err(Halt::Skipped)?;
    let missing = || {
        let why = format!("account {name} is not in carson.toml; add it, or change `engines`");
        checks::refuse(firing, format!("account.{name}.program"), why)
    };
    firing.house.fleet.accounts.get(&name).ok_or_else(missing)
}
