//! The tree as an attempt left it.

use carson_config::McpGrant;
use carson_loop::api::{self, Mine, RolledBack};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

/// Which loop, and to which attempt.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopRollback {
    /// The directory of the loop, or one below it; without it the one that the server was started in.
    directory: Option<String>,
    /// The attempt whose tree is brought back; 0 is the tree before the first one.
    attempt: u32,
    /// Files that a person edited since stay as they are; without it nothing is done where there are any.
    #[serde(default)]
    keep_mine: bool,
}

impl Call for LoopRollback {
    const NAME: &'static str = "loop_rollback";
    const ALSO: Option<&'static str> = Some("alpf_rollback");
    const WHAT: &'static str = "Bring the tree and git's index back to where an attempt left them. No commit is moved, and what a \
         person edited since is never overwritten. Needs the grant `loop`.";
    const GRANT: Option<McpGrant> = Some(McpGrant::Loop);
    type Answer = RolledBack;

    async fn answer(self, desk: &Desk) -> Result<RolledBack, Refused> {
        let place = desk.loop_to_run(self.directory.as_deref())?;
        let mine = match self.keep_mine {
            true => Mine::Keep,
            false => Mine::Refuse,
        };
        let (caller, attempt) = (desk.caller(), self.attempt);
        let runtime = tokio::runtime::Handle::current();
        // To its end, once begun, whoever still waits for it.
        desk.aside(move || runtime.block_on(api::rollback(&place, &caller, attempt, mine)))
            .await
    }
}
