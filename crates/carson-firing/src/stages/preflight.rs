//! Checks that cost no model call and, for the common case of no work, no process.

use std::path::Path;

use carson_config::{Account, Fleet};
use carson_core::Stage;
use carson_core::admission::{SkipReason, admit_account};
use carson_core::settle::Halt;
use nix::sys::statvfs::statvfs;

use super::OrBroken;
use crate::firing::Firing;

/// Files that a disk must still be able to hold.
const FILES_FLOOR: u64 = 1_000;

/// Preflight passed.
pub(crate) struct Ready;

pub(crate) async fn run(firing: &Firing<'_>) -> Result<Ready, Halt> {
    firing.enter(Stage::Preflight).await;
    disk(&firing.house.fleet)?;
    let account = unblocked_account(firing).await?;
    binary(firing, account)?;
    let name = account.name.clone();
    firing.count(|tally| tally.account = Some(name)).await;
    Ok(Ready)
}

fn skip(why: String) -> Halt {
    Halt::Skipped(SkipReason::Preflight(why))
}

/// A worktree and a transcript must fit, and a full disk is where work gets lost.
fn disk(fleet: &Fleet) -> Result<(), Halt> {
    let home = fleet.home.root.display();
    let stat = statvfs(&fleet.home.root).map_err(|error| skip(format!("{home}: {error}")))?;
    let free = stat.blocks_available() * stat.fragment_size() / (1024 * 1024);
    let floor = u64::from(fleet.min_free_mb);
    if free < floor {
        return Err(skip(format!(
            "the disk of {home} is nearly full: {free} MiB are free and fleet.min_free_mb is \
             {floor}; make room, or move CARSON_HOME to a larger disk"
        )));
    }
    // Some file systems count no inodes.
    if stat.files() > 0 && stat.files_available() < FILES_FLOOR {
        return Err(skip(format!(
            "the disk of {home} can hold only {} more files; remove some, or move CARSON_HOME",
            stat.files_available()
        )));
    }
    Ok(())
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
