//! Another task, or another bound, for a loop.

use carson_config::McpGrant;
use carson_loop::api::{self, UpdateAnswer};
use carson_loop::config::Changes;
use carson_loop::words::Words;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

/// Which loop, and what changes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopUpdateTask {
    /// The directory of the loop, or one below it; without it the one that the server was started in.
    directory: Option<String>,
    /// The new task: a command line for `sh`.
    task: Option<String>,
    /// Attempts at most.
    #[schemars(range(min = 1))]
    max_attempts: Option<u32>,
}

impl Call for LoopUpdateTask {
    const NAME: &'static str = "loop_update_task";
    const ALSO: Option<&'static str> = Some("alpf_update_task");
    const WHAT: &'static str = "Give the loop another task, or another number of attempts; it counts from the next attempt on. Its \
         promise is its owner's to change. Needs the grant `loop`.";
    const GRANT: Option<McpGrant> = Some(McpGrant::Loop);
    type Answer = UpdateAnswer;

    async fn answer(self, desk: &Desk) -> Result<UpdateAnswer, Refused> {
        let wrong = |problem| Refused::Argument {
            name: "task",
            problem,
        };
        let task = self
            .task
            .as_deref()
            .map(Words::line)
            .transpose()
            .map_err(wrong)?;
        let changes = Changes {
            task,
            max_attempts: self.max_attempts,
            ..Changes::default()
        };
        if changes.is_empty() {
            return Err(wrong(
                "say it, or max_attempts: nothing else is changed here".to_owned(),
            ));
        }
        let place = desk.loop_to_run(self.directory.as_deref())?;
        let caller = desk.caller();
        desk.aside(move || api::update(&place, &caller, &changes))
            .await
    }
}
