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
         loop does not hear of it. Without the grant `loop` it runs behind walls (`walled` of the answer): without a network \
         and a home, and it changes nothing, so that one that must write into the tree fails there.";
    // Whoever made the directory wrote the command: who was not granted it runs it where it reaches nothing.
    const GRANT: Option<McpGrant> = None;
    const RUNS: bool = true;
    type Answer = TestAnswer;

    async fn answer(self, desk: &Desk) -> Result<TestAnswer, Refused> {
        let (place, is_granted) = desk.loop_to_ask(self.directory.as_deref())?;
        let (caller, cancel) = (desk.caller(), Cancel::new());
        Ok(match is_granted {
            true => api::test_promise(&place, &caller, &cancel).await?,
            false => api::test_promise_walled(&place, &caller, &cancel).await?,
        })
    }
}
