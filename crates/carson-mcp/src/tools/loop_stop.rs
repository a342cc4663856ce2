//! A loop that ends before it would.

use carson_config::McpGrant;
use carson_loop::api::{self, StopAnswer};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

/// Which loop, and when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopStop {
    /// The directory of the loop, or one below it; without it the one that the server was started in.
    directory: Option<String>,
    /// Only behind the attempt that runs.
    #[serde(default)]
    after_attempt: bool,
}

impl Call for LoopStop {
    const NAME: &'static str = "loop_stop";
    const ALSO: Option<&'static str> = Some("alpf_stop");
    const WHAT: &'static str = "Stop the loop: its task is told to end, and what it did is kept as an attempt that does not \
         count. Needs the grant `loop`.";
    const GRANT: Option<McpGrant> = Some(McpGrant::Loop);
    type Answer = StopAnswer;

    async fn answer(self, desk: &Desk) -> Result<StopAnswer, Refused> {
        let place = desk.loop_to_run(self.directory.as_deref())?;
        Ok(api::stop(&place, &desk.caller(), self.after_attempt).await?)
    }
}
