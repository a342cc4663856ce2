//! The verbs that every forge has.

use crate::error::ForgeError;
use crate::github::GitHubForge;
use crate::local::LocalForge;
use crate::marks;
use crate::standing::Standing;
use crate::words::{Comment, Issue, NewIssue, NewPull, Pull};

/// The label of claimed work.
pub const IN_FLIGHT: &str = "carson:in-flight";

/// Labels of work that the fleet holds or has done: they keep it away from an issue, whatever else
/// that carries.
const HELD: [&str; 3] = [IN_FLIGHT, "carson:pr-open", "carson:done"];

/// Labels that keep the fleet away until a person removes them.
const FOR_PEOPLE: [&str; 3] = ["do-not-pickup", "needs:human", "plan-pending-approval"];

/// The open issues that carry a role's label, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Those that may be taken up.
    pub ready: Vec<Issue>,
    /// Those that wait for a person, by number.
    pub for_people: Vec<u64>,
}

/// One repository's issues and pull requests.
#[derive(Clone, Debug)]
pub enum Forge {
    /// Files under `CARSON_HOME/forge/`.
    Local(LocalForge),
    /// GitHub.
    GitHub(GitHubForge),
}

macro_rules! each {
    ($self:expr, $forge:ident => $call:expr) => {
        match $self {
            Forge::Local($forge) => $call,
            Forge::GitHub($forge) => $call,
        }
    };
}

impl Forge {
    /// Open issues that carry `label` and nothing that keeps a fleet away, oldest first.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn ready_issues(&self, label: &str) -> Result<Vec<Issue>, ForgeError> {
        Ok(self.queue(label).await?.ready)
    }

    /// The same, and beside them the issues that wait for a person.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn queue(&self, label: &str) -> Result<Queue, ForgeError> {
        let mut ready = self.issues(Some(label)).await?;
        ready.sort_by_key(|issue| issue.number);
        let wait = |issue: &&Issue| is_open_for(issue, label) && carries(issue, &FOR_PEOPLE, label);
        let for_people = ready
            .iter()
            .filter(wait)
            .map(|issue| issue.number)
            .collect();
        ready.retain(|issue| is_ready(issue, label));
        Ok(Queue { ready, for_people })
    }

    /// Open issues, of one label or all.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn issues(&self, label: Option<&str>) -> Result<Vec<Issue>, ForgeError> {
        each!(self, forge => forge.issues(label).await)
    }

    /// One issue.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn issue(&self, number: u64) -> Result<Issue, ForgeError> {
        each!(self, forge => forge.issue(number).await)
    }

    /// Makes an issue.
    ///
    /// # Errors
    /// When the forge refuses or does not answer.
    pub async fn create_issue(&self, new: &NewIssue) -> Result<Issue, ForgeError> {
        each!(self, forge => forge.create_issue(new).await)
    }

    /// Closes an issue.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn close_issue(&self, number: u64) -> Result<(), ForgeError> {
        each!(self, forge => forge.close_issue(number).await)
    }

    /// The comments of an issue or a pull request, oldest first.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeError> {
        each!(self, forge => forge.comments(number).await)
    }

    /// Comments on an issue or a pull request. What looks like a claim in it is shown as the text
    /// that it is: models and strangers wrote parts of most comments.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn comment(&self, number: u64, body: &str) -> Result<Comment, ForgeError> {
        self.comment_as_is(number, &marks::defused(body)).await
    }

    pub(crate) async fn comment_as_is(
        &self,
        number: u64,
        body: &str,
    ) -> Result<Comment, ForgeError> {
        each!(self, forge => forge.comment(number, body).await)
    }

    /// How we stand with it, as its answers so far told; asks nothing.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match self {
            Self::Local(_) => Standing::default(),
            Self::GitHub(forge) => forge.standing(),
        }
    }

    /// Looks whether it can be read and written, without writing anything that stays.
    ///
    /// # Errors
    /// When the forge does not answer, or a file of it cannot be read or written.
    pub async fn examine(&self) -> Result<Standing, ForgeError> {
        match self {
            Self::Local(forge) => forge.examine().map(|()| Standing::default()),
            Self::GitHub(forge) => forge.examine().await,
        }
    }

    /// The author of our own comments.
    pub(crate) async fn me(&self) -> Result<&str, ForgeError> {
        each!(self, forge => forge.me().await)
    }

    /// Adds and removes labels; what is so already is no error.
    ///
    /// # Errors
    /// When the issue does not exist or the forge does not answer.
    pub async fn set_labels(
        &self,
        number: u64,
        add: &[&str],
        remove: &[&str],
    ) -> Result<(), ForgeError> {
        each!(self, forge => forge.set_labels(number, add, remove).await)
    }

    /// Pull requests, open ones or all.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn pulls(&self, open_only: bool) -> Result<Vec<Pull>, ForgeError> {
        each!(self, forge => forge.pulls(open_only).await)
    }

    /// One pull request.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn pull(&self, number: u64) -> Result<Pull, ForgeError> {
        each!(self, forge => forge.pull(number).await)
    }

    /// The newest pull request of a branch, in any state.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn pull_by_head(&self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        each!(self, forge => forge.pull_by_head(branch).await)
    }

    /// Open pull requests of branches that begin with `prefix`.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn open_pulls_of(&self, prefix: &str) -> Result<Vec<Pull>, ForgeError> {
        let mut pulls = self.pulls(true).await?;
        pulls.retain(|pull| pull.head.starts_with(prefix));
        Ok(pulls)
    }

    /// Opens a pull request; one that the branch has already is changed to match. So calling this
    /// twice makes one.
    ///
    /// # Errors
    /// When the forge refuses or does not answer.
    pub async fn create_pull(&self, new: &NewPull) -> Result<Pull, ForgeError> {
        each!(self, forge => forge.create_pull(new).await)
    }
}

/// Open, labelled, and not kept away from.
pub(crate) fn is_ready(issue: &Issue, label: &str) -> bool {
    is_open_for(issue, label) && !carries(issue, &FOR_PEOPLE, label)
}

/// Open, labelled, and not held by the fleet.
fn is_open_for(issue: &Issue, label: &str) -> bool {
    let is_open = issue.state == crate::words::State::Open;
    is_open && issue.has(label) && !carries(issue, &HELD, label)
}

/// Whether it carries one of these beside the role's own label.
fn carries(issue: &Issue, labels: &[&str], own: &str) -> bool {
    labels.iter().any(|label| *label != own && issue.has(label))
}
