//! The rows of firings.

use carson_core::egress::EgressHost;
use carson_core::{Outcome, RoleName};
use carson_home::Home;
use carson_store::{BlockedCall, EffectRow, EventRow, Filter, Firing, StageRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

/// How many are listed, where nobody says.
pub const LIMIT: u32 = 30;

/// Which firings were there, the newest first?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Only of this role.
    pub role: Option<String>,
    /// Only since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    pub since: Option<String>,
    /// Those that were skipped too: slots, and firings that ended before they had made anything.
    #[serde(default)]
    pub all: bool,
    /// Only those that ended so, as `PARTIAL`.
    #[serde(default)]
    pub outcome: Option<String>,
    /// At most so many.
    #[serde(default = "limit")]
    pub limit: u32,
}

fn limit() -> u32 {
    LIMIT
}

/// An outcome by its word, however that is written: `no-commit` is `NO_COMMIT`.
fn outcome_named(word: &str) -> Result<Outcome, Refusal> {
    let meant = word.trim().to_uppercase().replace('-', "_");
    meant.parse().map_err(|_| {
        let known = Outcome::ALL.map(Outcome::as_str).join(", ");
        Refusal::Field {
            field: "outcome",
            problem: format!("{word:?} is none of {known}"),
        }
    })
}

impl Ask for List {
    const NAME: &'static str = "firings";
    const WHAT: &'static str = "List firings, the newest first";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<Firing>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let role = match self.role.as_deref() {
            Some(name) => Some(role_that_fired(home, name).await?),
            None => None,
        };
        let outcome = self.outcome.as_deref().map(outcome_named).transpose()?;
        let filter = Filter {
            role,
            since: since(home, self.since.as_deref())?,
            // Who asks for skipped ones means them.
            skipped: self.all || outcome == Some(Outcome::Skipped),
            outcome,
            limit: self.limit,
        };
        Ok(home.store.firings(&filter).await?)
    }
}

/// Which firings, skipped slots too, were there before one, the newest first?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Older {
    /// Only of this role.
    pub role: Option<String>,
    /// Those that were claimed before this one; the newest without it.
    pub before: Option<String>,
    /// At most so many.
    #[serde(default = "limit")]
    pub limit: u32,
}

impl Ask for Older {
    const NAME: &'static str = "firings older";
    const WHAT: &'static str = "List the firings before one, the newest first";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<Firing>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let role = self.role.as_deref();
        let role = role
            .map(|name| names::role(&home.fleet, name))
            .transpose()?;
        let before = match self.before.as_deref() {
            Some(id) => Some(names::firing(&home.store, id).await?.id),
            None => None,
        };
        let role = role.map(|role| &role.name);
        Ok(home.store.firings_before(role, before, self.limit).await?)
    }
}

/// What did one firing do?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// Its id, or any part of it that no other has.
    pub id: String,
}

/// One firing with all that is written down about it.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// Its row.
    #[serde(flatten)]
    pub firing: Firing,
    /// The stages it went through.
    pub stages: Vec<StageRow>,
    /// The calls that were stopped.
    pub blocked_calls: Vec<BlockedCall>,
    /// What followed on the forge, in order, and what of it is still owed.
    pub effects: Vec<EffectRow>,
    /// What happened.
    pub events: Vec<EventRow>,
    /// The hosts that its sessions asked for.
    pub egress: Vec<EgressHost>,
    /// Tokens, in and out.
    pub tokens: u64,
}

impl Ask for Show {
    const NAME: &'static str = "firings show";
    const WHAT: &'static str = "Show one firing: its stages, events, stopped calls and hosts";
    const WHO: Who = Who::Anyone;
    type Answer = Shown;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let store = &home.store;
        let firing = names::firing(store, &self.id).await?;
        Ok(Shown {
            stages: store.stages(firing.id).await?,
            blocked_calls: store.blocked_calls(firing.id).await?,
            effects: store.effects(firing.id).await?,
            events: store.events_of(firing.id).await?,
            egress: store.egress(firing.id).await?,
            tokens: firing.tokens_in + firing.tokens_out,
            firing,
        })
    }
}

/// A role of the settings, or one that is gone and whose firings are there.
async fn role_that_fired(home: &Home, name: &str) -> Result<RoleName, Refusal> {
    let unknown = match names::role(&home.fleet, name) {
        Ok(role) => return Ok(role.name.clone()),
        Err(unknown) => unknown,
    };
    let Ok(role) = name.parse::<RoleName>() else {
        return Err(unknown);
    };
    match home.store.newest_of(&[&role]).await?.is_empty() {
        true => Err(unknown),
        false => Ok(role),
    }
}

/// Why it ended so, beside [`state`], which names its stop.
#[must_use]
pub fn reason(row: &Firing) -> &str {
    let why = row.reason.as_deref().unwrap_or_default();
    let named = row.skip.and_then(|stop| why.strip_prefix(stop.as_str()));
    named.and_then(|why| why.strip_prefix(": ")).unwrap_or(why)
}

/// Its outcome, or the stage it is in.
#[must_use]
pub fn state(row: &Firing) -> String {
    match (row.outcome, row.stage) {
        (Some(outcome), _) => match row.skip {
            Some(stop) => format!("{outcome} ({stop})"),
            None => outcome.to_string(),
        },
        (None, Some(stage)) => format!("… {stage}"),
        (None, None) => "… claimed".to_owned(),
    }
}
