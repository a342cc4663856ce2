//! What stands around a pull request: reviews, threads, checks, files, and how it is merged.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::people::Association;
use crate::words::{Comment, PullState};

/// What a pull request offers now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Head {
    /// The commit at the end of its branch.
    pub sha: String,
    /// Whether that can be merged.
    pub mergeability: Mergeability,
}

/// Whether a pull request can be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mergeability {
    /// It can.
    Clean,
    /// It and its base changed the same lines.
    Conflicts,
    /// The repository's rules ask for a branch that has all of its base.
    Behind,
    /// The repository's rules ask for something else: an approval, a check, or that it is no draft.
    Blocked,
    /// The forge has not found out yet, or does not tell.
    Unknown,
}

impl Mergeability {
    /// What stands against merging it, for people.
    #[must_use]
    pub fn stands_against(self) -> Option<&'static str> {
        match self {
            Self::Clean => None,
            Self::Conflicts => Some("it conflicts with its base"),
            Self::Behind => Some("its branch has to have all of its base"),
            Self::Blocked => Some("a rule of the repository holds it"),
            Self::Unknown => Some("the forge does not know yet whether it can be merged"),
        }
    }
}

/// How a pull request is merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MergeMethod {
    /// A commit with two parents.
    #[default]
    Merge,
    /// One commit with all of it.
    Squash,
    /// Its commits, anew on top of the base.
    Rebase,
}

impl MergeMethod {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Squash => "squash",
            Self::Rebase => "rebase",
        }
    }
}

/// How a pull request is to be merged, and what of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merge {
    /// The commit that was looked at: another one is not merged. `None` takes whatever is there.
    pub expected: Option<String>,
    /// How.
    pub method: MergeMethod,
}

/// What somebody thinks of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Review {
    /// Its number.
    pub id: u64,
    /// Who wrote it.
    pub author: String,
    /// What they are to the repository.
    pub association: Association,
    /// What they say.
    pub state: ReviewState,
    /// What they wrote.
    pub body: String,
    /// The commit that they looked at; `None` when the forge does not have it any more.
    pub commit: Option<String>,
    /// When it was sent; `None` while it is being written.
    pub submitted_at: Option<DateTime<Utc>>,
    /// Whether somebody changed what was written, as far as the forge tells that.
    #[serde(skip)]
    pub edited: bool,
}

/// A review to be made: a comment of ours, never an approval in the forge's sense.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewReview {
    /// The commit that was looked at, by its whole name.
    pub head: String,
    /// Whether that commit may be merged.
    pub ship: bool,
    /// What is said to people.
    pub body: String,
}

/// What our own review says of one commit. Carson itself wrote it, at the head of the review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShipVerdict {
    /// The commit that was looked at.
    pub head: String,
    /// Whether that commit may be merged.
    pub ship: bool,
    /// When it was said, where the forge tells.
    pub at: Option<DateTime<Utc>>,
}

/// What a review says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewState {
    /// Yes.
    Approved,
    /// Not like this.
    ChangesRequested,
    /// Neither.
    Commented,
    /// It was taken back.
    Dismissed,
    /// It is being written.
    Pending,
}

/// What is said about one place of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Thread {
    /// What the forge calls it.
    pub id: String,
    /// The file.
    pub path: String,
    /// The line; `None` when that is gone, or the whole file is meant.
    pub line: Option<u64>,
    /// Whether somebody said that it is settled.
    pub resolved: bool,
    /// What was said, oldest first.
    pub comments: Vec<Comment>,
}

/// One check of a commit: a job of CI, or a status that some program set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckRun {
    /// Its name.
    pub name: String,
    /// How it ended; `None` as long as it has not.
    pub conclusion: Option<Conclusion>,
    /// Where a person finds it.
    pub url: Option<String>,
    /// When it began.
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// What the forge calls its log, if it keeps one.
    pub log: Option<String>,
}

impl CheckRun {
    /// Whether it ended, and not well.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.conclusion
            .is_some_and(|conclusion| !conclusion.is_fine())
    }
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Well.
    Passed,
    /// Not well, or in a way that is not known.
    Failed,
    /// Somebody ended it.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// There was nothing to do.
    Skipped,
    /// It says neither yes nor no.
    Neutral,
    /// It waits for a person.
    NeedsAction,
    /// The forge gave it up.
    Stale,
}

impl Conclusion {
    /// Whether it stands in nobody's way.
    #[must_use]
    pub fn is_fine(self) -> bool {
        matches!(self, Self::Passed | Self::Skipped | Self::Neutral)
    }
}

/// A file that a pull request changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedFile {
    /// Its path, as it is after the change.
    pub path: String,
    /// What is done to it.
    pub status: FileStatus,
    /// Lines that come.
    pub additions: u64,
    /// Lines that go.
    pub deletions: u64,
}

/// A commit of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its whole name.
    pub sha: String,
    /// When it was made, as it says itself.
    pub at: DateTime<Utc>,
}

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// It is new.
    Added,
    /// It is another one than before.
    Modified,
    /// It goes.
    Removed,
    /// It has another path.
    Renamed,
}

/// A pull request that was merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Merged {
    /// The branch that it offered.
    pub head: String,
    /// When it was opened.
    pub opened_at: DateTime<Utc>,
    /// When it was merged.
    pub merged_at: DateTime<Utc>,
}

/// What became of a pull request, as far as its forge knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fate {
    /// Where it stands.
    pub state: PullState,
    /// The branch that it offered.
    pub head: String,
    /// The branch that it was for.
    pub base: String,
    /// When it was opened.
    pub opened_at: DateTime<Utc>,
    /// When it was merged or closed; `None` while it is open, and where nobody noted when.
    pub ended_at: Option<DateTime<Utc>>,
    /// The last commit that it offered; `None` where the forge holds no branches.
    pub offered: Option<String>,
    /// The commit that brought it into its base: of a merge, or the one that holds all of it;
    /// `None` where it was not merged, or the forge holds no branches.
    pub landed: Option<String>,
}

/// What an issue is linked with, where the forge itself knows of links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Links {
    /// Its parts.
    pub sub_issues: Vec<Linked>,
    /// What has to be done before it.
    pub blocked_by: Vec<Linked>,
}

/// The other end of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Linked {
    /// The repository, as its forge calls it; `None` where the forge does not say.
    pub slug: Option<String>,
    /// The issue's number there.
    pub number: u64,
    /// Whether it is still open.
    pub open: bool,
}
