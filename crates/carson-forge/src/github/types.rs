//! What GitHub sends, as far as it is read.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

use crate::people::Association;
use crate::words::{Comment, Issue, Listed, Pull, PullState, State};

#[derive(Deserialize)]
pub(super) struct RawUser {
    pub login: String,
}

#[derive(Deserialize)]
pub(super) struct RawRepository {
    #[serde(default)]
    pub private: bool,
    pub permissions: Option<RawPermissions>,
}

#[derive(Deserialize)]
pub(super) struct RawPermissions {
    #[serde(default)]
    pub push: bool,
}

#[derive(Deserialize)]
pub(super) struct RawLabel {
    pub name: String,
}

#[derive(Deserialize)]
pub(super) struct RawIssue {
    number: u64,
    title: String,
    body: Option<String>,
    user: Option<RawUser>,
    #[serde(default)]
    author_association: String,
    #[serde(default)]
    assignees: Vec<RawUser>,
    state: State,
    #[serde(default)]
    state_reason: Option<String>,
    #[serde(default)]
    labels: Vec<RawLabel>,
    created_at: DateTime<Utc>,
    html_url: String,
    pull_request: Option<Value>,
    #[serde(default)]
    issue_dependencies_summary: Option<RawDependencies>,
}

/// How many issues one is linked with.
#[derive(Deserialize)]
pub(super) struct RawDependencies {
    #[serde(default)]
    blocked_by: u64,
}

#[derive(Deserialize)]
pub(super) struct RawComment {
    id: u64,
    body: Option<String>,
    user: Option<RawUser>,
    created_at: DateTime<Utc>,
    #[serde(default)]
    updated_at: Option<DateTime<Utc>>,
    #[serde(default)]
    author_association: String,
}

#[derive(Deserialize)]
pub(super) struct RawBranch {
    #[serde(rename = "ref")]
    pub name: String,
    /// Where it lies; nothing once that was deleted.
    repo: Option<RawNumbered>,
}

#[derive(Deserialize)]
pub(super) struct RawPull {
    pub number: u64,
    #[serde(default)]
    pub node_id: String,
    title: String,
    body: Option<String>,
    user: Option<RawUser>,
    created_at: DateTime<Utc>,
    pub head: RawBranch,
    base: RawBranch,
    #[serde(default)]
    pub draft: bool,
    state: State,
    merged_at: Option<DateTime<Utc>>,
    #[serde(default)]
    pub labels: Vec<RawLabel>,
    html_url: String,
}

/// Something that has a number.
#[derive(Deserialize)]
pub(super) struct RawNumbered {
    pub id: u64,
}

pub(super) fn login(user: Option<RawUser>) -> String {
    // A deleted account is shown as "ghost" by GitHub itself.
    user.map_or_else(|| "ghost".to_owned(), |user| user.login)
}

/// The label of a pull request that would be a draft if GitHub let it.
pub(super) const WIP: &str = "wip";

fn names(labels: Vec<RawLabel>) -> Vec<String> {
    labels.into_iter().map(|label| label.name).collect()
}

impl RawPull {
    /// Whether a label stands for a draft.
    pub fn has_draft_label(&self) -> bool {
        let mut labels = self.labels.iter();
        labels.any(|label| label.name.eq_ignore_ascii_case(WIP))
    }

    fn is_from_fork(&self) -> bool {
        let place = |branch: &RawBranch| branch.repo.as_ref().map(|repo| repo.id);
        let head = place(&self.head);
        head.is_none() || head != place(&self.base)
    }

    pub fn state(&self) -> PullState {
        pull_state(self.merged_at, self.state)
    }
}

/// Where a pull request stands: to GitHub one that was merged is closed.
pub(super) fn pull_state(merged_at: Option<DateTime<Utc>>, state: State) -> PullState {
    match (merged_at, state) {
        (Some(_), _) => PullState::Merged,
        (None, State::Open) => PullState::Open,
        (None, State::Closed) => PullState::Closed,
    }
}

impl From<RawIssue> for Issue {
    fn from(raw: RawIssue) -> Self {
        let linked = raw.issue_dependencies_summary;
        let reason = raw.state_reason.as_deref();
        Self {
            number: raw.number,
            title: raw.title,
            body: raw.body.unwrap_or_default(),
            author: login(raw.user),
            association: Association::from_github(&raw.author_association),
            assignees: raw.assignees.into_iter().map(|user| user.login).collect(),
            state: raw.state,
            labels: names(raw.labels),
            created_at: raw.created_at,
            dropped: matches!(reason, Some("not_planned" | "duplicate")),
            blocked_by: linked.map_or(0, |linked| linked.blocked_by),
            url: raw.html_url,
        }
    }
}

/// The issues of a list in which GitHub has pull requests too.
pub(super) fn issues_of(raw: Listed<RawIssue>) -> Listed<Issue> {
    let issues = raw.found.into_iter();
    let issues = issues.filter(|raw| raw.pull_request.is_none());
    Listed {
        found: issues.map(Into::into).collect(),
        unread: raw.unread,
    }
}

impl From<RawComment> for Comment {
    fn from(raw: RawComment) -> Self {
        Self {
            id: raw.id,
            author: login(raw.user),
            body: raw.body.unwrap_or_default(),
            created_at: raw.created_at,
            association: Association::from_github(&raw.author_association),
            edited: raw.updated_at.is_some_and(|at| at > raw.created_at),
        }
    }
}

impl From<RawPull> for Pull {
    fn from(raw: RawPull) -> Self {
        Self {
            state: raw.state(),
            draft: raw.draft || raw.has_draft_label(),
            from_fork: raw.is_from_fork(),
            author: login(raw.user),
            opened_at: raw.created_at,
            number: raw.number,
            title: raw.title,
            body: raw.body.unwrap_or_default(),
            head: raw.head.name,
            base: raw.base.name,
            labels: names(raw.labels),
            url: raw.html_url,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_closed_as_not_to_be_done_is_dropped() {
        let dropped = |reason: Value| {
            let raw = json!({
                "number": 1, "title": "t", "body": null, "user": null, "state": "closed",
                "state_reason": reason, "created_at": "2026-01-01T00:00:00Z", "html_url": "u",
            });
            Issue::from(serde_json::from_value::<RawIssue>(raw).unwrap()).dropped
        };
        assert!(dropped(json!("not_planned")) && dropped(json!("duplicate")));
        assert!(!dropped(json!("completed")) && !dropped(Value::Null));
    }
}
