//! The verbs of a pull request on files. What they say of branches is asked of git, which has them.

use super::LocalForge;
use super::folder::Folder;
use crate::answer::Answer;
use crate::api::Api;
use crate::branches::Compared;
use crate::error::ForgeError;
use crate::pull_api::PullApi;
use crate::pull_words::{
    ChangedFile, CheckRun, Committed, Fate, Head, Merge, Merged, Review, Thread,
};
use crate::words::PullState;

impl LocalForge {
    /// Its branch against its base.
    async fn compared(&self, number: u64) -> Result<Compared, ForgeError> {
        let pull = self.pull(number).await?;
        let branches = self.branches.as_ref();
        let branches = branches.ok_or(ForgeError::Lacks { verb: "branches" })?;
        let compared = branches.compare(&pull.head, &pull.base).await?;
        compared.ok_or_else(|| ForgeError::NotFound {
            what: format!("the branch {} or its base {}", pull.head, pull.base),
        })
    }

    /// Whether its branch has another commit than the expected one. One that is gone has none.
    async fn has_moved(&self, number: u64, expected: &str) -> Result<(), ForgeError> {
        match self.compared(number).await {
            Ok(compared) if compared.sha != expected => Err(ForgeError::HeadMoved {
                number,
                expected: expected.to_owned(),
                found: compared.sha,
            }),
            Ok(_) | Err(ForgeError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl PullApi for LocalForge {
    fn ready_pull(&self, number: u64) -> Answer<'_, ()> {
        self.verb(move |folder| folder.ready_pull(number))
    }

    fn pull_head(&self, number: u64) -> Answer<'_, Head> {
        Box::pin(async move {
            let Compared {
                sha, mergeability, ..
            } = self.compared(number).await?;
            Ok(Head { sha, mergeability })
        })
    }

    fn merge_pull<'a>(&'a self, number: u64, merge: &'a Merge) -> Answer<'a, ()> {
        Box::pin(async move {
            let pull = self.pull(number).await?;
            let open = pull.state == PullState::Open;
            if let Some(expected) = merge.expected.as_deref().filter(|_| open) {
                self.has_moved(number, expected).await?;
            }
            self.verb(move |folder| folder.end_pull(number, PullState::Merged))
                .await
        })
    }

    fn fate(&self, number: u64) -> Answer<'_, Fate> {
        self.verb(move |folder| folder.fate(number))
    }

    fn merged_lately(&self) -> Answer<'_, Vec<Merged>> {
        self.verb(Folder::merged)
    }

    fn reviews(&self, number: u64) -> Answer<'_, Vec<Review>> {
        self.verb(move |folder| folder.reviews(number))
    }

    fn review<'a>(&'a self, number: u64, commit: &'a str, body: &'a str) -> Answer<'a, Review> {
        let (commit, body) = (commit.to_owned(), body.to_owned());
        self.verb(move |folder| folder.review(number, commit, &body))
    }

    fn edit_review<'a>(&'a self, number: u64, review: u64, body: &'a str) -> Answer<'a, ()> {
        let body = body.to_owned();
        self.verb(move |folder| folder.edit_review(number, review, &body))
    }

    fn remove_comment(&self, number: u64, comment: u64) -> Answer<'_, ()> {
        self.verb(move |folder| folder.remove_comment(number, comment))
    }

    fn remove_reply<'a>(&'a self, number: u64, thread: &'a str, reply: u64) -> Answer<'a, ()> {
        let thread = thread.to_owned();
        self.verb(move |folder| folder.remove_reply(number, &thread, reply))
    }

    fn reopen_pull(&self, number: u64) -> Answer<'_, ()> {
        self.verb(move |folder| folder.reopen_pull(number))
    }

    fn review_threads(&self, number: u64) -> Answer<'_, Vec<Thread>> {
        self.verb(move |folder| folder.threads(number))
    }

    fn reply<'a>(&'a self, number: u64, thread: &'a str, body: &'a str) -> Answer<'a, ()> {
        let (thread, body) = (thread.to_owned(), body.to_owned());
        self.verb(move |folder| folder.reply(number, &thread, &body))
    }

    fn resolve<'a>(&'a self, number: u64, thread: &'a str) -> Answer<'a, ()> {
        let thread = thread.to_owned();
        self.verb(move |folder| folder.resolve(number, &thread))
    }

    fn checks<'a>(&'a self, sha: &'a str) -> Answer<'a, Vec<CheckRun>> {
        let sha = sha.to_owned();
        self.verb(move |folder| folder.checks(&sha))
    }

    fn log_tail<'a>(&'a self, check: &'a CheckRun) -> Answer<'a, Option<String>> {
        let log = check.log.clone();
        self.verb(move |folder| match log {
            Some(log) => folder.log_tail(&log),
            None => Ok(None),
        })
    }

    fn commits(&self, number: u64) -> Answer<'_, Vec<Committed>> {
        Box::pin(async move { Ok(self.compared(number).await?.commits) })
    }

    fn changed_files(&self, number: u64) -> Answer<'_, Vec<ChangedFile>> {
        Box::pin(async move { Ok(self.compared(number).await?.files) })
    }
}
