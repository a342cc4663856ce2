//! The promise alone.

use carson_config::McpGrant;
use carson_loop::api::{self, TestAnswer};
use carson_proc::Cancel;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

/// Which loop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopTestPromise {
    /// The directory of the loop, or one below it; without it the one that the server was started in.
    directory: Option<String>,
}

impl Call for LoopTestPromise {
    const NAME: &'static str = "loop_test_promise";
    const ALSO: Option<&'static str> = Some("alpf_test_promise");
    const WHAT: &'static str = "Is the loop's promise kept now? Runs the command that the loop's settings say, and nothing else; the \
         loop does not hear of it. Needs the grant `loop`.";
    // Whoever made the directory wrote the command.
    const GRANT: Option<McpGrant> = Some(McpGrant::Loop);
    type Answer = TestAnswer;

    async fn answer(self, desk: &Desk) -> Result<TestAnswer, Refused> {
        let place = desk.loop_to_run(self.directory.as_deref())?;
        Ok(api::test_promise(&place, &desk.caller(), &Cancel::new()).await?)
    }
}
