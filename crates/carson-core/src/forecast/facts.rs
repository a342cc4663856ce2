//! What a forecast is made from.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use super::history::History;
use crate::id::{AccountName, RoleName};
use crate::usage::{Budget, UsageWindow};

/// A role, and when it would fire.
#[derive(Clone, Debug)]
pub struct RoleFacts {
    /// The role.
    pub role: RoleName,
    /// When it is due until the morning, earliest first.
    pub slots: Vec<DateTime<Utc>>,
    /// How many firings each of its days takes yet; a day that is not here takes any number.
    pub caps: Vec<Cap>,
    /// What keeps it from firing now.
    pub stopped: Option<Stopped>,
    /// What its newest firings were.
    pub history: History,
    /// Whether it asks models; what asks none costs nothing.
    pub asks_models: bool,
    /// The most that one firing may cost; without it only the purses bound it.
    pub max_cost_usd: Option<f64>,
    /// The account that its firings begin with.
    pub account: Option<AccountName>,
    /// Whether it waits first.
    pub is_low: bool,
}

/// How many firings a role may yet have in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// Its beginning.
    pub from: DateTime<Utc>,
    /// Its end, which is not part of it.
    pub to: DateTime<Utc>,
    /// How many.
    pub left: u32,
    /// How many it may have in all.
    pub most: u32,
}

/// Why a role does not fire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stopped {
    /// What is so.
    pub why: String,
    /// When it is over by itself, if that is known.
    pub until: Option<DateTime<Utc>>,
}

/// Money that may be spent in a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Purse {
    /// Whose; the whole fleet's without it.
    pub role: Option<RoleName>,
    /// The beginning of that time.
    pub from: DateTime<Utc>,
    /// Its end, which is not part of it.
    pub to: DateTime<Utc>,
    /// How much, and what was spent of it.
    pub budget: Budget,
}

impl Purse {
    /// What is left of it; never less than nothing.
    #[must_use]
    pub fn left(&self) -> f64 {
        (self.budget.max - self.budget.spent).max(0.0)
    }

    /// Whether a firing of this role at this instant takes from it.
    #[must_use]
    pub fn is_of(&self, role: &RoleName, at: DateTime<Utc>) -> bool {
        let in_time = self.from <= at && at < self.to;
        in_time && self.role.as_ref().is_none_or(|own| own == role)
    }
}

/// A usage window of an account, and how fast it fills.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowFacts {
    /// What was told of it.
    pub window: UsageWindow,
    /// How long it lasts, where that is known of its name.
    pub length: Option<TimeDelta>,
    /// How much of it one token takes, from 0 to 1, as it went so far; unknown where nothing was counted.
    pub per_token: Option<f64>,
    /// From where on roles of low priority wait.
    pub warn_at: f64,
    /// How much is kept for people.
    pub reserve: f64,
}

impl WindowFacts {
    /// How long a window of this name lasts.
    #[must_use]
    pub fn length_of(name: &str) -> Option<TimeDelta> {
        // Claude Code's names, some with a model's behind them; seen in its events (docs/engines.md).
        match name {
            _ if name.starts_with("five_hour") => Some(TimeDelta::hours(5)),
            _ if name.starts_with("seven_day") => Some(TimeDelta::days(7)),
            _ => None,
        }
    }

    /// From where on a role waits.
    #[must_use]
    pub fn line(&self, is_low: bool) -> f64 {
        let all = 1.0 - self.reserve;
        match is_low {
            true => self.warn_at.min(all),
            false => all,
        }
    }
}
