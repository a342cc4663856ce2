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
    const WHAT: &'static str = "Is the loop's promise kept now? Runs the promise's command, and nothing else; the loop does not hear of \
         it.";
    const GRANT: Option<McpGrant> = None;
    const READS_ONLY: bool = false;
    type Answer = TestAnswer;

    async fn answer(self, desk: &Desk) -> Result<TestAnswer, Refused> {
        let place = desk.loop_in(self.directory.as_deref())?;
        Ok(api::test_promise(&place, &desk.caller(), &Cancel::new()).await?)
    }
}
