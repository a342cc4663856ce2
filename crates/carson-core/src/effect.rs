//! What an ended firing does to the world, as data.
//!
//! The list is decided once, from what settle said and what salvage could keep, and stands in the row
//! before any of it is done. Whoever finds it carries out what is still owed, in its order: the firing
//! itself, recovery, or a later pass once the forge answers again. Each is idempotent by the firing and
//! its place in the list: a branch has one pull request, a claim is released once, a closed issue stays
//! closed.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::RepoName;
use crate::untrusted::Page;

/// One side effect on the forge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Effect {
    /// Opens the pull request of a pushed branch, or changes the one that it has to match.
    OpenPull {
        /// The branch it offers.
        head: String,
        /// The branch it is for.
        base: String,
        /// Its title.
        title: Page,
        /// Its body.
        body: Page,
        /// Whether it is unfinished.
        draft: bool,
        /// Its labels.
        labels: Vec<String>,
    },
    /// Ends the firing's claim on an issue.
    Release {
        /// The issue.
        issue: u64,
        /// How, when all that stands before it is done.
        release: Release,
        /// How, when the forge refused the pull request: then the work is not done.
        without_pull: Option<Release>,
    },
    /// Closes what earlier firings saved of the same work, now that there is a newer pull request.
    CloseDrafts {
        /// Their drafts.
        drafts: Vec<Draft>,
    },
    /// Closes an issue whose work was done before.
    CloseIssue {
        /// The issue.
        issue: u64,
    },
    /// Comments on an issue or a pull request, once.
    Comment {
        /// Which.
        on: u64,
        /// What.
        body: Page,
    },
    /// Gives an issue labels and takes labels away, as long as it is open.
    SetLabels {
        /// The issue.
        issue: u64,
        /// Labels that it gets.
        add: Vec<String>,
        /// Labels that it loses.
        remove: Vec<String>,
    },
    /// Files an issue, once.
    FileIssue {
        /// What it is about, where there is one open issue about that at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        topic: Option<String>,
        /// The repository that it is for; without it that of the work.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repo: Option<RepoName>,
        /// What must be done before it: places among the issues that the firing files, from 1.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        after: Vec<u32>,
        /// Its title.
        title: Page,
        /// Its text.
        body: Page,
        /// Its labels.
        labels: Vec<String>,
    },
    /// Says on an issue what was filed for it.
    TellFiled {
        /// The issue.
        issue: u64,
        /// How many more its session asked for, which its grant did not allow: without those it is not done.
        #[serde(default)]
        refused: u32,
    },
    /// Says what a session thinks of a pull request, once.
    Review {
        /// The pull request.
        pull: u64,
        /// The commit that it looked at.
        head: String,
        /// Whether it may be merged as it is.
        ship: bool,
        /// Its findings.
        body: Page,
    },
    /// Waits until a person approves what comes after it; what they do not approve in time is not done.
    AwaitApproval {
        /// The issue on which they say so.
        issue: u64,
        /// Names what they approve.
        hash: String,
        /// Until when they may.
        until: DateTime<Utc>,
    },
    /// Notes that the firing's commits are in a pull request that was there before.
    JoinPull {
        /// The pull request.
        pull: u64,
    },
    /// Adds to a thread of a review, once.
    Reply {
        /// The pull request.
        pull: u64,
        /// What the forge calls the thread.
        thread: String,
        /// What.
        body: Page,
    },
    /// Says anew what a pull request is about, where people did not write that themselves.
    DescribePull {
        /// The pull request.
        pull: u64,
        /// What it is called, without the number of its issue.
        title: Page,
        /// What a session says of it.
        body: Page,
    },
    /// Gives an issue or a pull request to people, once.
    HandOver {
        /// Which.
        number: u64,
        /// Why.
        note: Page,
    },
    /// Merges a pull request that offers exactly this commit.
    MergePull {
        /// The pull request.
        pull: u64,
        /// The commit.
        head: String,
    },
}

/// A pull request in which a firing saved unfinished work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// Its number.
    pub pull: u64,
    /// Its branch, which stays.
    pub branch: String,
    /// What the firing pushed there; any other commit is a person's.
    pub pushed: String,
}

/// How a claim ends, and what becomes of its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// The firing's outcome.
    pub outcome: String,
    /// What people read.
    pub note: Page,
    /// Whether the attempt counts.
    pub attempt_counts: bool,
    /// Labels to add.
    pub add: Vec<String>,
    /// Labels to remove.
    pub remove: Vec<String>,
}

/// The labels that were really given and taken: what was so before is neither.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelChange {
    /// Those that the issue got.
    pub add: Vec<String>,
    /// Those that it lost.
    pub remove: Vec<String>,
}

impl Effect {
    /// Whether it gives people a pull request to read.
    #[must_use]
    pub fn asks_for_review(&self) -> bool {
        matches!(self, Self::OpenPull { draft: false, .. })
    }

    /// What kind it is, as rows, events and people have it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::OpenPull { .. } => "open-pull",
            Self::Release { .. } => "release",
            Self::CloseDrafts { .. } => "close-drafts",
            Self::CloseIssue { .. } => "close-issue",
            Self::Comment { .. } => "comment",
            Self::SetLabels { .. } => "set-labels",
            Self::FileIssue { .. } => "file-issue",
            Self::TellFiled { .. } => "tell-filed",
            Self::Review { .. } => "review",
            Self::AwaitApproval { .. } => "await-approval",
            Self::JoinPull { .. } => "join-pull",
            Self::Reply { .. } => "reply",
            Self::DescribePull { .. } => "describe-pull",
            Self::HandOver { .. } => "hand-over",
            Self::MergePull { .. } => "merge-pull",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_before_is_of_the_work_s_repository_and_comes_after_nothing() {
        let row = r#"{"kind":"file-issue","title":"T","body":"B","labels":[]}"#;
        let effect: Effect = serde_json::from_str(row).unwrap();
        let Effect::FileIssue { repo, after, .. } = &effect else {
            panic!("{effect:?}");
        };
        assert!(repo.is_none() && after.is_empty());
        assert_eq!(serde_json::to_string(&effect).unwrap(), row);
    }

    #[test]
    fn each_reads_back_and_says_its_kind() {
        let release = Release {
            outcome: "OK".into(),
            note: Page::from("done"),
            attempt_counts: false,
            add: vec!["carson:pr-open".into()],
            remove: vec!["carson:in-flight".into()],
        };
        for effect in [
            Effect::OpenPull {
                head: "carson/hand/issue-1".into(),
                base: "main".into(),
                title: Page::from("Title"),
                body: Page::from("Body"),
                draft: true,
                labels: vec!["do-not-review".into()],
            },
            Effect::Release {
                issue: 7,
                release: release.clone(),
                without_pull: Some(release),
            },
            Effect::CloseDrafts {
                drafts: vec![Draft {
                    pull: 2,
                    branch: "carson/hand/issue-1".into(),
                    pushed: "0".repeat(40),
                }],
            },
            Effect::CloseIssue { issue: 7 },
            Effect::Comment {
                on: 7,
                body: Page::from("text"),
            },
            Effect::SetLabels {
                issue: 7,
                add: vec!["p1".into()],
                remove: Vec::new(),
            },
            Effect::FileIssue {
                topic: Some("command nightly".into()),
                repo: Some("gears".parse().unwrap()),
                after: vec![1, 2],
                title: Page::from("Title"),
                body: Page::from("Body"),
                labels: Vec::new(),
            },
            Effect::TellFiled {
                issue: 7,
                refused: 1,
            },
            Effect::Review {
                pull: 9,
                head: "0".repeat(40),
                ship: true,
                body: Page::from("text"),
            },
            Effect::AwaitApproval {
                issue: 7,
                hash: "ab".into(),
                until: DateTime::UNIX_EPOCH,
            },
            Effect::JoinPull { pull: 9 },
            Effect::Reply {
                pull: 9,
                thread: "T_1".into(),
                body: Page::from("text"),
            },
            Effect::DescribePull {
                pull: 9,
                title: Page::from("Title"),
                body: Page::from("> Body"),
            },
            Effect::HandOver {
                number: 9,
                note: Page::from("text"),
            },
            Effect::MergePull {
                pull: 9,
                head: "0".repeat(40),
            },
        ] {
            let text = serde_json::to_value(&effect).unwrap();
            assert_eq!(text["kind"], effect.kind());
            assert_eq!(serde_json::from_value::<Effect>(text).unwrap(), effect);
        }
    }
}
