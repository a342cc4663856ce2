//! What firings cost.

use std::collections::BTreeMap;

use carson_core::{Outcome, RoleName};
use carson_home::Home;
use carson_store::{Filter, Firing};
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

/// What did the firings of each role cost?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Only since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day; all without it.
    pub since: Option<String>,
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct Costs {
    /// Since when; everything without it.
    pub since: Option<DateTime<Utc>>,
    /// By role.
    pub roles: BTreeMap<RoleName, Sum>,
    /// Together.
    pub all: Sum,
}

/// What some firings add up to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sum {
    /// Firings that had a session.
    pub firings: u64,
    /// Those of them that ended as OK.
    pub ok: u64,
    /// Turns.
    pub turns: u64,
    /// Tokens in and out.
    pub tokens: u64,
    /// Money, as far as it is known.
    pub cost_usd: f64,
    /// Whether part of it was priced from tokens.
    pub estimated: bool,
    /// Firings whose cost nobody told.
    pub unknown: u64,
}

impl Ask for Cost {
    const NAME: &'static str = "cost";
    const WHAT: &'static str = "Say what firings cost, by role";
    const WHO: Who = Who::Anyone;
    type Answer = Costs;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let since = since(home, self.since.as_deref())?;
        let filter = Filter {
            role: None,
            since,
            skipped: true,
            outcome: None,
            limit: u32::MAX,
        };
        let (mut roles, mut all) = (BTreeMap::<RoleName, Sum>::new(), Sum::default());
        let rows = home.store.firings(&filter).await?;
        for row in rows.iter().filter(|row| row.sessions > 0) {
            roles.entry(row.role.clone()).or_default().add(row);
            all.add(row);
        }
        Ok(Costs { since, roles, all })
    }
}

impl Sum {
    fn add(&mut self, row: &Firing) {
        self.firings += 1;
        self.ok += u64::from(row.outcome == Some(Outcome::Ok));
        self.turns += u64::from(row.turns);
        self.tokens += row.tokens_in + row.tokens_out;
        self.cost_usd += row.cost_usd.unwrap_or(0.0);
        self.estimated |= row.cost_estimated;
        self.unknown += u64::from(row.cost_usd.is_none());
    }
}
