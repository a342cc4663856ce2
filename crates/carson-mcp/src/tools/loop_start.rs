//! A loop that begins in the background.

use carson_config::McpGrant;
use carson_loop::api::{self, StartAnswer};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

/// Which loop, and what it gets where it has ended before.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopStart {
    /// The directory of the loop, or one below it; without it the one that the server was started in.
    directory: Option<String>,
    /// Attempts that a loop gets which has used up its own.
    #[schemars(range(min = 1, max = 1000))]
    more: Option<u32>,
    /// Begins anew; the attempts so far are kept beside it.
    #[serde(default)]
    fresh: bool,
}

/// The most attempts that are added at once.
const MORE: u32 = 1_000;

impl Call for LoopStart {
    const NAME: &'static str = "loop_start";
    const ALSO: Option<&'static str> = Some("alpf_start");
    const WHAT: &'static str = "Start the loop in the background: its task is run until its promise is kept, within its \
         bounds. It goes on when this server ends. Needs the grant `loop`.";
    const GRANT: Option<McpGrant> = Some(McpGrant::Loop);
    type Answer = StartAnswer;

    async fn answer(self, desk: &Desk) -> Result<StartAnswer, Refused> {
        let args = match (self.more, self.fresh) {
            (Some(_), true) => return Err(wrong("fresh", "it begins anew, or gets more")),
            (Some(more), false) if !(1..=MORE).contains(&more) => {
                return Err(wrong("more", "it is 1 to 1000"));
            }
            (Some(more), false) => vec!["--more".to_owned(), more.to_string()],
            (None, true) => vec!["--fresh".to_owned()],
            (None, false) => Vec::new(),
        };
        let place = desk.loop_to_run(self.directory.as_deref())?;
        Ok(api::start(&place, &desk.caller(), &args).await?)
    }
}

fn wrong(name: &'static str, problem: &str) -> Refused {
    Refused::Argument {
        name,
        problem: problem.to_owned(),
    }
}
