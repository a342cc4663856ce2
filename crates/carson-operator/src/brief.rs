//! What the fleet did.

use carson_firing::Brief as Told;
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

/// Since when, where nobody says.
pub const SINCE: &str = "24h";

/// What did the fleet do, and what waits for you?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Brief {
    /// Since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    #[serde(default = "day")]
    pub since: String,
}

fn day() -> String {
    SINCE.to_owned()
}

impl Ask for Brief {
    const NAME: &'static str = "brief";
    const WHAT: &'static str = "Say what the fleet did, and what waits for you";
    const WHO: Who = Who::Anyone;
    type Answer = Told;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let since = since(home, Some(&self.since))?.unwrap_or_default();
        Ok(Told::since(home, since).await?)
    }
}
