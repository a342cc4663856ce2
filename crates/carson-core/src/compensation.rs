//! What takes the effects of a firing back, as data.
//!
//! The list is made from what the firing did and what became of that since, anew whenever somebody asks: of
//! earlier asks only what was done is remembered. Each is idempotent.

use serde::{Deserialize, Serialize};

use crate::id::RepoName;

/// Letters of a commit that people read.
const SHORT: usize = 8;

/// One way back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Compensation {
    /// What the firing still owed the forge is not done any more.
    DropOwed {
        /// Its place among the firing's effects.
        n: u32,
        /// Its kind.
        effect: String,
    },
    /// Opens the pull request that takes a merge back.
    RevertMerge {
        /// The pull request that was merged.
        pull: u64,
        /// The commit of it that was meant.
        head: String,
    },
    /// Closes a pull request without merging it.
    ClosePull {
        /// Which.
        pull: u64,
        /// The commit that it offers; with any other it stays.
        commit: Option<String>,
    },
    /// Deletes a branch that the fleet made.
    DeleteBranch {
        /// Which.
        branch: String,
        /// The commit that it has; with any other it stays.
        commit: String,
    },
    /// Opens a draft again that the firing closed.
    ReopenPull {
        /// Which.
        pull: u64,
    },
    /// Takes the word on a commit out of a review.
    WithdrawReview {
        /// The pull request.
        pull: u64,
        /// The review.
        review: u64,
    },
    /// Removes an answer in a thread of a review.
    RemoveReply {
        /// The pull request.
        pull: u64,
        /// What the forge calls the thread.
        thread: String,
        /// The answer.
        reply: u64,
    },
    /// Removes comments of the firing.
    RemoveComments {
        /// The issue or the pull request.
        on: u64,
        /// Which.
        comments: Vec<u64>,
    },
    /// Puts labels back.
    RestoreLabels {
        /// The issue or the pull request.
        on: u64,
        /// Those that it lost.
        add: Vec<String>,
        /// Those that it got.
        remove: Vec<String>,
    },
    /// Opens an issue again that the firing closed.
    ReopenIssue {
        /// Which.
        issue: u64,
    },
    /// Closes an issue that the firing filed.
    CloseIssue {
        /// Its repository, where that is not the firing's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repo: Option<RepoName>,
        /// Which.
        issue: u64,
    },
    /// Takes back what its sessions proposed as lessons.
    DropLessons {
        /// How many there were.
        count: u32,
    },
    /// Nothing does it: a person may.
    Nothing {
        /// What stays.
        what: String,
    },
}

impl Compensation {
    /// What kind it is, as rows and scripts have it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::DropOwed { .. } => "drop-owed",
            Self::RevertMerge { .. } => "revert-merge",
            Self::ClosePull { .. } => "close-pull",
            Self::DeleteBranch { .. } => "delete-branch",
            Self::ReopenPull { .. } => "reopen-pull",
            Self::WithdrawReview { .. } => "withdraw-review",
            Self::RemoveReply { .. } => "remove-reply",
            Self::RemoveComments { .. } => "remove-comments",
            Self::RestoreLabels { .. } => "restore-labels",
            Self::ReopenIssue { .. } => "reopen-issue",
            Self::CloseIssue { .. } => "close-issue",
            Self::DropLessons { .. } => "drop-lessons",
            Self::Nothing { .. } => "nothing",
        }
    }

    /// What is left of it where `done` was done before; nothing where that was all of it. What it was to do
    /// stands on its own there: the commit that a branch had, say, makes no other branch of it.
    #[must_use]
    pub fn less(self, done: &Self) -> Option<Self> {
        match (self, done) {
            (
                Self::RemoveComments { on, mut comments },
                Self::RemoveComments {
                    on: other,
                    comments: gone,
                },
            ) if on == *other => {
                comments.retain(|comment| !gone.contains(comment));
                (!comments.is_empty()).then_some(Self::RemoveComments { on, comments })
            }
            (
                Self::RestoreLabels {
                    on,
                    mut add,
                    mut remove,
                },
                Self::RestoreLabels {
                    on: other,
                    add: added,
                    remove: removed,
                },
            ) if on == *other => {
                add.retain(|label| !added.contains(label));
                remove.retain(|label| !removed.contains(label));
                let is_all = add.is_empty() && remove.is_empty();
                (!is_all).then_some(Self::RestoreLabels { on, add, remove })
            }
            (what, done) => (!what.is_same(done)).then_some(what),
        }
    }

    /// Whether both take the same back.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::DropOwed { n: one, .. }, Self::DropOwed { n: other, .. }) => one == other,
            (Self::RevertMerge { pull: one, .. }, Self::RevertMerge { pull: other, .. })
            | (Self::ClosePull { pull: one, .. }, Self::ClosePull { pull: other, .. }) => {
                one == other
            }
            (Self::DeleteBranch { branch: one, .. }, Self::DeleteBranch { branch: other, .. }) => {
                one == other
            }
            (Self::DropLessons { .. }, Self::DropLessons { .. }) => true,
            (one, other) => one == other,
        }
    }

    /// What it does, for people: without a full stop.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::DropOwed { effect, .. } => format!("do not do what is still owed: {effect}"),
            Self::RevertMerge { pull, .. } => {
                format!("open a pull request that takes the merge of #{pull} back")
            }
            Self::ClosePull { pull, .. } => format!("close pull request #{pull}"),
            Self::DeleteBranch { branch, commit } => {
                format!("delete the branch {branch} ({})", short(commit))
            }
            Self::ReopenPull { pull } => format!("open draft #{pull} again"),
            Self::WithdrawReview { pull, .. } => format!("take the review of #{pull} back"),
            Self::RemoveReply { pull, .. } => format!("remove an answer in a review of #{pull}"),
            Self::RemoveComments { on, comments } => match comments.len() {
                1 => format!("remove a comment on #{on}"),
                many => format!("remove {many} comments on #{on}"),
            },
            Self::RestoreLabels { on, add, remove } => {
                let add = add.iter().map(|label| format!("+{label}"));
                let remove = remove.iter().map(|label| format!("-{label}"));
                let all: Vec<String> = add.chain(remove).collect();
                format!("labels of #{on}: {}", all.join(" "))
            }
            Self::ReopenIssue { issue } => format!("open issue #{issue} again"),
            Self::CloseIssue { repo, issue } => {
                let repo = repo.as_ref().map(RepoName::as_str).unwrap_or_default();
                format!("close issue {repo}#{issue}, which it filed")
            }
            Self::DropLessons { count: 1 } => "take the lesson back that it proposed".to_owned(),
            Self::DropLessons { count } => format!("take {count} lessons back that it proposed"),
            Self::Nothing { what } => what.clone(),
        }
    }
}

/// The first digits of a commit.
#[must_use]
pub fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reads_back_and_says_its_kind_and_what_it_does() {
        let commit = "0123456789012345678901234567890123456789".to_owned();
        let all = [
            Compensation::DropOwed {
                n: 1,
                effect: "release".into(),
            },
            Compensation::RevertMerge {
                pull: 9,
                head: commit.clone(),
            },
            Compensation::ClosePull {
                pull: 9,
                commit: Some(commit.clone()),
            },
            Compensation::DeleteBranch {
                branch: "carson/hand/issue-1".into(),
                commit,
            },
            Compensation::ReopenPull { pull: 9 },
            Compensation::WithdrawReview { pull: 9, review: 3 },
            Compensation::RemoveReply {
                pull: 9,
                thread: "T_1".into(),
                reply: 3,
            },
            Compensation::RemoveComments {
                on: 7,
                comments: vec![1, 2],
            },
            Compensation::RestoreLabels {
                on: 7,
                add: vec!["carson:ready".into()],
                remove: vec!["carson:pr-open".into()],
            },
            Compensation::ReopenIssue { issue: 7 },
            Compensation::CloseIssue {
                repo: Some("gears".parse().unwrap()),
                issue: 8,
            },
            Compensation::DropLessons { count: 2 },
            Compensation::Nothing {
                what: "the description of #9 stays".into(),
            },
        ];
        let mut said: Vec<String> = Vec::new();
        for one in all {
            let text = serde_json::to_value(&one).unwrap();
            assert_eq!(text["kind"], one.kind());
            assert_eq!(serde_json::from_value::<Compensation>(text).unwrap(), one);
            said.push(one.text());
        }
        assert_eq!(said[3], "delete the branch carson/hand/issue-1 (01234567)");
        assert_eq!(said[8], "labels of #7: +carson:ready -carson:pr-open");
        assert_eq!(said[10], "close issue gears#8, which it filed");
    }

    #[test]
    fn what_was_done_is_not_done_again() {
        let commit = |digit: &str| digit.repeat(40);
        let branch = |name: &str, digit: &str| Compensation::DeleteBranch {
            branch: name.into(),
            commit: commit(digit),
        };
        assert_eq!(branch("a", "1").less(&branch("a", "2")), None);
        let other = branch("b", "1");
        assert_eq!(other.clone().less(&branch("a", "1")), Some(other));
        let comments = |on, comments: &[u64]| Compensation::RemoveComments {
            on,
            comments: comments.to_vec(),
        };
        let rest = comments(7, &[1, 2]).less(&comments(7, &[2]));
        assert_eq!(rest, Some(comments(7, &[1])));
        assert_eq!(comments(7, &[1]).less(&comments(7, &[1, 2])), None);
        assert!(comments(8, &[1]).less(&comments(7, &[1])).is_some());
        let labels = |add: &[&str], remove: &[&str]| Compensation::RestoreLabels {
            on: 7,
            add: add.iter().map(ToString::to_string).collect(),
            remove: remove.iter().map(ToString::to_string).collect(),
        };
        let all = || labels(&["ready"], &["open", "p1"]);
        assert_eq!(all().less(&all()), None);
        let rest = all().less(&labels(&[], &["p1"]));
        assert_eq!(rest, Some(labels(&["ready"], &["open"])));
        let issue = |issue| Compensation::ReopenIssue { issue };
        assert_eq!(issue(7).less(&issue(7)), None);
        assert!(issue(7).less(&issue(8)).is_some());
    }
}
