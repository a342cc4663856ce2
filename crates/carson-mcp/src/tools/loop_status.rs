//! How a loop stands.

use carson_config::McpGrant;
use carson_loop::api::{self, StatusAnswer};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

/// Which loop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopStatus {
    /// The directory of the loop, or one below it; without it the one that the server was started in.
    directory: Option<String>,
}

impl Call for LoopStatus {
    const NAME: &'static str = "loop_status";
    const ALSO: Option<&'static str> = Some("alpf_status");
    const WHAT: &'static str = "How does the loop stand? Its status, attempts so far and at most, whether its promise is \
         kept, and why it ended. Reads only.";
    const GRANT: Option<McpGrant> = None;
    type Answer = StatusAnswer;

    async fn answer(self, desk: &Desk) -> Result<StatusAnswer, Refused> {
        let place = desk.loop_in(self.directory.as_deref())?;
        desk.aside(move || api::status(&place)).await
    }
}
