//! The fleet on one screen.

use carson_config::McpGrant;
use carson_operator::Ask;
use carson_operator::status::Status;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

impl Call for Status {
    const NAME: &'static str = "fleet_status";
    const WHAT: &'static str = "How is the fleet? Its roles with their next slots, what runs now, the stops in force, what \
         was spent today, and what waits. Reads only.";
    const GRANT: Option<McpGrant> = None;
    type Answer = <Self as Ask>::Answer;

    async fn answer(self, desk: &Desk) -> Result<Self::Answer, Refused> {
        let home = desk.fleet().await?;
        Ok(Ask::answer(self, &home).await?)
    }
}
