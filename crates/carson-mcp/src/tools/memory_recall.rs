//! What the fleet knows of a task.

use carson_config::McpGrant;
use carson_operator::memory::recall::Recall;
use carson_operator::{Ask, Refusal};

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

impl Call for Recall {
    const NAME: &'static str = "memory_recall";
    const WHAT: &'static str = "What has the fleet learned that fits a task? Each lesson with how well it fits and how much \
         it is believed; where the code says something else, the code is right. Reads only.";
    const GRANT: Option<McpGrant> = None;
    type Answer = <Self as Ask>::Answer;

    async fn answer(self, desk: &Desk) -> Result<Self::Answer, Refused> {
        let home = desk.fleet().await?;
        if home.fleet.memory.killed {
            let why = "memory.kill_switch is on: nothing is told";
            return Err(Refusal::Lesson(why.to_owned()).into());
        }
        Ok(Ask::answer(self, &home).await?)
    }
}
