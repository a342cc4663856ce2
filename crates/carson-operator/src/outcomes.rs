//! What became of the pull requests that firings opened, by the rows, the forge and git alone.

mod ends;
mod opened;
mod pull;
mod sums;

use carson_core::RepoName;
use carson_home::Home;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::pull::PullOutcome;
pub use self::sums::{By, Group, Sum};
use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

/// At most so many pull requests are looked at, the newest.
pub const MOST: usize = 200;

/// Since when, where nobody says.
pub const SINCE: &str = "30d";

/// What became of the pull requests that firings opened?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outcomes {
    /// Those of firings since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    #[serde(default = "month")]
    pub since: String,
    /// By what they are put together: `role`, `engine` (and its account), or `prompt` (the version of a
    /// role's prompts).
    #[serde(default = "role")]
    pub by: String,
}

fn month() -> String {
    SINCE.to_owned()
}

fn role() -> String {
    By::Role.as_str().to_owned()
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct Ledger {
    /// Since when.
    pub since: DateTime<Utc>,
    /// By what the groups are put together.
    pub by: By,
    /// The groups; that with the newest pull request first.
    pub groups: Vec<Group>,
    /// All of them together.
    pub all: Sum,
    /// The pull requests, the newest first.
    pub pulls: Vec<PullOutcome>,
    /// Older ones that nobody looked at.
    pub left_out: u64,
    /// What could not be found out.
    pub untold: Vec<Untold>,
}

/// Pull requests of which something could not be found out.
#[derive(Clone, Debug, Serialize)]
pub struct Untold {
    /// Their repository.
    pub repo: RepoName,
    /// Their numbers.
    pub pulls: Vec<u64>,
    /// What is not known, and why.
    pub why: String,
}

impl Ask for Outcomes {
    const NAME: &'static str = "outcomes";
    const WHAT: &'static str = "Say what became of the pull requests that firings opened";
    const WHO: Who = Who::Anyone;
    type Answer = Ledger;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let problem = |problem| Refusal::Field {
            field: "by",
            problem,
        };
        let by = self.by.parse::<By>().map_err(problem)?;
        let since = since(home, Some(&self.since))?.unwrap_or_default();
        let (opened, left_out) = opened::since(home, since, MOST).await?;
        let told = ends::find(home, &opened).await?;
        let mut pulls = Vec::with_capacity(opened.len());
        for one in &opened {
            let end = told.ends.get(&(one.repo.clone(), one.number));
            pulls.push(opened::outcome(home, one, end).await?);
        }
        Ok(Ledger {
            since,
            by,
            groups: sums::grouped(by, &pulls),
            all: Sum::of(&pulls),
            pulls,
            left_out,
            untold: told.untold,
        })
    }
}

#[cfg(test)]
mod tests;
