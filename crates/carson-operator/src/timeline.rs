//! The firings of a span of time, role by role.

use std::collections::BTreeMap;

use carson_config::Role;
use carson_core::RoleName;
use carson_home::Home;
use carson_store::{Drawn, Quiet};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::try_join_all;
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

/// Of so many parts of a span what was quiet is put together, at most; for few firings there are fewer.
const PARTS: i32 = 24;

/// What fired in a span of time, role by role?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timeline {
    /// Only of these roles; of all without any.
    #[serde(default)]
    pub roles: Vec<String>,
    /// From then on: an instant (2026-11-20T10:00:00Z), how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    #[serde(default = "hours")]
    pub since: String,
    /// Up to then; up to now without it.
    pub until: Option<String>,
    /// At most so many of each role, the newest. Where there were more than so many for each, those that found nothing
    /// and skipped slots are put together.
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
    /// Its firings, the newest first; skipped slots and those that found nothing only where they are not below.
    pub firings: Vec<Drawn>,
    /// What was quiet, put together, the oldest first.
    pub quiet: Vec<Quiet>,
    /// Whether older firings of the span are left out.
    pub more: bool,
}

impl Ask for Timeline {
    const NAME: &'static str = "timeline";
    const WHAT: &'static str = "Say what fired in a span of time, role by role";
    const WHO: Who = Who::Anyone;
    type Answer = Span;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let (now, store) = (home.clock.now(), &home.store);
        let since = instant(home, "since", Some(&self.since))?.unwrap_or(now);
        // What was claimed a moment ahead of its slot counts, too.
        let soon = now + TimeDelta::minutes(1);
        let until = instant(home, "until", self.until.as_deref())?.unwrap_or(soon);
        let limit = self.limit.clamp(1, MOST);
        let given = self.roles.iter().map(|name| names::role(&home.fleet, name));
        let mut roles: Vec<&Role> = given.collect::<Result<_, _>>()?;
        if roles.is_empty() {
            roles = home.fleet.roles.values().collect();
        }
        let names: Vec<&RoleName> = roles.iter().map(|role| &role.name).collect();
        let all = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let span = (since, until);
        let are_many = store
            .are_more(&names, span, limit.saturating_mul(all))
            .await?;
        let mut lanes: BTreeMap<RoleName, Lane> = BTreeMap::new();
        for name in &names {
            let lane = Lane {
                role: (*name).clone(),
                firings: Vec::new(),
                quiet: Vec::new(),
                more: false,
            };
            lanes.insert((*name).clone(), lane);
        }
        for row in store.drawn(&names, span, !are_many, limit + 1).await? {
            if let Some(lane) = lanes.get_mut(&row.role) {
                lane.more = lane.firings.len() >= limit as usize;
                if !lane.more {
                    lane.firings.push(row);
                }
            }
        }
        let parts = match are_many {
            true => parts(span, limit),
            false => Vec::new(),
        };
        let parts = parts.into_iter().map(|part| store.quiet(&names, part));
        for quiet in try_join_all(parts).await?.into_iter().flatten() {
            if let Some(lane) = lanes.get_mut(&quiet.role) {
                lane.quiet.push(quiet);
            }
        }
        Ok(Span {
            now,
            since,
            until: until.min(now),
            roles: lanes.into_values().collect(),
        })
    }
}

/// Equal parts of a span, one after the other.
fn parts(
    (since, until): (DateTime<Utc>, DateTime<Utc>),
    limit: u32,
) -> Vec<(DateTime<Utc>, DateTime<Utc>)> {
    let count = i32::try_from(limit / 2).unwrap_or(PARTS).clamp(1, PARTS);
    let end = |nth: i32| match nth {
        nth if nth == count => until,
        nth => since + (until - since) / count * nth,
    };
    (0..count).map(|nth| (end(nth), end(nth + 1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_span_are_the_whole_of_it() {
        let at = |second| DateTime::from_timestamp(second, 0).unwrap();
        for (span, limit, count) in [((0, 100), 12, 6), ((0, 7), 500, 24), ((5, 5), 0, 1)] {
            let (since, until) = (at(span.0), at(span.1));
            let parts = parts((since, until), limit);
            assert_eq!(parts.len(), count);
            assert_eq!((parts[0].0, parts[count - 1].1), (since, until));
            assert!(parts.windows(2).all(|two| two[0].1 == two[1].0));
        }
    }
}
