//! The breakers of roles.

use carson_core::{Event, RoleName};
use carson_home::Home;
use carson_store::BreakerRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::told;
use crate::verb::{Ask, Who};

/// Which breakers ever moved?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {}

impl Ask for List {
    const NAME: &'static str = "breaker list";
    const WHAT: &'static str = "List the breakers of roles, open or with a streak";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<BreakerRow>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        Ok(home.store.breakers().await?)
    }
}

/// Close a breaker.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reset {
    /// The role.
    pub role: String,
}

/// Whether a breaker was reset.
#[derive(Debug, Serialize)]
pub struct WasReset {
    /// The role.
    pub role: RoleName,
    /// Whether there was anything to reset.
    pub reset: bool,
}

impl Ask for Reset {
    const NAME: &'static str = "breaker reset";
    const WHAT: &'static str = "Close a role's breaker and forget its streak";
    const WHO: Who = Who::Operator;
    type Answer = WasReset;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let role = names::role(&home.fleet, &self.role)?.name.clone();
        let was_open = home.store.breaker(&role).await?.is_open();
        let reset = home.store.reset_breaker(&role).await?;
        let event = Event::BreakerReset { by: "operator" };
        let now = home.clock.now();
        home.store.event(&event, Some(&role), None, now).await?;
        if was_open {
            let title = format!("{role} fires again");
            told::tell(home, Some(&role), &title, "Its breaker was reset.").await;
        }
        Ok(WasReset { role, reset })
    }
}
