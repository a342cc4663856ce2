//! What the stops look at.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::breaker::Breaker;
use crate::id::{AccountName, RoleName};
use crate::skip::BlockKind;
use crate::usage::{Budget, Shares, Spent, UsageWindow};

/// What the role asks for when its firing still runs at the next slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overlap {
    /// The slot is skipped.
    #[default]
    Skip,
    /// The latest slot waits until the running firing has ended.
    QueueOne,
}

/// How the role's last firing is, on any host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastFiring {
    /// It has ended, or there was none.
    #[default]
    Ended,
    /// It runs.
    Runs,
    /// Its process on this host is gone, or its host is: the next pass of recovery concludes it.
    Died,
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
#[derive(Clone, Debug)]
pub struct Gate {
    /// Whose firing it is about.
    pub role: RoleName,
    /// The zone of the role's day.
    pub zone: Tz,
    /// A pause on the fleet, the role or its repository.
    pub pause: Option<Pause>,
    /// Blocks of accounts and forges.
    pub blocks: Vec<Block>,
    /// Whether the role asks models, and so needs an account.
    pub asks_models: bool,
    /// The accounts the role may use, in its order.
    pub accounts: Vec<AccountName>,
    /// The forges of its repositories, by the names under which they are blocked.
    pub forges: Vec<AccountName>,
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
    pub spent_today: Spent,
    /// Firings of this role in its zone's day, skipped ones left out.
    pub fired_today: u32,
    /// The role's daily cap.
    pub max_per_day: u32,
    /// How the role's last firing is.
    pub last: LastFiring,
    /// What the role asks for while it runs.
    pub overlap: Overlap,
    /// This host, where an operator drained it.
    pub drained: Option<String>,
    /// Which hosts the role is for, where this is none of them.
    pub elsewhere: Option<Vec<String>>,
    /// Firings that run on this host.
    pub running_here: u32,
    /// How many this host may run.
    pub max_here: u32,
}

impl Gate {
    /// That of a role of which nothing is known yet: it has no account and may not fire at all.
    #[must_use]
    pub fn of(role: RoleName) -> Self {
        Self {
            role,
            zone: Tz::UTC,
            pause: None,
            blocks: Vec::new(),
            asks_models: true,
            accounts: Vec::new(),
            forges: Vec::new(),
            windows: Vec::new(),
            shares: Vec::new(),
            is_low: false,
            breaker: Breaker::default(),
            cooldown: None,
            budgets: Vec::new(),
            spent_today: Spent::default(),
            fired_today: 0,
            max_per_day: 0,
            last: LastFiring::default(),
            overlap: Overlap::default(),
            drained: None,
            elsewhere: None,
            running_here: 0,
            max_here: 0,
        }
    }
}
