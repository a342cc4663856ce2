//! What a person changes in an issue, on any forge.

use carson_forge::{Issue, IssueEdit};
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::issues::forge;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Close an issue: no role takes it any more.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Close {
    /// Its number.
    pub number: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

impl Ask for Close {
    const NAME: &'static str = "issue close";
    const WHAT: &'static str = "Close an issue";
    const WHO: Who = Who::Operator;
    type Answer = Issue;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let forge = forge(home, self.repo.as_deref()).await?;
        forge.close_issue(self.number).await?;
        Ok(forge.issue(self.number).await?)
    }
}

/// Open a closed issue again. What keeps roles away from it stays: [`Retry`](crate::retry::Retry) ends that.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reopen {
    /// Its number.
    pub number: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

impl Ask for Reopen {
    const NAME: &'static str = "issue reopen";
    const WHAT: &'static str = "Open a closed issue again";
    const WHO: Who = Who::Operator;
    type Answer = Issue;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let forge = forge(home, self.repo.as_deref()).await?;
        forge.reopen_issue(self.number).await?;
        Ok(forge.issue(self.number).await?)
    }
}

/// Add labels to an issue and take labels away.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Its number.
    pub number: u64,
    /// Labels that it gets.
    #[serde(default)]
    pub add: Vec<String>,
    /// Labels that it loses.
    #[serde(default)]
    pub remove: Vec<String>,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

impl Ask for Label {
    const NAME: &'static str = "issue label";
    const WHAT: &'static str = "Add labels to an issue and take labels away";
    const WHO: Who = Who::Operator;
    type Answer = Issue;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let named = [&self.add[..], &self.remove].concat();
        if named.is_empty() || named.iter().any(|label| label.trim().is_empty()) {
            return Err(Refusal::NothingToChange("which labels to add or to remove"));
        }
        let forge = forge(home, self.repo.as_deref()).await?;
        let add: Vec<&str> = self.add.iter().map(String::as_str).collect();
        let remove: Vec<&str> = self.remove.iter().map(String::as_str).collect();
        forge.set_labels(self.number, &add, &remove).await?;
        Ok(forge.issue(self.number).await?)
    }
}

/// Change the title or the text of an issue.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Its number.
    pub number: u64,
    /// Its new title.
    pub title: Option<String>,
    /// Its new text.
    pub body: Option<String>,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

impl Ask for Edit {
    const NAME: &'static str = "issue edit";
    const WHAT: &'static str = "Change the title or the text of an issue";
    const WHO: Who = Who::Operator;
    type Answer = Issue;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let is_empty = self
            .title
            .as_deref()
            .is_some_and(|title| title.trim().is_empty());
        if is_empty || (self.title.is_none() && self.body.is_none()) {
            return Err(Refusal::NothingToChange("the new title, or the new text"));
        }
        let redacted = |text: String| home.redactor.redact(&text).into_owned();
        let forge = forge(home, self.repo.as_deref()).await?;
        let before = forge.issue(self.number).await?;
        let edit = IssueEdit {
            title: self.title.map(redacted),
            body: self
                .body
                .map(redacted)
                .map(|body| before.with_our_mark(&body)),
        };
        forge.edit_issue(self.number, &edit).await?;
        Ok(forge.issue(self.number).await?)
    }
}
