//! The plan that waits on an issue is approved.

use carson_firing::IssueIn;
use carson_home::Home;
use carson_store::Decision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::plans;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Approve the plan that waits on an issue, as it stands there: its issues are filed.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Approve {
    /// The issue.
    pub issue: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

/// It is approved.
#[derive(Debug, Serialize)]
pub struct Approved {
    /// The issue.
    pub issue: u64,
    /// The issues that were filed in its repository; those that the forge does not take now follow.
    pub filed: Vec<u64>,
    /// The same of other repositories: `gears#7`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
}

impl Ask for Approve {
    const NAME: &'static str = "approve";
    const WHAT: &'static str = "Approve the plan that waits on an issue: its issues are filed";
    const WHO: Who = Who::Trusted;
    type Answer = Approved;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let repo = names::repo_or_only(&home.fleet, self.repo.as_deref())?;
        let said = (Decision::Approved, "the operator");
        let decided = plans::on_issue(home, repo, self.issue, said).await?;
        let all = decided.filed.into_iter();
        let (own, others): (Vec<IssueIn>, Vec<IssueIn>) =
            all.partition(|one| one.repo == repo.name);
        Ok(Approved {
            issue: self.issue,
            filed: own.iter().map(|one| one.number).collect(),
            elsewhere: others.iter().map(ToString::to_string).collect(),
        })
    }
}
