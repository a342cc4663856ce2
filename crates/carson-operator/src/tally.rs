//! How firings ended and what they cost, day by day.

use std::collections::BTreeMap;

use carson_core::Outcome;
use carson_home::Home;
use carson_home::calendar::day_of;
use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

/// Since when, where nobody says.
pub const SINCE: &str = "14d";

/// The most days.
const DAYS: i64 = 92;

/// The most firings of one role that are looked at, the newest.
const MOST: u32 = 5_000;

/// How did firings end, and what did they cost, day by day?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Since then, three months at most: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    #[serde(default = "fortnight")]
    pub since: String,
}

fn fortnight() -> String {
    SINCE.to_owned()
}

/// The days.
#[derive(Debug, Serialize)]
pub struct Tallied {
    /// Every day of the fleet's zone from then to now, the oldest first.
    pub days: Vec<Day>,
    /// Whether older firings of busy roles are not counted.
    pub cut: bool,
}

/// One day.
#[derive(Debug, Default, Serialize)]
pub struct Day {
    /// Which.
    pub day: NaiveDate,
    /// How many ended so.
    pub ends: BTreeMap<Outcome, u32>,
    /// How many have not ended.
    pub running: u32,
    /// Money, as far as it is known.
    pub cost_usd: f64,
}

impl Ask for Tally {
    const NAME: &'static str = "tally";
    const WHAT: &'static str = "Count how firings ended and what they cost, day by day";
    const WHO: Who = Who::Anyone;
    type Answer = Tallied;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let (now, zone) = (home.clock.now(), home.fleet.zone);
        let since = since(home, Some(&self.since))?.unwrap_or(now);
        let since = since.max(now - TimeDelta::days(DAYS));
        // A day is counted whole.
        let since = day_of(zone, since).0;
        let date = |at: DateTime<Utc>| at.with_timezone(&zone).date_naive();
        let mut days: BTreeMap<NaiveDate, Day> = BTreeMap::new();
        let mut day = date(since);
        while day <= date(now) {
            let one = Day {
                day,
                ..Day::default()
            };
            days.insert(day, one);
            day = day + Days::new(1);
        }
        let mut cut = false;
        for role in home.fleet.roles.keys() {
            let span = (since, now + TimeDelta::minutes(1));
            let ends = home.store.ends_between(role, span, MOST).await?;
            cut |= ends.len() >= MOST as usize;
            for (at, outcome, cost) in ends {
                let Some(day) = days.get_mut(&date(at)) else {
                    continue;
                };
                match outcome {
                    Some(outcome) => *day.ends.entry(outcome).or_default() += 1,
                    None => day.running += 1,
                }
                day.cost_usd += cost.unwrap_or(0.0);
            }
        }
        Ok(Tallied {
            days: days.into_values().collect(),
            cut,
        })
    }
}
