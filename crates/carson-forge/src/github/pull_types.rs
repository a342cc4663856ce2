//! What GitHub sends around a pull request, as far as it is read.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::types::{RawBranch, RawUser, login, pull_state};
use crate::people::Association;
use crate::pull_words::{
    ChangedFile, CheckRun, Committed, Conclusion, Fate, FileStatus, Head, Linked, Mergeability,
    Merged, Review, ReviewState,
};
use crate::words::{PullState, State};

#[derive(Deserialize)]
pub(super) struct RawTip {
    sha: String,
}

/// A pull request, where it is asked for what it offers.
#[derive(Deserialize)]
pub(super) struct RawHead {
    head: RawTip,
    mergeable: Option<bool>,
    #[serde(default)]
    mergeable_state: String,
}

impl From<RawHead> for Head {
    fn from(raw: RawHead) -> Self {
        let mergeability = match (raw.mergeable, raw.mergeable_state.as_str()) {
            (Some(_), "behind") => Mergeability::Behind,
            (Some(_), "blocked" | "draft") => Mergeability::Blocked,
            (Some(false), _) => Mergeability::Conflicts,
            (Some(true), _) => Mergeability::Clean,
            // It is worked out after the first look.
            (None, _) => Mergeability::Unknown,
        };
        Self {
            sha: raw.head.sha,
            mergeability,
        }
    }
}

/// A pull request that is not open any more.
#[derive(Deserialize)]
pub(super) struct RawEnded {
    head: RawBranch,
    created_at: DateTime<Utc>,
    merged_at: Option<DateTime<Utc>>,
}

impl RawEnded {
    pub fn merged(self) -> Option<Merged> {
        Some(Merged {
            merged_at: self.merged_at?,
            head: self.head.name,
            opened_at: self.created_at,
        })
    }
}

/// One end of a pull request.
#[derive(Deserialize)]
struct RawEnd {
    #[serde(rename = "ref")]
    name: String,
    sha: String,
}

/// A pull request, where it is asked for what became of it.
#[derive(Deserialize)]
pub(super) struct RawFate {
    state: State,
    head: RawEnd,
    base: RawBranch,
    created_at: DateTime<Utc>,
    closed_at: Option<DateTime<Utc>>,
    merged_at: Option<DateTime<Utc>>,
    merge_commit_sha: Option<String>,
}

impl From<RawFate> for Fate {
    fn from(raw: RawFate) -> Self {
        let state = pull_state(raw.merged_at, raw.state);
        // Of one that is not merged it is a trial that GitHub made by itself.
        let landed = raw.merge_commit_sha;
        Self {
            state,
            head: raw.head.name,
            base: raw.base.name,
            opened_at: raw.created_at,
            ended_at: raw.merged_at.or(raw.closed_at),
            offered: Some(raw.head.sha),
            landed: landed.filter(|_| state == PullState::Merged),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct RawReview {
    id: u64,
    user: Option<RawUser>,
    #[serde(default)]
    body: Option<String>,
    state: String,
    commit_id: Option<String>,
    submitted_at: Option<DateTime<Utc>>,
    #[serde(default)]
    author_association: String,
}

impl From<RawReview> for Review {
    fn from(raw: RawReview) -> Self {
        Self {
            id: raw.id,
            author: login(raw.user),
            association: Association::from_github(&raw.author_association),
            state: match raw.state.as_str() {
                "APPROVED" => ReviewState::Approved,
                "CHANGES_REQUESTED" => ReviewState::ChangesRequested,
                "DISMISSED" => ReviewState::Dismissed,
                "PENDING" => ReviewState::Pending,
                // No yes, whatever it is.
                _ => ReviewState::Commented,
            },
            body: raw.body.unwrap_or_default(),
            commit: raw.commit_id,
            submitted_at: raw.submitted_at,
            edited: false,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct RawApp {
    #[serde(default)]
    slug: String,
}

#[derive(Deserialize)]
pub(super) struct RawCheckRun {
    id: u64,
    name: String,
    conclusion: Option<String>,
    html_url: Option<String>,
    started_at: Option<DateTime<Utc>>,
    completed_at: Option<DateTime<Utc>>,
    app: Option<RawApp>,
}

impl From<RawCheckRun> for CheckRun {
    fn from(raw: RawCheckRun) -> Self {
        // A job of Actions has the number of its check run; what other apps log is theirs.
        let is_job = raw.app.is_some_and(|app| app.slug == "github-actions");
        Self {
            name: raw.name,
            conclusion: raw.conclusion.as_deref().map(conclusion),
            url: raw.html_url,
            started_at: raw.started_at,
            ended_at: raw.completed_at,
            log: is_job.then(|| raw.id.to_string()),
        }
    }
}

fn conclusion(word: &str) -> Conclusion {
    match word {
        "success" => Conclusion::Passed,
        "cancelled" => Conclusion::Cancelled,
        "timed_out" => Conclusion::TimedOut,
        "skipped" => Conclusion::Skipped,
        "neutral" => Conclusion::Neutral,
        "action_required" => Conclusion::NeedsAction,
        "stale" => Conclusion::Stale,
        // Also what GitHub may say one day: what is not known to be well is not well.
        _ => Conclusion::Failed,
    }
}

#[derive(Deserialize)]
pub(super) struct RawStatus {
    context: String,
    state: String,
    target_url: Option<String>,
    created_at: Option<DateTime<Utc>>,
    updated_at: Option<DateTime<Utc>>,
}

impl From<RawStatus> for CheckRun {
    fn from(raw: RawStatus) -> Self {
        let conclusion = match raw.state.as_str() {
            "pending" => None,
            word => Some(conclusion(word)),
        };
        Self {
            name: raw.context,
            conclusion,
            url: raw.target_url,
            started_at: raw.created_at,
            ended_at: raw.updated_at.filter(|_| conclusion.is_some()),
            log: None,
        }
    }
}

/// A commit, as far as it says when it was made.
#[derive(Deserialize)]
pub(super) struct RawCommit {
    sha: String,
    commit: RawMade,
}

#[derive(Deserialize)]
struct RawMade {
    committer: Option<RawTime>,
}

#[derive(Deserialize)]
struct RawTime {
    date: DateTime<Utc>,
}

impl From<RawCommit> for Committed {
    fn from(raw: RawCommit) -> Self {
        let made = raw.commit.committer;
        Self {
            sha: raw.sha,
            // What nobody dated is long ago.
            at: made.map_or(DateTime::UNIX_EPOCH, |made| made.date),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct RawFile {
    filename: String,
    status: String,
    #[serde(default)]
    additions: u64,
    #[serde(default)]
    deletions: u64,
}

impl From<RawFile> for ChangedFile {
    fn from(raw: RawFile) -> Self {
        Self {
            path: raw.filename,
            status: match raw.status.as_str() {
                "added" | "copied" => FileStatus::Added,
                "removed" => FileStatus::Removed,
                "renamed" => FileStatus::Renamed,
                _ => FileStatus::Modified,
            },
            additions: raw.additions,
            deletions: raw.deletions,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct RawLinked {
    number: u64,
    state: State,
    repository_url: Option<String>,
}

impl From<RawLinked> for Linked {
    fn from(raw: RawLinked) -> Self {
        let slug = raw.repository_url.as_deref().and_then(|url| {
            let (_, slug) = url.rsplit_once("/repos/")?;
            Some(slug.to_owned())
        });
        Self {
            slug,
            number: raw.number,
            open: raw.state == State::Open,
        }
    }
}
