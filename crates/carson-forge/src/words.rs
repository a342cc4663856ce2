//! Issues, comments, pull requests.

use carson_core::Page;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::people::{Association, Trust};

/// Whether an issue is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is.
    Open,
    /// It is not.
    Closed,
}

/// An issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// Number; issues and pull requests share one sequence.
    pub number: u64,
    /// Title, as its author wrote it.
    pub title: String,
    /// Body, as its author wrote it.
    pub body: String,
    /// Who wrote it.
    pub author: String,
    /// How they stand to the repository.
    pub association: Association,
    /// Whom it is assigned to.
    pub assignees: Vec<String>,
    /// Whether it is open.
    pub state: State,
    /// Its labels.
    pub labels: Vec<String>,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// Whether it was closed as one that is not to be done, as far as the forge says so.
    #[serde(skip)]
    pub dropped: bool,
    /// Open issues that have to be done before it, as far as the forge itself links them.
    #[serde(skip)]
    pub blocked_by: u64,
    /// Where a person finds it.
    pub url: String,
}

impl Issue {
    /// Whether it carries a label; case, and space around it, make no difference.
    #[must_use]
    pub fn has(&self, label: &str) -> bool {
        self.labels.iter().any(|own| is_same_label(own, label))
    }
}

/// A list of a forge. One entry that is not what it should be keeps nobody from the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// What could be read.
    pub found: Vec<T>,
    /// What could not.
    pub unread: Vec<Unread>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self {
            found: Vec::new(),
            unread: Vec::new(),
        }
    }
}

impl<T> From<Vec<T>> for Listed<T> {
    fn from(found: Vec<T>) -> Self {
        Self {
            found,
            unread: Vec::new(),
        }
    }
}

/// An issue or a pull request that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// Where it stands: a file, or an address.
    pub place: String,
    /// What is wrong with it.
    pub why: String,
}

/// A comment on an issue or a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comment {
    /// Its number; later comments have greater ones.
    pub id: u64,
    /// Who wrote it.
    pub author: String,
    /// What.
    pub body: String,
    /// When.
    pub created_at: DateTime<Utc>,
    /// How its author stands to the repository.
    pub association: Association,
    /// Whether somebody changed it since it was written, as far as the forge tells.
    #[serde(skip)]
    pub edited: bool,
}

impl Comment {
    /// Whether its first line is these words and nothing else, however they are spaced, by somebody whom
    /// `trust` has. Blank words are said by nobody.
    #[must_use]
    pub fn says(&self, words: &str, trust: &Trust) -> bool {
        let first = self.body.lines().next().unwrap_or_default();
        !words.trim().is_empty()
            && first.split_whitespace().eq(words.split_whitespace())
            && trust.has(&self.author, self.association)
    }
}

/// Who put a label on an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// Who.
    pub by: String,
    /// How they stand to the repository: nobody is more than a collaborator who may not write in it.
    pub association: Association,
    /// When, where the forge tells.
    pub at: Option<DateTime<Utc>>,
}

/// Where a pull request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PullState {
    /// Open.
    Open,
    /// Closed without merging.
    Closed,
    /// Merged.
    Merged,
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pull {
    /// Number; issues and pull requests share one sequence.
    pub number: u64,
    /// Title.
    pub title: String,
    /// Body.
    pub body: String,
    /// Who opened it.
    #[serde(skip)]
    pub author: String,
    /// When.
    #[serde(skip)]
    pub opened_at: DateTime<Utc>,
    /// Whether its branch lies in another repository than its base, or in one that is gone: then
    /// strangers may have written all of it.
    #[serde(skip)]
    pub from_fork: bool,
    /// The branch it offers.
    pub head: String,
    /// The branch it is for.
    pub base: String,
    /// Whether it is a draft.
    pub draft: bool,
    /// Where it stands.
    pub state: PullState,
    /// Its labels.
    pub labels: Vec<String>,
    /// Where a person finds it.
    pub url: String,
}

/// An issue to be made.
#[derive(Clone, Debug, Default)]
pub struct NewIssue {
    /// Title.
    pub title: String,
    /// Body.
    pub body: String,
    /// Labels.
    pub labels: Vec<String>,
}

/// What is to be changed in an issue.
#[derive(Clone, Debug, Default)]
pub struct IssueEdit {
    /// Its new title.
    pub title: Option<String>,
    /// Its new text.
    pub body: Option<String>,
}

/// A pull request to be made.
#[derive(Clone, Debug, Default)]
pub struct NewPull {
    /// Title.
    pub title: Page,
    /// Body.
    pub body: Page,
    /// The branch it offers.
    pub head: String,
    /// The branch it is for.
    pub base: String,
    /// Whether it is a draft.
    pub draft: bool,
    /// Labels.
    pub labels: Vec<String>,
}

/// Labels are compared as people read them: without case, and without space around them. One that is
/// nothing but space is like no other.
#[must_use]
pub fn is_same_label(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim(), other.trim());
    !one.is_empty() && one.to_lowercase() == other.to_lowercase()
}
