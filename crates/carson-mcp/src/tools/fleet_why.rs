//! Why something happened, or did not.

use carson_config::McpGrant;
use carson_operator::Ask;
use carson_operator::why::Why;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

impl Call for Why {
    const NAME: &'static str = "fleet_why";
    const WHAT: &'static str = "Why did a role fire or not, where does an issue or a pull request stand, or what led to \
         one firing? Each reason comes with the command that would change it, for a person to type. \
         Reads only.";
    const GRANT: Option<McpGrant> = None;
    type Answer = <Self as Ask>::Answer;

    async fn answer(self, desk: &Desk) -> Result<Self::Answer, Refused> {
        let home = desk.fleet().await?;
        Ok(Ask::answer(self, &home).await?)
    }
}
