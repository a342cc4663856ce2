//! A lesson that somebody may promote.

use carson_config::McpGrant;
use carson_operator::memory::ShownLesson;
use carson_operator::memory::propose::Propose;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

impl Call for Propose {
    const NAME: &'static str = "memory_propose";
    const WHAT: &'static str = "Propose a lesson for the fleet's memory: one claim, and what shows it. Nobody is told it before \
         its evidence was looked up and it was promoted; a note is no evidence here. Needs the grant `memory`.";
    const GRANT: Option<McpGrant> = Some(McpGrant::Memory);
    type Answer = ShownLesson;

    async fn answer(self, desk: &Desk) -> Result<Self::Answer, Refused> {
        let home = desk.fleet().await?;
        Ok(self.of_a_model(&home).await?)
    }
}
