//! What `role.toml` says of a role's work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `work.from` may say. Each is a kind of role (`crates/carson-firing/src/roles/`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-planned" = ["pulls", "queue", "stories"]))]
pub enum WorkFrom {
    /// Open issues with a label.
    Issues,
    /// Nowhere: it has a task of its own.
    None,
}

/// `work = { from = "issues", label = "carson:ready" }`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkSource {
    /// Where its work comes from.
    #[schemars(extend("examples" = ["issues"]))]
    pub from: WorkFrom,
    /// The label that makes an issue ready for this role.
    #[schemars(extend("examples" = ["docs:ready"]))]
    pub label: String,
    /// Labels that an issue must carry beside it: all of them, as long as it is worked on.
    #[schemars(extend("examples" = [["backend"]]))]
    pub labels: Vec<String>,
    /// What a role whose work is `none` is to do, at every slot; its prompts may say it instead.
    #[schemars(extend("examples" = ["Bring docs/ up to date with the code."]))]
    pub task: String,
}

impl WorkSource {
    /// The label that makes an issue ready for this role; `None` for one that does not take issues.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        (self.from == WorkFrom::Issues).then_some(self.label.as_str())
    }
}

impl Default for WorkSource {
    fn default() -> Self {
        Self {
            from: WorkFrom::Issues,
            label: "carson:ready".into(),
            labels: Vec::new(),
            task: String::new(),
        }
    }
}
