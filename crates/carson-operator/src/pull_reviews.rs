//! What people and programs say of a pull request, and that it is ready for them.

use carson_forge::{CheckRun, Head, Pull, PullState, Review, Thread};
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::issues::forge;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// What do checks say of a pull request, and can it be merged?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checks {
    /// Its number.
    pub number: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

/// What a pull request offers now, and what checks say of that.
#[derive(Debug, Serialize)]
pub struct Checked {
    /// Its number.
    pub pull: u64,
    /// What it offers.
    pub head: Head,
    /// The checks of that commit.
    pub checks: Vec<CheckRun>,
}

impl Ask for Checks {
    const NAME: &'static str = "pr checks";
    const WHAT: &'static str = "Show what checks say of a pull request";
    const WHO: Who = Who::Anyone;
    type Answer = Checked;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let forge = forge(home, self.repo.as_deref()).await?;
        let head = forge.pull_head(self.number).await?;
        let checks = forge.checks(&head.sha).await?;
        Ok(Checked {
            pull: self.number,
            head,
            checks,
        })
    }
}

/// What do reviews of a pull request say?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reviews {
    /// Its number.
    pub number: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

/// What was said about a pull request and its lines.
#[derive(Debug, Serialize)]
pub struct Reviewed {
    /// Its number.
    pub pull: u64,
    /// Its reviews.
    pub reviews: Vec<Review>,
    /// What was said about places of it.
    pub threads: Vec<Thread>,
}

impl Ask for Reviews {
    const NAME: &'static str = "pr reviews";
    const WHAT: &'static str =
        "Show the reviews of a pull request, and what is said about its lines";
    const WHO: Who = Who::Anyone;
    type Answer = Reviewed;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let forge = forge(home, self.repo.as_deref()).await?;
        Ok(Reviewed {
            pull: self.number,
            reviews: forge.reviews(self.number).await?,
            threads: forge.review_threads(self.number).await?,
        })
    }
}

/// Make a draft ready for review.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Its number.
    pub number: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

impl Ask for Ready {
    const NAME: &'static str = "pr ready";
    const WHAT: &'static str = "Make a draft ready for review";
    const WHO: Who = Who::Operator;
    type Answer = Pull;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let forge = forge(home, self.repo.as_deref()).await?;
        let ended = match forge.pull(self.number).await?.state {
            PullState::Open => None,
            PullState::Merged => Some("was merged"),
            PullState::Closed => Some("is closed"),
        };
        if let Some(ended) = ended {
            let problem = format!(
                "pull request #{} {ended}: only an open one is made ready",
                self.number
            );
            return Err(Refusal::Field {
                field: "number",
                problem,
            });
        }
        forge.ready_pull(self.number).await?;
        Ok(forge.pull(self.number).await?)
    }
}
