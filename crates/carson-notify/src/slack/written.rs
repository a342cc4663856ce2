//! `[slack]` as an operator writes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[slack]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SlackSection {
    /// The address of the API, for `token_file`.
    #[schemars(extend("examples" = ["https://slack.com/api"]))]
    pub api_base: String,
    /// Where firings are told, one thread each.
    #[schemars(extend("examples" = ["#household"]))]
    pub channel: String,
    /// A file, mode 0600, with a bot token.
    #[schemars(extend("examples" = ["slack.token"]))]
    pub token_file: Option<String>,
    /// A file, mode 0600, with the address of an incoming webhook.
    #[schemars(extend("examples" = ["slack.webhook"]))]
    pub webhook_file: Option<String>,
    /// A file, mode 0600, with an app token: people are listened to (Socket Mode; [CHAT.md](CHAT.md)).
    #[schemars(extend("examples" = ["slack.app-token"]))]
    pub app_token_file: Option<String>,
    /// The ids of the members who are listened to.
    #[schemars(extend("examples" = [["U012ABC34"]]))]
    pub trusted: Vec<String>,
    /// The ids of those of them who may also let roles fire (`run`).
    #[schemars(extend("examples" = [["U012ABC34"]]))]
    pub operators: Vec<String>,
    /// How long a question with buttons may be answered, in hours; 24 at most, because a plan waits no longer.
    #[schemars(extend("examples" = [8]))]
    pub approve_hours: u32,
    /// When the morning's brief is posted, in the fleet's zone; 07:30 where people are listened to, never where it
    /// is empty.
    #[schemars(extend("examples" = ["07:30"]))]
    pub brief: Option<String>,
    /// When the evening's recap is posted; 22:00 where people are listened to, never where it is empty.
    #[schemars(extend("examples" = ["22:00"]))]
    pub recap: Option<String>,
}

impl Default for SlackSection {
    fn default() -> Self {
        Self {
            api_base: "https://slack.com/api".into(),
            channel: "#carson".into(),
            token_file: None,
            webhook_file: None,
            app_token_file: None,
            trusted: Vec::new(),
            operators: Vec::new(),
            approve_hours: 24,
            brief: None,
            recap: None,
        }
    }
}
