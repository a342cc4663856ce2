//! What was used, and what the night will cost.

use carson_core::AccountName;
use carson_core::forecast::Forecast;
use carson_firing::night::{morning, night};
use carson_home::Home;
use carson_store::{Used, UsedBy};
use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::daemons::{Life, daemons};
use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};
use crate::windows::{WindowLine, windows_of};

/// Since when, where nobody says.
pub const SINCE: &str = "7d";

/// A day, where none of a calendar is meant.
const A_DAY: TimeDelta = TimeDelta::days(1);

/// What was used of each account, what did each role spend, and what will the night cost?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    #[serde(default = "week")]
    pub since: String,
}

fn week() -> String {
    SINCE.to_owned()
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct Seen {
    /// When it was asked.
    pub now: DateTime<Utc>,
    /// Since when sessions are counted.
    pub since: DateTime<Utc>,
    /// The accounts with their usage windows.
    pub accounts: Vec<AccountWindows>,
    /// What was used since then, by role and account.
    pub used: Vec<UsedBy>,
    /// The same of all.
    pub all: All,
    /// What the firings until the morning will cost.
    pub night: Forecast,
    /// Whether a daemon runs: without one nothing fires by itself.
    pub daemon_runs: bool,
}

/// An account and its usage windows.
#[derive(Debug, Serialize)]
pub struct AccountWindows {
    /// The account.
    pub account: AccountName,
    /// Its windows, as they were told; none where nobody told of any.
    pub windows: Vec<WindowLine>,
}

/// What all sessions used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct All {
    /// Sessions.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Tokens in and out.
    pub tokens: u64,
    /// Money, as far as it is known.
    pub cost_usd: f64,
    /// Whether part of it was priced from tokens.
    pub cost_estimated: bool,
    /// Sessions whose cost nobody told.
    pub untold: u64,
}

impl Ask for Usage {
    const NAME: &'static str = "usage";
    const WHAT: &'static str =
        "Show usage windows, what each role spent, and what the night will cost";
    const WHO: Who = Who::Anyone;
    type Answer = Seen;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let now = home.clock.now();
        let since = since(home, Some(&self.since))?.unwrap_or(now);
        let until = morning(home.fleet.zone, now);
        let windows = home.store.windows().await?;
        let accounts = home.fleet.accounts.keys().map(|account| AccountWindows {
            account: account.clone(),
            windows: windows_of(&windows, account, now),
        });
        // What was claimed a moment ahead of its slot counts, too.
        let used = home.store.used((since, now + A_DAY)).await?;
        let daemons = daemons(home, now).await?;
        Ok(Seen {
            now,
            since,
            accounts: accounts.collect(),
            all: All::of(&used),
            used,
            night: night(home, windows, (now, until)).await?.forecast(),
            daemon_runs: daemons.iter().any(|daemon| daemon.life == Life::Runs),
        })
    }
}

impl All {
    fn of(used: &[UsedBy]) -> Self {
        let mut all = Self::default();
        used.iter().for_each(|row| all.add(&row.used));
        all
    }

    fn add(&mut self, used: &Used) {
        self.sessions += u64::from(used.sessions);
        self.turns += u64::from(used.turns);
        self.tokens = self.tokens.saturating_add(used.tokens);
        self.cost_usd += used.cost_usd.unwrap_or(0.0);
        self.cost_estimated |= used.cost_estimated;
        self.untold += u64::from(used.untold);
    }
}

#[cfg(test)]
mod tests;
