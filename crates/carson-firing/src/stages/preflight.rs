//! Checks that cost no model call and, for the common case of no work, no process.

use std::path::Path;

use carson_config::Account;
use carson_core::Stage;
use carson_core::admission::{SkipReason, admit_account};
use carson_core::settle::Halt;

use super::OrBroken;
use crate::firing::Firing;
use crate::room;

/// Preflight passed.
pub(crate) struct Ready;

pub(crate) async fn run(firing: &Firing<'_>) -> Result<Ready, Halt> {
    firing.enter(Stage::Preflight).await;
    room::check(&firing.house.fleet).map_err(skip)?;
    let account = unblocked_account(firing).await?;
    binary(firing, account)?;
    let name = account.name.clone();
    firing.count(|tally| tally.account = Some(name)).await;
    Ok(Ready)
}

fn skip(why: String) -> Halt {
    Halt::Skipped(SkipReason::Preflight(why))
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
    let missing = || skip(format!("account {name} is not in carson.toml"));
    firing.house.fleet.accounts.get(&name).ok_or_else(missing)
}

fn binary(firing: &Firing<'_>, account: &Account) -> Result<(), Halt> {
    if firing.house.engine_program(account).is_some() {
        return Ok(());
    }
    let binary = account
        .binary
        .as_deref()
        .unwrap_or(Path::new("carson"))
        .display();
    let name = &account.name;
    Err(skip(format!(
        "the {} CLI {binary} of account {name} is not installed; install it or set \
         accounts.{name}.binary",
        account.engine
    )))
}
