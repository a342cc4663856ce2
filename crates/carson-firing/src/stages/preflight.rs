//! Checks that cost no model call and, for the common case of no work, no process.

use carson_config::Account;
use carson_core::admission::admit_account;
use carson_core::event::Routed;
use carson_core::settle::Halt;
use carson_core::{AccountName, Event, Stage};

use crate::accounts::first_accounts;
use crate::ctx::Ctx;
use crate::full_disk;
use crate::record::Record;
use crate::routing;
use carson_home::disk_reserve;
use carson_home::halt::OrBroken;
use tracing::warn;

/// Preflight passed.
pub(crate) struct Ready;

pub(crate) async fn run(ctx: &Ctx<'_>, rec: &mut Record) -> Result<Ready, Halt> {
    ctx.enter(Stage::Preflight).await;
    let account = match ctx.role.kind.has_sessions() {
        true => Some(unblocked_account(ctx, rec).await?),
        false => None,
    };
    if !ctx.is_only_asked {
        full_disk::before_sessions(ctx.home).await;
    }
    carson_checks::always(&ctx.firing(), &mut rec.checks, account).await?;
    if let Err(error) = disk_reserve::hold(&ctx.home.fleet) {
        warn!(firing.id = %ctx.id, %error, "nothing of the disk could be held back");
    }
    if let Some(account) = account {
        let name = account.name.clone();
        rec.count(ctx, |tally| tally.account = Some(name)).await;
    }
    Ok(Ready)
}

/// The flag is read again here: it may have been set since admission. What admission chose comes first,
/// but for the account in whose share the firing is.
async fn unblocked_account<'h>(ctx: &Ctx<'h>, rec: &mut Record) -> Result<&'h Account, Halt> {
    let listed = first_accounts(ctx.role);
    let name = match shared(ctx, rec).await {
        Some(name) => name,
        None => admitted(ctx, rec, &listed).await?,
    };
    let before = listed.iter().take_while(|one| **one != name);
    rec.left = match rec.chosen {
        Some(_) => Vec::new(),
        None => before.cloned().collect(),
    };
    let missing = || {
        let why = format!("account {name} is not in carson.toml; add it, or change `engines`");
        carson_checks::refuse(&mut rec.checks, format!("account.{name}.program"), why)
    };
    ctx.home.fleet.accounts.get(&name).ok_or_else(missing)
}

/// The account in whose share this firing is, where it can be used.
async fn shared(ctx: &Ctx<'_>, rec: &mut Record) -> Option<AccountName> {
    let name = ctx.role.shared_with(&ctx.id)?;
    if !routing::has_room(ctx, rec, name).await {
        return None;
    }
    rec.chosen = Some(name.clone());
    let event = Event::RoutedTo {
        stage: ctx.role.begins_with(),
        account: name.clone(),
        why: Routed::Share,
    };
    ctx.event(&event).await;
    Some(name.clone())
}

/// The account that admission chose, else the first that is not blocked.
async fn admitted(
    ctx: &Ctx<'_>,
    rec: &Record,
    listed: &[AccountName],
) -> Result<AccountName, Halt> {
    let blocks = ctx
        .store()
        .blocks()
        .await
        .or_broken("reading the block flags")?;
    let chosen = rec.tally().account.as_ref();
    let chosen = chosen.filter(|name| listed.contains(name));
    let others = listed.iter().filter(|name| Some(*name) != chosen);
    let all: Vec<AccountName> = chosen.into_iter().chain(others).cloned().collect();
    admit_account(&all, &blocks, ctx.home.clock.now()).map_err(Halt::Skipped)
}
