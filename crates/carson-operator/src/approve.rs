//! The plan that waits on an issue is approved.

use carson_firing::{IssueIn, waiting_plan};
use carson_forge::State;
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
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
        let issue = home.forge(repo).await?.issue(self.issue).await?;
        let refuse = |problem: &str| Refusal::Issue {
            number: self.issue,
            problem: problem.to_owned(),
        };
        if issue.state != State::Open {
            return Err(refuse("it is closed, which drops its plan"));
        }
        let Some(plan) = waiting_plan(home, repo, self.issue).await? else {
            return Err(refuse(
                "no plan waits on it: it was approved, dropped, or never made",
            ));
        };
        if plan.0.ended_at.is_none() {
            return Err(refuse(
                "its planner's firing still ends; say it again in a moment",
            ));
        }
        let all = carson_firing::approve(home, &plan).await?.into_iter();
        let (own, others): (Vec<IssueIn>, Vec<IssueIn>) =
            all.partition(|one| one.repo == repo.name);
        Ok(Approved {
            issue: self.issue,
            filed: own.iter().map(|one| one.number).collect(),
            elsewhere: others.iter().map(ToString::to_string).collect(),
        })
    }
}
