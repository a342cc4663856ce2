//! May a due slot become a firing now?

use std::fmt;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::breaker::Breaker;
use crate::id::AccountName;
use crate::skip::{BlockKind, SkipKind};
pub use crate::usage::{Budget, Shares, UsageWindow};

/// What the role asks for when its firing still runs at the next slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overlap {
    /// The slot is skipped.
    #[default]
    Skip,
    /// The latest slot waits until the running firing has ended.
    QueueOne,
}

/// A block flag on an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The blocked account.
    pub account: AccountName,
    /// Until when; `None` until an operator clears it.
    pub until: Option<DateTime<Utc>>,
    /// Why, for people.
    pub reason: String,
    /// What stands behind it; `None` in rows from before that was kept.
    #[serde(default)]
    pub kind: Option<BlockKind>,
}

/// No provider's limit lasts longer: a block that claims to is held to this.
pub const BLOCK_HORIZON: TimeDelta = TimeDelta::days(31);

impl Block {
    /// Whether the block stands at `now`.
    #[must_use]
    pub fn stands(&self, now: DateTime<Utc>) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// An operator's pause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// What is paused: `fleet`, `role NAME`, `repo NAME` or `account NAME`.
    pub what: String,
    /// Why.
    pub reason: String,
    /// Until when; `None` until it is resumed.
    pub until: Option<DateTime<Utc>>,
}

impl Pause {
    /// Whether the pause stands at `now`.
    #[must_use]
    pub fn stands(&self, now: DateTime<Utc>) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// What admission looks at, gathered in one read of the store.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// A pause on the fleet, the role or its repository.
    pub pause: Option<Pause>,
    /// Blocks of the role's accounts.
    pub blocks: Vec<Block>,
    /// The accounts the role may use, in its order.
    pub accounts: Vec<AccountName>,
    /// The usage windows of all accounts.
    pub windows: Vec<UsageWindow>,
    /// What the role's accounts leave alone.
    pub shares: Vec<Shares>,
    /// Whether the role waits first.
    pub is_low: bool,
    /// The role's breaker.
    pub breaker: Breaker,
    /// After how long one firing may try although it is open.
    pub cooldown: Option<Duration>,
    /// Money that may be spent.
    pub budgets: Vec<Budget>,
    /// What the role spent in its zone's day.
    pub spent_today: f64,
    /// Firings of this role in its zone's day, skipped ones left out.
    pub fired_today: u32,
    /// The role's daily cap.
    pub max_per_day: u32,
    /// Whether a firing of this role runs, on any host.
    pub running: bool,
    /// What the role asks for in that case.
    pub overlap: Overlap,
    /// Firings that run on this host.
    pub running_here: u32,
    /// How many this host may run.
    pub max_here: u32,
}

/// The decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Claim the slot and start, with the first of these accounts that is not blocked.
    Admit(AccountName),
    /// Not now, but the slot stays due.
    Wait(&'static str),
    /// The slot ends here, as a quiet row.
    Skip(SkipReason),
}

/// Why a slot or a firing was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// An operator's pause.
    Paused(String),
    /// Every account of the role is blocked.
    Blocked(String),
    /// What is left of every account's usage windows is kept for people.
    Reserved(String),
    /// The usage windows are nearly used up, and the role is of low priority.
    LowPriority(String),
    /// Money is used up.
    Budget(String),
    /// The role's breaker is open.
    BreakerOpen(String),
    /// The daily cap is used up.
    DailyCap(u32),
    /// Its firing still runs.
    Overlap,
    /// People have enough of this role's pull requests to read.
    OpenPullRequests(u32),
    /// The slot is too old (`max_late`, or `catch_up = "none"`).
    TooLate,
    /// A preflight check failed.
    Preflight(String),
}

impl SkipReason {
    /// The kind alone: what a row holds, and what control flow may read.
    #[must_use]
    pub fn kind(&self) -> SkipKind {
        match self {
            Self::Paused(_) => SkipKind::Pause,
            Self::Blocked(_) => SkipKind::Block,
            Self::Reserved(_) => SkipKind::Reserved,
            Self::LowPriority(_) => SkipKind::LowPriority,
            Self::Budget(_) => SkipKind::Budget,
            Self::BreakerOpen(_) => SkipKind::Breaker,
            Self::DailyCap(_) => SkipKind::DailyCap,
            Self::Overlap => SkipKind::Overlap,
            Self::OpenPullRequests(_) => SkipKind::OpenPrs,
            Self::TooLate => SkipKind::TooLate,
            Self::Preflight(_) => SkipKind::Preflight,
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused(why) => write!(f, "paused: {why}"),
            Self::Blocked(why) => write!(f, "blocked: {why}"),
            Self::Reserved(why) => write!(f, "kept for people: {why}"),
            Self::LowPriority(why) => write!(f, "low priority: {why}"),
            Self::Budget(why) => write!(f, "budget used up: {why}"),
            Self::BreakerOpen(why) => write!(f, "breaker open: {why}"),
            Self::DailyCap(cap) => write!(f, "daily cap of {cap} firings used up"),
            Self::Overlap => f.write_str("its firing still runs"),
            Self::OpenPullRequests(n) => write!(f, "review queue {n}/{n}"),
            Self::TooLate => f.write_str("the slot is too old to catch up"),
            Self::Preflight(why) => write!(f, "preflight: {why}"),
        }
    }
}

/// Decides. The order is the order in which an operator wants to hear of it: what people said
/// (pause), what the provider said (block), what the role earned (breaker, cap), then what is
/// merely busy.
#[must_use]
pub fn admit(gate: &Gate, now: DateTime<Utc>) -> Admission {
    if let Some(pause) = gate.pause.as_ref().filter(|pause| pause.stands(now)) {
        return Admission::Skip(SkipReason::Paused(format!(
            "{} ({})",
            pause.what, pause.reason
        )));
    }
    let account = match choose_account(gate, now) {
        Ok(account) => account,
        Err(reason) => return Admission::Skip(reason),
    };
    if let Some(reason) = open_breaker(gate, now) {
        return Admission::Skip(reason);
    }
    if let Some(budget) = gate
        .budgets
        .iter()
        .find(|budget| budget.spent >= budget.max)
    {
        let (spent, max, what) = (budget.spent, budget.max, budget.what);
        return Admission::Skip(SkipReason::Budget(format!(
            "${spent:.2} of ${max:.2} for {what}"
        )));
    }
    if gate.fired_today >= gate.max_per_day {
        return Admission::Skip(SkipReason::DailyCap(gate.max_per_day));
    }
    if gate.running {
        return match gate.overlap {
            Overlap::Skip => Admission::Skip(SkipReason::Overlap),
            Overlap::QueueOne => Admission::Wait("its firing still runs"),
        };
    }
    if gate.running_here >= gate.max_here {
        return Admission::Wait("this host runs as many firings as it may");
    }
    Admission::Admit(account)
}

/// An open breaker stops the role until its cooldown is over: then one firing may try.
fn open_breaker(gate: &Gate, now: DateTime<Utc>) -> Option<SkipReason> {
    if !gate.breaker.is_open() {
        return None;
    }
    let why = gate.breaker.reason.clone().unwrap_or_default();
    match gate.breaker.half_opens_at(gate.cooldown) {
        Some(at) if now >= at => None,
        Some(at) => Some(SkipReason::BreakerOpen(format!(
            "{why}; one firing may try from {}",
            at.format("%Y-%m-%d %H:%M:%SZ")
        ))),
        None => Some(SkipReason::BreakerOpen(why)),
    }
}

/// The first account that is not blocked and whose windows leave something for this role.
fn choose_account(gate: &Gate, now: DateTime<Utc>) -> Result<AccountName, SkipReason> {
    let mut held = Vec::new();
    let mut free = Vec::new();
    for account in &gate.accounts {
        match used_up(gate, account, now) {
            Some(reason) => held.push(reason),
            None => free.push(account.clone()),
        }
    }
    match admit_account(&free, &gate.blocks, now) {
        Err(SkipReason::Blocked(why)) if why.is_empty() => {
            let first = held.into_iter().next();
            Err(first.unwrap_or_else(|| SkipReason::Blocked("the role has no account".into())))
        }
        other => other,
    }
}

/// Why an account's usage windows leave nothing for this role.
fn used_up(gate: &Gate, account: &AccountName, now: DateTime<Utc>) -> Option<SkipReason> {
    let shares = gate
        .shares
        .iter()
        .find(|shares| shares.account == *account)?;
    let windows = gate.windows.iter();
    let fullest = windows
        .filter(|window| window.account == *account && window.stands(now))
        .max_by(|a, b| a.utilization.total_cmp(&b.utilization))?;
    if shares.reserve > 0.0 && fullest.utilization >= 1.0 - shares.reserve {
        let kept = shares.reserve * 100.0;
        return Some(SkipReason::Reserved(format!("{kept:.0} %; {fullest}")));
    }
    let is_late = gate.is_low && fullest.utilization >= shares.warn_at;
    is_late.then(|| SkipReason::LowPriority(fullest.to_string()))
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
    let standing = |account: &AccountName| {
        blocks
            .iter()
            .find(|block| block.account == *account && block.stands(now))
    };
    if let Some(account) = accounts.iter().find(|account| standing(account).is_none()) {
        return Ok(account.clone());
    }
    let why: Vec<String> = accounts
        .iter()
        .filter_map(standing)
        .map(|block| {
            let until = block
                .until
                .map_or("an operator clears it".to_owned(), |until| {
                    until.format("%Y-%m-%d %H:%M:%SZ").to_string()
                });
            format!("{} until {until} ({})", block.account, block.reason)
        })
        .collect();
    Err(SkipReason::Blocked(why.join("; ")))
}

#[cfg(test)]
mod tests;
