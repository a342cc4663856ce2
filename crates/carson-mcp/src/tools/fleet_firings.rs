//! Which firings there were.

use carson_config::McpGrant;
use carson_operator::Ask;
use carson_operator::firings::List;
use schemars::{Schema, schema_for};
use serde_json::json;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::{Call, ENTRIES};

impl Call for List {
    const NAME: &'static str = "fleet_firings";
    const WHAT: &'static str =
        "Which firings were there, the newest first, and how did each end? Reads only.";
    const GRANT: Option<McpGrant> = None;
    const LIST: &'static str = "firings";
    type Answer = <Self as Ask>::Answer;

    fn schema() -> Schema {
        let mut schema = schema_for!(Self);
        if let Some(limit) = schema.pointer_mut("/properties/limit") {
            limit["maximum"] = json!(ENTRIES);
        }
        schema
    }

    async fn answer(self, desk: &Desk) -> Result<Self::Answer, Refused> {
        if self.limit > ENTRIES {
            return Err(Refused::Argument {
                name: "limit",
                problem: format!("at most {ENTRIES} are answered"),
            });
        }
        let home = desk.fleet().await?;
        Ok(Ask::answer(self, &home).await?)
    }
}
