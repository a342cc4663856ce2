//! What was merged.

use carson_firing::Brief;
use carson_home::Home;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

/// Since when, where nobody says.
pub const SINCE: &str = "7d";

/// What was merged, and what is ready to be?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shipped {
    /// Since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    #[serde(default = "week")]
    pub since: String,
}

fn week() -> String {
    SINCE.to_owned()
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct Merged {
    /// Since when.
    pub since: DateTime<Utc>,
    /// What was merged.
    pub merged: Vec<String>,
    /// Pull requests that are ready to be read.
    pub ready: Vec<String>,
}

impl Ask for Shipped {
    const NAME: &'static str = "shipped";
    const WHAT: &'static str = "Say what was merged, and what is ready to be";
    const WHO: Who = Who::Anyone;
    type Answer = Merged;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let since = since(home, Some(&self.since))?.unwrap_or_default();
        let brief = Brief::since(home, since).await?;
        Ok(Merged {
            since,
            merged: brief.merged,
            ready: brief.ready,
        })
    }
}
