//! What waits for a person's yes or no: plans, and issues that were asked for in the chat.
//!
//! # How a decision is kept honest
//!
//! A question is a row with the hash of exactly what people read ([`text`]). Whoever decides, by a button, a
//! reaction, a file or a command, goes through [`decide`], which looks whether the row is there, still open, not
//! expired, and whether the plan that waits now is the one with that hash. Then one statement of the store decides
//! it, once on all hosts. What is decided is carried out at once, and again by [`follow`] where that
//! process died in between. What does not hold changes nothing and leaves an event.

mod carried;
mod decide;
mod files;
mod follow;
mod noted;
mod text;

use carson_core::RepoName;
use carson_home::Home;
use carson_store::ApprovalRow;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

pub use carried::Decided;
pub use decide::on_issue;
pub use decide::{Bad, Choice, decide};
pub use follow::follow;
pub use text::{new_id, of_issue};

/// How often in a row the chat may not take a question before it counts as one that cannot be asked.
pub const CANNOT_BE_ASKED: u32 = 5;

/// What waits for a person's yes or no?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plans {}

/// Something that waits.
#[derive(Clone, Debug, Serialize)]
pub struct Waiting {
    /// Its id; `approvals/ID.approve` in the home decides it, with its hash in it.
    pub id: String,
    /// Its repository.
    pub repo: RepoName,
    /// The issue that a plan is for.
    pub issue: Option<u64>,
    /// What would be done.
    pub text: String,
    /// Names exactly that.
    pub hash: String,
    /// Until when it may be decided.
    pub expires_at: DateTime<Utc>,
    /// Where it stands.
    pub state: State,
    /// What the chat said, where it cannot be asked there.
    pub error: Option<String>,
}

/// Where a question stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It may be decided.
    Waits,
    /// The chat did not take it five times in a row; a file or a command still decides it.
    CannotBeAsked,
    /// It may be decided no more.
    Expired,
}

impl Waiting {
    fn of(row: ApprovalRow, now: DateTime<Utc>) -> Self {
        Self {
            state: match () {
                () if row.expires_at <= now => State::Expired,
                () if row.failures >= CANNOT_BE_ASKED => State::CannotBeAsked,
                () => State::Waits,
            },
            id: row.id,
            repo: row.repo,
            issue: row.issue,
            text: row.body,
            hash: row.hash,
            expires_at: row.expires_at,
            error: row.error,
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn what(&self) -> String {
        text::what(&self.repo, self.issue)
    }

    /// Where it stands, and what decides it.
    #[must_use]
    pub fn stands(&self) -> String {
        let until = carson_core::text::instant(self.expires_at);
        let decides = match self.issue {
            Some(issue) => format!("`carson approve {issue} --repo {}`", self.repo),
            None => format!("the file approvals/{}.approve", self.id),
        };
        match self.state {
            State::Waits => format!("waits until {until}: {decides}"),
            State::Expired => "has expired".to_owned(),
            State::CannotBeAsked => {
                let why = self.error.as_deref().unwrap_or("it does not answer");
                format!("cannot be asked in the chat ({why}), and waits until {until}: {decides}")
            }
        }
    }
}

/// What waits now.
///
/// # Errors
/// When the store does not answer.
pub(crate) async fn waiting(home: &Home) -> Result<Vec<Waiting>, Refusal> {
    let now = home.clock.now();
    let rows = home.store.open_approvals().await?.into_iter();
    let open = rows.filter(|row| row.decision.is_none());
    Ok(open.map(|row| Waiting::of(row, now)).collect())
}

impl Ask for Plans {
    const NAME: &'static str = "plans";
    const WHAT: &'static str = "List what waits for a person's yes or no";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<Waiting>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        noted::note_plans(home).await?;
        waiting(home).await
    }
}

/// Reject the plan that waits on an issue: nothing of it is filed, and the issue waits for a person.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reject {
    /// The issue.
    pub issue: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

/// It is rejected.
#[derive(Debug, Serialize)]
pub struct Rejected {
    /// Its repository.
    pub repo: RepoName,
    /// The issue.
    pub issue: u64,
}

impl Ask for Reject {
    const NAME: &'static str = "reject";
    const WHAT: &'static str = "Reject the plan that waits on an issue: nothing of it is filed";
    const WHO: Who = Who::Trusted;
    type Answer = Rejected;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let repo = names::repo_or_only(&home.fleet, self.repo.as_deref())?;
        let decision = carson_store::Decision::Rejected;
        on_issue(home, repo, self.issue, (decision, "the operator")).await?;
        Ok(Rejected {
            repo: repo.name.clone(),
            issue: self.issue,
        })
    }
}
