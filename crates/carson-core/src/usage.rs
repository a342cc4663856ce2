//! What accounts have used, and what may be spent.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::block_claim::BELIEVED_AT_ONCE;
use crate::id::AccountName;
use crate::text::instant;

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
    /// Whether this still says something at `now`. It is a session's word, as a block is: after a
    /// day one firing looks again, whatever end was named.
    #[must_use]
    pub fn stands(&self, now: DateTime<Utc>) -> bool {
        let end = self.resets_at.unwrap_or(self.seen_at + UNKNOWN_WINDOW);
        now < end.min(self.seen_at + BELIEVED_AT_ONCE)
    }
}

impl fmt::Display for UsageWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.utilization * 100.0;
        write!(f, "{} used {used:.0} % of {}", self.account, self.name)?;
        match self.resets_at {
            Some(at) => write!(f, ", which starts again {}", instant(at)),
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

/// Money that was spent. Shown with `~` where part of it was priced from tokens: nobody charged just that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// Dollars.
    pub usd: f64,
    /// Whether part of it is an estimate.
    pub estimated: bool,
}

impl Spent {
    /// With so many digits.
    #[must_use]
    pub fn to_digits(self, digits: usize) -> String {
        let about = if self.estimated { "~" } else { "" };
        // The sum of nothing is a negative zero.
        format!("{about}${:.digits$}", self.usd + 0.0)
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_digits(2))
    }
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
    /// Whether part of that is an estimate.
    pub estimated: bool,
    /// What may be.
    pub max: f64,
}

impl Budget {
    /// What of it was spent.
    #[must_use]
    pub fn so_far(&self) -> Spent {
        Spent {
            usd: self.spent,
            estimated: self.estimated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_marked() {
        let spent = |estimated| Spent {
            usd: 1.7649,
            estimated,
        };
        assert_eq!(spent(false).to_string(), "$1.76");
        assert_eq!(spent(true).to_string(), "~$1.76");
        assert_eq!(spent(true).to_digits(4), "~$1.7649");
    }

    #[test]
    fn a_window_is_believed_until_its_end_and_no_longer_than_a_day() {
        let at = |hours: i64| DateTime::from_timestamp(hours * 3600, 0).unwrap();
        for (resets, stands_until) in [(Some(5), 5), (Some(24 * 30), 24), (None, 5)] {
            let window = UsageWindow {
                account: "claude".parse().unwrap(),
                name: "seven_day".into(),
                utilization: 1.0,
                resets_at: resets.map(at),
                seen_at: at(0),
            };
            assert!(window.stands(at(stands_until - 1)), "{resets:?}");
            assert!(!window.stands(at(stands_until)), "{resets:?}");
        }
    }
}
