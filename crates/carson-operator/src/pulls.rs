//! Pull requests on any forge.

use carson_forge::{Comment, Pull, PullState};
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::issues::{Readable, forge};
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Which pull requests are there?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Closed ones too.
    #[serde(default)]
    pub all: bool,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

impl Ask for List {
    const NAME: &'static str = "pr list";
    const WHAT: &'static str = "List pull requests";
    const WHO: Who = Who::Anyone;
    type Answer = Readable<Pull>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let forge = forge(home, self.repo.as_deref()).await?;
        Ok(Readable(forge.pulls(!self.all).await?))
    }
}

/// What does a pull request say?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// Its number.
    pub number: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

/// A pull request with its comments.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// The pull request.
    pub pull: Pull,
    /// The commit that it offers, while it is open and its branch is there.
    pub commit: Option<String>,
    /// What was said to it.
    pub comments: Vec<Comment>,
}

impl Ask for Show {
    const NAME: &'static str = "pr show";
    const WHAT: &'static str = "Show one pull request with its comments";
    const WHO: Who = Who::Anyone;
    type Answer = Shown;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let forge = forge(home, self.repo.as_deref()).await?;
        let pull = forge.pull(self.number).await?;
        let commit = match pull.state {
            PullState::Open => forge.pull_head(self.number).await.ok(),
            _ => None,
        };
        Ok(Shown {
            pull,
            commit: commit.map(|head| head.sha),
            comments: forge.comments(self.number).await?,
        })
    }
}
