//! Every account that the role may use is blocked, or paused.

use chrono::{DateTime, Utc};

use super::change::{Change, SettingsFile};
use super::gate::{Block, Gate};
use super::stop::{Cause, Standing, Stop};
use super::usage_window::with_room;
use crate::id::AccountName;
use crate::settle::Halt;
use crate::skip::{BlockKind, SkipKind, SkipReason};
use crate::text::instant;

const KIND: SkipKind = SkipKind::new("block");

pub(super) const STOP: Stop = Stop {
    kinds: &[KIND],
    stands,
    during: Some(during),
    yields: false,
};

fn stands(gate: &Gate, now: DateTime<Utc>) -> Option<Standing> {
    if !gate.asks_models {
        return None;
    }
    // An account whose windows are used up is no way out; with none left, that stop comes first.
    let mut accounts = with_room(gate, now);
    if accounts.is_empty() {
        accounts.clone_from(&gate.accounts);
    }
    let reason = admit_account(&accounts, &gate.blocks, now).err()?;
    let mut causes: Vec<Cause> = standing(&gate.accounts, &gate.blocks, now)
        .map(cause)
        .collect();
    if causes.is_empty() {
        let file = SettingsFile::Role(gate.role.clone());
        causes.push(Cause {
            why: "the role has no account".to_owned(),
            until: None,
            change: Change::default().key("engines", file),
        });
    }
    Some(Standing {
        reason,
        waits: false,
        causes,
    })
}

fn cause(block: &Block) -> Cause {
    let (account, why) = (&block.account, &block.reason);
    let end = block.until.map_or("an operator ends that".into(), instant);
    let clear = format!("block clear {account}");
    let change = Change::default();
    let change = match block.kind {
        Some(BlockKind::Pause) => change.command(format!("resume --account {account}")),
        Some(BlockKind::Auth) => change.text("sign in again, then ").command(clear),
        Some(BlockKind::Billing) => change.text("pay for the account, then ").command(clear),
        Some(BlockKind::Limit) => change
            .text("wait, or ")
            .command(clear)
            .text(" if the provider lets you go on"),
        Some(BlockKind::Outage) => change
            .text("wait until one session asks whether its provider is back, or ")
            .command(clear),
        Some(BlockKind::Operator) | None => change.command(clear),
    };
    Cause {
        why: format!("account {account} until {end}: {why}"),
        until: block.until,
        change,
    }
}

/// The account that the firing uses met its limit.
fn during(gate: &Gate, now: DateTime<Utc>) -> Halt {
    match standing(&gate.accounts, &gate.blocks, now).next() {
        Some(block) => Halt::RateLimited {
            account: block.account.clone(),
            until: block.until,
            kind: block.kind,
            why: block.reason.clone(),
        },
        None => Halt::Broken("the firing has no account".to_owned()),
    }
}

/// The blocks of these accounts that stand, in the order of the accounts.
fn standing<'b>(
    accounts: &'b [AccountName],
    blocks: &'b [Block],
    now: DateTime<Utc>,
) -> impl Iterator<Item = &'b Block> {
    let of = move |account: &AccountName| {
        let mut blocks = blocks.iter();
        blocks.find(|block| block.account == *account && block.stands(now))
    };
    accounts.iter().filter_map(of)
}

/// The first account without a standing block.
///
/// # Errors
/// When there is none: why each of them is blocked, and until when.
pub fn admit_account(
    accounts: &[AccountName],
    blocks: &[Block],
    now: DateTime<Utc>,
) -> Result<AccountName, SkipReason> {
    let standing: Vec<&Block> = standing(accounts, blocks, now).collect();
    let is_free = |account: &&AccountName| !standing.iter().any(|one| one.account == **account);
    if let Some(account) = accounts.iter().find(is_free) {
        return Ok(account.clone());
    }
    let why = standing.iter().map(|block| {
        let end = block.until.map_or("an operator clears it".into(), instant);
        format!("{} until {end} ({})", block.account, block.reason)
    });
    let why = match standing.is_empty() {
        true => "the role has no account".to_owned(),
        false => why.collect::<Vec<_>>().join("; "),
    };
    Err(SkipReason::new(KIND, format!("blocked: {why}")))
}
