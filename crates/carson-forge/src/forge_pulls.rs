//! The verbs of a pull request, as the fleet uses them.

use crate::error::ForgeError;
use crate::forge::Forge;
use crate::marks;
use crate::pull_words::{
    ChangedFile, CheckRun, Committed, Fate, Head, Linked, Links, Merge, Merged, Review, Thread,
};
use crate::words::{Comment, Issue};

impl Forge {
    /// Makes a draft ready for review. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the forge refuses or does not answer.
    pub async fn ready_pull(&self, number: u64) -> Result<(), ForgeError> {
        self.0.ready_pull(number).await
    }

    /// What a pull request offers now, and whether that can be merged.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn pull_head(&self, number: u64) -> Result<Head, ForgeError> {
        self.0.pull_head(number).await
    }

    /// Merges a pull request; where the forge holds no branches, notes that somebody did.
    /// Repeating it changes nothing.
    ///
    /// # Errors
    /// [`ForgeError::HeadMoved`] when it offers another commit than the expected one; when the forge
    /// refuses or does not answer.
    pub async fn merge_pull(&self, number: u64, merge: &Merge) -> Result<(), ForgeError> {
        self.0.merge_pull(number, merge).await
    }

    /// The reviews of a pull request, oldest first.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeError> {
        self.0.reviews(number).await
    }

    /// What is said about places of a pull request, resolved or not.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn review_threads(&self, number: u64) -> Result<Vec<Thread>, ForgeError> {
        self.0.review_threads(number).await
    }

    /// Adds to a thread, once: what a repetition with the same `key` finds there stays alone, also
    /// when the forge's first answer was lost. The key is of letters, digits and `-`.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn reply_once(
        &self,
        number: u64,
        thread: &str,
        key: &str,
        body: &str,
    ) -> Result<(), ForgeError> {
        if self.has_replied(number, thread, key).await? {
            return Ok(());
        }
        match self
            .0
            .reply(number, thread, &marks::note_text(key, body))
            .await
        {
            Err(error @ ForgeError::Unavailable { .. }) => {
                match self.has_replied(number, thread, key).await {
                    Ok(true) => Ok(()),
                    _ => Err(error),
                }
            }
            done => done,
        }
    }

    async fn has_replied(&self, number: u64, thread: &str, key: &str) -> Result<bool, ForgeError> {
        let me = self.me().await?;
        let threads = self.review_threads(number).await?;
        let thread = threads.iter().find(|one| one.id == thread);
        let comments = thread.map_or(&[][..], |thread| &thread.comments);
        Ok(note_of(me, comments, key).is_some())
    }

    /// Settles a thread. Repeating it changes nothing.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn resolve(&self, number: u64, thread: &str) -> Result<(), ForgeError> {
        self.0.resolve(number, thread).await
    }

    /// What checks say of a commit: the newest run of each, in the order of their names.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn checks(&self, sha: &str) -> Result<Vec<CheckRun>, ForgeError> {
        self.0.checks(sha).await
    }

    /// The end of a check's log, at most [`LOG_TAIL`](crate::LOG_TAIL) bytes; `None` when the forge
    /// keeps none of it. Programs of the repository wrote it, secrets may stand in it.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn log_tail(&self, check: &CheckRun) -> Result<Option<String>, ForgeError> {
        self.0.log_tail(check).await
    }

    /// The commits of a pull request, the oldest first.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn commits(&self, number: u64) -> Result<Vec<Committed>, ForgeError> {
        self.0.commits(number).await
    }

    /// The files that a pull request changes.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn changed_files(&self, number: u64) -> Result<Vec<ChangedFile>, ForgeError> {
        self.0.changed_files(number).await
    }

    /// What became of a pull request.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn fate(&self, number: u64) -> Result<Fate, ForgeError> {
        self.0.fate(number).await
    }

    /// The pull requests that were merged lately, as far as the forge tells when.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn merged_lately(&self) -> Result<Vec<Merged>, ForgeError> {
        self.0.merged_lately().await
    }

    /// What has to be done before an issue, as the forge itself links them. Nothing is asked of one that
    /// says of itself that nothing holds it.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn blockers(&self, issue: &Issue) -> Result<Vec<Linked>, ForgeError> {
        match issue.blocked_by {
            0 => Ok(Vec::new()),
            _ => self.0.blocked_by(issue.number).await,
        }
    }

    /// What an issue is linked with; `None` when the forge knows of no links.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn links(&self, number: u64) -> Result<Option<Links>, ForgeError> {
        self.0.links(number).await
    }

    /// Comments on an issue or a pull request, once: a repetition with the same `key` finds the
    /// comment, also when the forge's first answer was lost. The key is of letters, digits and `-`.
    ///
    /// # Errors
    /// When it does not exist or the forge does not answer.
    pub async fn comment_once(
        &self,
        number: u64,
        key: &str,
        body: &str,
    ) -> Result<Comment, ForgeError> {
        if let Some(known) = self.note(number, key).await? {
            return Ok(known);
        }
        let text = marks::note_text(key, body);
        match self.comment_as_is(number, &text).await {
            Err(error @ ForgeError::Unavailable { .. }) => {
                let known = self.note(number, key).await.ok().flatten();
                known.ok_or(error)
            }
            done => done,
        }
    }

    async fn note(&self, number: u64, key: &str) -> Result<Option<Comment>, ForgeError> {
        let me = self.me().await?;
        let comments = self.comments(number).await?;
        Ok(note_of(me, &comments, key).cloned())
    }
}

/// Our own comment with this key. Anybody can write what looks like one.
fn note_of<'c>(me: &str, comments: &'c [Comment], key: &str) -> Option<&'c Comment> {
    let first = marks::note_line(key);
    let mut ours = comments
        .iter()
        .filter(|comment| comment.author.eq_ignore_ascii_case(me));
    ours.find(|comment| comment.body.lines().next() == Some(first.as_str()))
}
