//! What people and programs leave beside a pull request: reviews, threads and checks, as files.

use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::folder::{Folder, next_comment};
use super::head::{CommentHead, digest, operator, read_comment};
use super::{ME, file};
use crate::error::ForgeError;
use crate::people::Association;
use crate::pull_api::tail;
use crate::pull_words::{CheckRun, Conclusion, Review, ReviewState, Thread};

/// Letters of the longest name of a commit (SHA-256).
const SHA: usize = 64;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewHead {
    #[serde(default = "operator")]
    author: String,
    state: ReviewState,
    commit: Option<String>,
    submitted_at: Option<DateTime<Utc>>,
    /// The digest of what was written here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    written: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadHead {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(default)]
    resolved: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckHead {
    conclusion: Option<Conclusion>,
    url: Option<String>,
    started_at: Option<DateTime<Utc>>,
    ended_at: Option<DateTime<Utc>>,
}

impl Folder {
    pub(super) fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeError> {
        self.pull(number)?;
        let numbered = file::numbered(&self.beside_pull(number, "reviews"))?;
        let numbered = numbered.into_iter();
        numbered.map(|(id, path)| read_review(id, &path)).collect()
    }

    pub(super) fn review(
        &self,
        number: u64,
        commit: String,
        body: &str,
    ) -> Result<Review, ForgeError> {
        let _lock = self.lock()?;
        self.pull(number)?;
        let dir = self.beside_pull(number, "reviews");
        fs::create_dir_all(&dir).map_err(|source| file::io(&dir, source))?;
        let head = ReviewHead {
            author: ME.to_owned(),
            state: ReviewState::Commented,
            commit: Some(commit),
            submitted_at: Some(self.now()),
            written: Some(digest(body)),
        };
        let id = next_comment(&dir)?;
        let path = dir.join(format!("{id:04}.md"));
        file::write(&path, &head, body)?;
        read_review(id, &path)
    }

    pub(super) fn edit_review(&self, number: u64, id: u64, body: &str) -> Result<(), ForgeError> {
        let _lock = self.lock()?;
        let path = self.beside_pull(number, "reviews");
        let path = path.join(format!("{id:04}.md"));
        let (mut head, _) = file::read::<ReviewHead>(&path)?;
        head.written = Some(digest(body));
        file::write(&path, &head, body)
    }

    pub(super) fn threads(&self, number: u64) -> Result<Vec<Thread>, ForgeError> {
        self.pull(number)?;
        let numbered = file::numbered(&self.beside_pull(number, "threads"))?;
        let read = |(id, path): (u64, PathBuf)| {
            let (head, _) = file::read::<ThreadHead>(&path)?;
            let said = file::numbered(&path.with_extension("comments"))?;
            let comments = said.into_iter().map(|(id, path)| read_comment(id, &path));
            Ok(Thread {
                id: id.to_string(),
                path: head.path,
                line: head.line,
                resolved: head.resolved,
                comments: comments.collect::<Result<_, ForgeError>>()?,
            })
        };
        numbered.into_iter().map(read).collect()
    }

    pub(super) fn reply(&self, number: u64, thread: &str, body: &str) -> Result<(), ForgeError> {
        let _lock = self.lock()?;
        let dir = self.thread_file(number, thread)?.with_extension("comments");
        fs::create_dir_all(&dir).map_err(|source| file::io(&dir, source))?;
        let head = CommentHead {
            author: ME.to_owned(),
            association: Association::Owner,
            created_at: self.now(),
            written: Some(digest(body)),
        };
        let id = next_comment(&dir)?;
        file::write(&dir.join(format!("{id:04}.md")), &head, body)
    }

    /// One that is gone already is no error.
    pub(super) fn remove_reply(
        &self,
        number: u64,
        thread: &str,
        id: u64,
    ) -> Result<(), ForgeError> {
        let _lock = self.lock()?;
        let dir = self.thread_file(number, thread)?.with_extension("comments");
        file::remove(&dir.join(format!("{id:04}.md")))
    }

    pub(super) fn resolve(&self, number: u64, thread: &str) -> Result<(), ForgeError> {
        let _lock = self.lock()?;
        let path = self.thread_file(number, thread)?;
        let (mut head, body) = file::read::<ThreadHead>(&path)?;
        head.resolved = true;
        file::write(&path, &head, &body)
    }

    fn thread_file(&self, number: u64, thread: &str) -> Result<PathBuf, ForgeError> {
        let gone = || ForgeError::NotFound {
            what: format!("thread {thread} of #{number}"),
        };
        let id: u64 = thread.parse().map_err(|_| gone())?;
        let path = self.beside_pull(number, "threads");
        let path = path.join(format!("{id:04}.md"));
        path.exists().then_some(path).ok_or_else(gone)
    }

    /// `checks/<commit>/<name>.md`: what a program that checks commits writes there. Its log is the
    /// text.
    pub(super) fn checks(&self, sha: &str) -> Result<Vec<CheckRun>, ForgeError> {
        let Some(dir) = self.checks_dir(sha) else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for path in file::markdown(&dir)? {
            let (head, log) = file::read::<CheckHead>(&path)?;
            let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
                continue;
            };
            all.push(CheckRun {
                name: name.to_owned(),
                conclusion: head.conclusion,
                url: head.url,
                started_at: head.started_at,
                ended_at: head.ended_at,
                log: (!log.is_empty()).then(|| format!("{sha}/{name}")),
            });
        }
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    pub(super) fn log_tail(&self, log: &str) -> Result<Option<String>, ForgeError> {
        let file = log.split_once('/').and_then(|(sha, name)| {
            let plain = !name.contains('/') && !name.starts_with('.');
            Some(self.checks_dir(sha)?.join(format!("{name}.md"))).filter(|_| plain)
        });
        let Some(file) = file else {
            return Ok(None);
        };
        match file::read::<CheckHead>(&file) {
            Ok((_, log)) => Ok(Some(tail(log.as_bytes()))),
            Err(ForgeError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `None` for what is no name of a commit: it may come from anywhere, and becomes a path.
    fn checks_dir(&self, sha: &str) -> Option<PathBuf> {
        let is_sha =
            !sha.is_empty() && sha.len() <= SHA && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_sha.then(|| Path::new(self.path()).join("checks").join(sha))
    }
}

fn read_review(id: u64, path: &Path) -> Result<Review, ForgeError> {
    let (head, body) = file::read::<ReviewHead>(path)?;
    Ok(Review {
        id,
        author: head.author,
        // All of this is the operator's own disk.
        association: Association::Owner,
        state: head.state,
        edited: head.written.is_some_and(|written| written != digest(&body)),
        body,
        commit: head.commit,
        submitted_at: head.submitted_at,
    })
}
