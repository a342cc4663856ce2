//! The firings of a span of time, role by role.

use carson_config::Role;
use carson_core::RoleName;
use carson_home::Home;
use carson_store::Firing;
use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::instant;
use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Since when, where nobody says.
pub const SINCE: &str = "12h";

/// So many firings of one role are told, where nobody says.
pub const LIMIT: u32 = 120;

/// At most so many.
const MOST: u32 = 500;

/// What fired in a span of time, role by role?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timeline {
    /// Only of this role.
    pub role: Option<String>,
    /// From then on: an instant (2026-11-20T10:00:00Z), how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    #[serde(default = "hours")]
    pub since: String,
    /// Up to then; up to now without it.
    pub until: Option<String>,
    /// At most so many of each role, the newest.
    #[serde(default = "limit")]
    pub limit: u32,
}

fn hours() -> String {
    SINCE.to_owned()
}

fn limit() -> u32 {
    LIMIT
}

/// The span.
#[derive(Debug, Serialize)]
pub struct Span {
    /// When it was asked.
    pub now: DateTime<Utc>,
    /// Since when.
    pub since: DateTime<Utc>,
    /// Until when.
    pub until: DateTime<Utc>,
    /// The roles of the settings, in the order of their names.
    pub roles: Vec<Lane>,
}

/// What one role fired.
#[derive(Debug, Serialize)]
pub struct Lane {
    /// The role.
    pub role: RoleName,
    /// Its firings, the newest first, skipped slots among them.
    pub firings: Vec<Firing>,
    /// Whether older ones of the span are left out.
    pub more: bool,
}

impl Ask for Timeline {
    const NAME: &'static str = "timeline";
    const WHAT: &'static str = "Say what fired in a span of time, role by role";
    const WHO: Who = Who::Anyone;
    type Answer = Span;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let now = home.clock.now();
        let since = instant(home, "since", Some(&self.since))?.unwrap_or(now);
        // What was claimed a moment ahead of its slot counts, too.
        let soon = now + TimeDelta::minutes(1);
        let until = instant(home, "until", self.until.as_deref())?.unwrap_or(soon);
        let limit = self.limit.clamp(1, MOST);
        let roles: Vec<&Role> = match &self.role {
            Some(name) => vec![names::role(&home.fleet, name)?],
            None => home.fleet.roles.values().collect(),
        };
        let mut lanes = Vec::with_capacity(roles.len());
        for role in roles {
            let store = &home.store;
            let rows = store.firings_between(&role.name, (since, until), limit + 1);
            let mut firings = rows.await?;
            let more = firings.len() > limit as usize;
            firings.truncate(limit as usize);
            lanes.push(Lane {
                role: role.name.clone(),
                firings,
                more,
            });
        }
        Ok(Span {
            now,
            since,
            until: until.min(now),
            roles: lanes,
        })
    }
}
