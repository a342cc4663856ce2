//! What stands before the text of each file, and what is made of it.

use std::fs;
use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{ME, file};
use crate::error::ForgeError;
use crate::people::Association;
use crate::pull_words::{Fate, Merged};
use crate::words::{Comment, Issue, Pull, PullState, State};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IssueHead {
    pub title: String,
    pub state: State,
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(default = "operator")]
    pub author: String,
    /// All of this is the operator's own disk; whoever brings issues here from elsewhere may say more.
    #[serde(default = "owner", skip_serializing_if = "is_owner")]
    pub association: Association,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignees: Vec<String>,
    pub created_at: DateTime<Utc>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PullHead {
    pub title: String,
    pub state: PullState,
    pub draft: bool,
    pub head: String,
    pub base: String,
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(default = "us", skip_serializing_if = "is_us")]
    pub author: String,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<DateTime<Utc>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommentHead {
    #[serde(default = "operator")]
    pub author: String,
    #[serde(default = "owner", skip_serializing_if = "is_owner")]
    pub association: Association,
    pub created_at: DateTime<Utc>,
    /// The digest of what was written here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

/// What tells a text that somebody edited since from the one that was written. An editor ends it with a line break.
pub(super) fn digest(body: &str) -> String {
    let digest = Sha256::digest(body.trim_end().as_bytes());
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

pub(super) fn operator() -> String {
    "operator".to_owned()
}

pub(super) fn us() -> String {
    ME.to_owned()
}

fn is_us(author: &str) -> bool {
    author == ME
}

pub(super) fn owner() -> Association {
    Association::Owner
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_owner(association: &Association) -> bool {
    *association == Association::Owner
}

pub(super) fn read_issue(number: u64, path: &Path) -> Result<Issue, ForgeError> {
    let (head, body) = file::read::<IssueHead>(path)?;
    let IssueHead {
        title,
        state,
        labels,
        author,
        association,
        assignees,
        created_at,
    } = head;
    let url = path.to_string_lossy().into_owned();
    Ok(Issue {
        number,
        title,
        body,
        author,
        association,
        assignees,
        state,
        labels,
        created_at,
        dropped: false,
        blocked_by: 0,
        url,
    })
}

pub(super) fn read_pull(number: u64, path: &Path) -> Result<Pull, ForgeError> {
    let (front, body) = file::read::<PullHead>(path)?;
    let PullHead {
        title,
        state,
        draft,
        head,
        base,
        labels,
        author,
        created_at,
        merged_at: _,
    } = front;
    let url = path.to_string_lossy().into_owned();
    Ok(Pull {
        number,
        title,
        body,
        author,
        opened_at: created_at,
        from_fork: false,
        head,
        base,
        draft,
        state,
        labels,
        url,
    })
}

/// When a pull request was opened and merged; `None` when it was not, or nobody noted when.
pub(super) fn read_merged(_: u64, path: &Path) -> Result<Option<Merged>, ForgeError> {
    let (front, _) = file::read::<PullHead>(path)?;
    let merged_at = front.merged_at.filter(|_| front.state == PullState::Merged);
    Ok(merged_at.map(|merged_at| Merged {
        head: front.head,
        opened_at: front.created_at,
        merged_at,
    }))
}

/// What became of a pull request. Its commits are git's.
pub(super) fn read_fate(path: &Path) -> Result<Fate, ForgeError> {
    let (front, _) = file::read::<PullHead>(path)?;
    Ok(Fate {
        state: front.state,
        head: front.head,
        base: front.base,
        opened_at: front.created_at,
        ended_at: front.merged_at.filter(|_| front.state == PullState::Merged),
        offered: None,
        landed: None,
    })
}

/// How much later than it says the file of a comment without a digest may have been written: it is stamped before the
/// disk has it.
const WRITTEN_WITHIN: TimeDelta = TimeDelta::seconds(2);

/// A comment. What has no front matter is what the operator typed, when the file was last changed.
pub(super) fn read_comment(id: u64, path: &Path) -> Result<Comment, ForgeError> {
    let changed = fs::metadata(path).and_then(|file| file.modified());
    let changed = changed.map_err(|source| file::io(path, source))?;
    let changed = DateTime::<Utc>::from(changed);
    let (head, body) = match file::has_head(path)? {
        true => file::read::<CommentHead>(path)?,
        false => {
            let head = CommentHead {
                author: operator(),
                association: owner(),
                created_at: changed,
                written: None,
            };
            (head, file::text(path)?)
        }
    };
    Ok(Comment {
        id,
        edited: match &head.written {
            Some(written) => *written != digest(&body),
            None => changed - head.created_at > WRITTEN_WITHIN,
        },
        author: head.author,
        body,
        created_at: head.created_at,
        association: head.association,
    })
}
