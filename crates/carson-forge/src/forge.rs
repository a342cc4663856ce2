//! A forge as the fleet uses it: the verbs of its API. Queues are built on them in `queue.rs`, claims in
//! `claims.rs`.

use std::sync::Arc;

use crate::api::Api;
use crate::error::ForgeError;
use crate::marks;
use crate::standing::Standing;
use crate::words::{Comment, Issue, IssueEdit, Labelled, Listed, NewIssue, NewPull, Pull};

/// The label of claimed work.
pub const IN_FLIGHT: &str = "carson:in-flight";

/// The label of work whose pull request waits for people.
pub const PR_OPEN: &str = "carson:pr-open";

/// The label of work that is done.
pub const DONE: &str = "carson:done";

/// The label of an issue that was divided into others, as long as those are not done.
pub const PLANNED: &str = "carson:planned";

/// Labels of work that the fleet holds or has done: they keep it away from an issue, whatever else
/// that carries.
pub(crate) const HELD: [&str; 4] = [IN_FLIGHT, PR_OPEN, PLANNED, DONE];

/// A person's own word: no agent takes the issue. Nothing of Carson's takes this label away.
pub const DO_NOT_PICKUP: &str = "do-not-pickup";

/// Only a person can go on.
pub const NEEDS_HUMAN: &str = "needs:human";

/// The issue's plan waits for a person.
pub const PLAN_PENDING: &str = "plan-pending-approval";

/// A person's own word: they approve the plan that waits on the issue. Carson takes this label away, and
/// nothing of its sets it.
pub const PLAN_APPROVED: &str = "plan-approved";

/// Labels that keep the fleet away until a person removes them.
pub(crate) const FOR_PEOPLE: [&str; 3] = [DO_NOT_PICKUP, NEEDS_HUMAN, PLAN_PENDING];

/// What unfinished work carries that was saved as a draft.
pub const DO_NOT_REVIEW: &str = "do-not-review";

/// Labels that keep every role away from an issue, and the one by which people approve: none of them can be
/// one that a role takes issues by, or gives. Forges do not tell capital letters from small ones.
#[must_use]
pub fn is_reserved(label: &str) -> bool {
    let label = label.trim();
    let mut all = HELD.iter().chain(&FOR_PEOPLE).chain(&[PLAN_APPROVED]);
    all.any(|own| own.eq_ignore_ascii_case(label))
}

/// One repository's issues and pull requests.
#[derive(Clone, Debug)]
pub struct Forge(pub(crate) Arc<dyn Api>);

impl Forge {
    /// The repository behind this API.
    pub fn of(api: impl Api + 'static) -> Self {
        Self(Arc::new(api))
    }

    /// The labels that the repository has; `None` where an issue may carry any word.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn labels(&self) -> Result<Option<Vec<String>>, ForgeError> {
        self.0.labels().await
    }

    /// Makes a label, with what it says of an issue; one that is there already is no error.
    ///
    /// # Errors
    /// When the forge does not answer, or refuses.
    pub async fn make_label(&self, name: &str, says: &str) -> Result<(), ForgeError> {
        self.0.make_label(name, says).await
    }

    /// Open issues, of one label or all.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn issues(&self, label: Option<&str>) -> Result<Listed<Issue>, ForgeError> {
        self.0.issues(label).await
    }

    /// One issue.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn issue(&self, number: u64) -> Result<Issue, ForgeError> {
        self.0.issue(number).await
    }

    /// Makes an issue.
    ///
    /// # Errors
    /// When the forge refuses or does not answer.
    pub async fn create_issue(&self, new: &NewIssue) -> Result<Issue, ForgeError> {
        self.0.create_issue(new).await
    }

    /// Closes an issue.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn close_issue(&self, number: u64) -> Result<(), ForgeError> {
        self.0.close_issue(number).await
    }

    /// Opens a closed issue again.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn reopen_issue(&self, number: u64) -> Result<(), ForgeError> {
        self.0.reopen_issue(number).await
    }

    /// Changes an issue's title or text.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn edit_issue(&self, number: u64, edit: &IssueEdit) -> Result<(), ForgeError> {
        self.0.edit_issue(number, edit).await
    }

    /// Closes a pull request without merging it. Repeating it changes nothing.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn close_pull(&self, number: u64) -> Result<(), ForgeError> {
        self.0.close_pull(number).await
    }

    /// Whether it holds the branches and merges them itself.
    #[must_use]
    pub fn holds_branches(&self) -> bool {
        self.0.holds_branches()
    }

    /// The comments of an issue or a pull request, oldest first.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeError> {
        self.0.comments(number).await
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
        self.0.comment(number, body).await
    }

    /// How we stand with it, as its answers so far told; asks nothing.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.0.standing()
    }

    /// Looks whether it can be read and written, without writing anything that stays.
    ///
    /// # Errors
    /// When the forge does not answer, or a file of it cannot be read or written.
    pub async fn examine(&self) -> Result<Standing, ForgeError> {
        self.0.examine().await
    }

    /// The author of our own comments.
    ///
    /// # Errors
    /// When the forge does not answer, or not to us.
    pub async fn me(&self) -> Result<&str, ForgeError> {
        self.0.me().await
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
        self.0.set_labels(number, add, remove).await
    }

    /// Who put a label on an issue last; `None` where it does not carry it, or the forge does not tell (yet).
    ///
    /// # Errors
    /// When the issue does not exist or the forge does not answer.
    pub async fn labelled(&self, number: u64, label: &str) -> Result<Option<Labelled>, ForgeError> {
        self.0.labelled(number, label).await
    }

    /// Pull requests, open ones or all.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn pulls(&self, open_only: bool) -> Result<Listed<Pull>, ForgeError> {
        self.0.pulls(open_only).await
    }

    /// One pull request.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn pull(&self, number: u64) -> Result<Pull, ForgeError> {
        self.0.pull(number).await
    }

    /// The newest pull request of a branch, in any state.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn pull_by_head(&self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        self.0.pull_by_head(branch).await
    }

    /// Open pull requests of branches that begin with `prefix`.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn open_pulls_of(&self, prefix: &str) -> Result<Vec<Pull>, ForgeError> {
        let mut pulls = self.pulls(true).await?.found;
        pulls.retain(|pull| pull.head.starts_with(prefix));
        Ok(pulls)
    }

    /// Opens a pull request; one that the branch has already is changed to match. So calling this
    /// twice makes one.
    ///
    /// # Errors
    /// When the forge refuses or does not answer.
    pub async fn create_pull(&self, new: &NewPull) -> Result<Pull, ForgeError> {
        self.0.create_pull(new).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_that_keeps_the_fleet_away_stands_in_the_documents() {
        let page = include_str!("../../../docs/CONFIG.md");
        for label in HELD.iter().chain(&FOR_PEOPLE).chain(&[PLAN_APPROVED]) {
            assert!(is_reserved(label), "{label}");
            assert!(page.contains(&format!("| `{label}` |")), "{label}");
        }
    }
}
