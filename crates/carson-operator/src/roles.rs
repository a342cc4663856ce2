//! The roles of the fleet, as their settings say.

use std::collections::BTreeMap;

use carson_config::{Role, format_duration};
use carson_core::limits::WorstDay;
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Which roles are there?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {}

impl Ask for List {
    const NAME: &'static str = "roles";
    const WHAT: &'static str = "List roles";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<Summary>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let roles = home.fleet.roles.values();
        Ok(roles.map(|role| Summary::of(home, role)).collect())
    }
}

/// What is a role, and what can it cost at worst?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// The role.
    pub role: String,
}

impl Ask for Show {
    const NAME: &'static str = "roles show";
    const WHAT: &'static str = "Show one role with its worst case";
    const WHO: Who = Who::Anyone;
    type Answer = Summary;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let role = names::role(&home.fleet, &self.role)?;
        Ok(Summary::of(home, role))
    }
}

/// A role; as JSON with its worst case, and with durations as the role file has them.
#[derive(Debug)]
pub struct Summary {
    /// The role.
    pub role: Role,
    /// What its firings of one day cost at most.
    pub worst_day: WorstDay,
    /// The most slots that its cadence has in a day.
    pub slots_a_day: u32,
}

impl Summary {
    fn of(home: &Home, role: &Role) -> Self {
        let all_roles = home.fleet.max_cost_usd_per_day;
        let slots_a_day = role.cadence.most_in_a_day(home.clock.now());
        Self {
            worst_day: role.limits.worst_day(&role.stages, slots_a_day, all_roles),
            slots_a_day,
            role: role.clone(),
        }
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        summary(self).serialize(serializer)
    }
}

fn summary(summary: &Summary) -> Value {
    let Summary {
        role,
        worst_day,
        slots_a_day,
    } = summary;
    let mut limits = serde_json::to_value(&role.limits).unwrap_or_default();
    // As the role file has them.
    limits["wall_clock"] = format_duration(role.limits.wall_clock).into();
    limits["cooldown"] = role.limits.cooldown.map(format_duration).into();
    limits["silence"] = format_duration(role.limits.silence).into();
    let mut day = serde_json::to_value(worst_day).unwrap_or_default();
    day["wall_clock"] = format_duration(worst_day.wall_clock).into();
    json!({
        "name": role.name, "title": role.title, "enabled": role.enabled,
        "cadence": role.cadence_lines, "zone": role.cadence.zone().name(),
        "repos": role.repos, "engines": role.engines, "stages": role.stages,
        "routes": role.routes, "other_vendor": role.other_vendor,
        "share": role.share.iter().cloned().collect::<BTreeMap<_, _>>(),
        "limits": limits, "worst_case": role.limits.worst_case(&role.stages),
        "sandbox": role.confinement.sandbox, "push": role.confinement.push,
        "pass": role.confinement.pass, "paths": {
            "read": role.confinement.read, "write": role.confinement.write,
        },
        "egress": role.egress, "network": role.confinement.network,
        "worst_day": day, "slots_a_day": slots_a_day, "priority": role.priority,
        "spare": role.spare, "servers": role.servers, "skills": role.skills,
        "promise": role.promise.as_ref().map(|promise| &promise.run),
    })
}
