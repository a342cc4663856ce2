//! What accounts have used, and what may be spent.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::id::AccountName;

/// How much of an account's usage window is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageWindow {
    /// The account.
    pub account: AccountName,
    /// The window, as the provider names it.
    pub name: String,
    /// How much is used, from 0 to 1.
    pub utilization: f64,
    /// When it starts again.
    pub resets_at: Option<DateTime<Utc>>,
    /// When this was told.
    pub seen_at: DateTime<Utc>,
}

/// A window without a known end is believed so long.
const UNKNOWN_WINDOW: TimeDelta = TimeDelta::hours(5);

impl UsageWindow {
    /// Whether this still says something at `now`.
    #[must_use]
    pub fn stands(&self, now: DateTime<Utc>) -> bool {
        now < self.resets_at.unwrap_or(self.seen_at + UNKNOWN_WINDOW)
    }
}

impl fmt::Display for UsageWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.utilization * 100.0;
        write!(f, "{} used {used:.0} % of {}", self.account, self.name)?;
        match self.resets_at {
            Some(at) => write!(
                f,
                ", which starts again {}",
                at.format("%Y-%m-%d %H:%M:%SZ")
            ),
            None => Ok(()),
        }
    }
}

/// How much of its usage windows an account leaves alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// The account.
    pub account: AccountName,
    /// Roles of low priority wait when so much is used.
    pub warn_at: f64,
    /// So much is kept for people.
    pub reserve: f64,
}

/// Money that may be spent in a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// Whose, and in which time: `this role a day`.
    pub what: &'static str,
    /// The key that sets it.
    pub key: &'static str,
    /// What was spent.
    pub spent: f64,
    /// What may be.
    pub max: f64,
}
