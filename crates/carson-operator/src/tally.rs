//! How firings ended and what they cost, day by day.

use std::collections::BTreeMap;

use carson_core::Outcome;
use carson_home::Home;
use carson_home::calendar::day_of;
use carson_store::StoreError;
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use futures_util::future::try_join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

/// Since when, where nobody says.
pub const SINCE: &str = "14d";

/// The most days.
const DAYS: i64 = 92;

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
        let running = home.store.live_firings(None).await?;
        let mut spans = Vec::new();
        let mut from = since;
        while from <= now {
            let span = day_of(zone, from);
            spans.push((date(from), span));
            // Whatever a calendar does, this ends.
            if span.1 <= from {
                break;
            }
            from = span.1;
        }
        let running = &running;
        let days = spans.into_iter().map(async |(day, span)| {
            let ends = home.store.ends_between(span).await?;
            let running = running.iter().filter(|row| date(row.claimed_at) == day);
            Ok::<_, StoreError>(Day {
                day,
                ends: ends.into_iter().collect(),
                running: u32::try_from(running.count()).unwrap_or(u32::MAX),
                cost_usd: home.store.spent(span).await?.usd,
            })
        });
        Ok(Tallied {
            days: try_join_all(days).await?,
        })
    }
}
