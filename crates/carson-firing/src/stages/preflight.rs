//! Checks that cost no model call and, for the common case of no work, no process.

use carson_config::Account;
use carson_core::Stage;
use carson_core::admission::admit_account;
use carson_core::settle::Halt;

use crate::ctx::Ctx;
use crate::record::Record;
use carson_home::halt::OrBroken;

/// Preflight passed.
pub(crate) struct Ready;

pub(crate) async fn run(ctx: &Ctx<'_>, rec: &mut Record) -> Result<Ready, Halt> {
    ctx.enter(Stage::Preflight).await;
    let account = match ctx.role.kind.has_sessions() {
        true => Some(unblocked_account(ctx, rec).await?),
        false => None,
    };
    carson_checks::always(&ctx.firing(), &mut rec.checks, account).await?;
    if let Some(account) = account {
        let name = account.name.clone();
        rec.count(ctx, |tally| tally.account = Some(name)).await;
    }
    Ok(Ready)
}

/// The flag is read again here: it may have been set since admission.
async fn unblocked_account<'h>(ctx: &Ctx<'h>, rec: &mut Record) -> Result<&'h Account, Halt> {
    let blocks = ctx
        .store()
        .blocks()
        .await
        .or_broken("reading the block flags")?;
    let name =
        admit_account(&ctx.role.engines, &blocks, ctx.home.clock.now()).map_err(Halt::Skipped)?;
    let missing = || {
        let why = format!("account {name} is not in carson.toml; add it, or change `engines`");
        carson_checks::refuse(&mut rec.checks, format!("account.{name}.program"), why)
    };
    ctx.home.fleet.accounts.get(&name).ok_or_else(missing)
}
