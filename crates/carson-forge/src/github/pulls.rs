//! Reviews, checks and merges on GitHub.

use reqwest::Method;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::json;

use super::pull_types::{
    RawCheckRun, RawCommit, RawEnded, RawFate, RawFile, RawHead, RawLinked, RawReview, RawStatus,
};
use super::{GitHubForge, types};
use crate::answer::Answer;
use crate::api::Api;
use crate::error::ForgeError;
use crate::pull_api::PullApi;
use crate::pull_words::{
    ChangedFile, CheckRun, Committed, Fate, Head, Linked, Links, Merge, Merged, Review, Thread,
};
use crate::rest::Query;
use crate::words::{Listed, PullState};

/// Below an issue: what has to be done before it.
const BLOCKED_BY: [&str; 2] = ["dependencies", "blocked_by"];

impl GitHubForge {
    /// A list, of which nothing may be left out.
    async fn all<R: DeserializeOwned, T: From<R>>(
        &self,
        path: &[&str],
        under: Option<&'static str>,
    ) -> Result<Vec<T>, ForgeError> {
        let path = self.path(path);
        let query = Query {
            under,
            ..Query::of(&path, &[])
        };
        let raw: Vec<R> = self.client.whole_list(query).await?;
        Ok(raw.into_iter().map(Into::into).collect())
    }

    /// Links of one kind; `None` where this GitHub has none of them yet.
    async fn linked(&self, number: u64, kind: &[&str]) -> Result<Option<Vec<Linked>>, ForgeError> {
        let number = number.to_string();
        let path = [&["issues", number.as_str()], kind].concat();
        match self.all::<RawLinked, Linked>(&path, None).await {
            Ok(linked) => Ok(Some(linked)),
            Err(ForgeError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What a refusal means where a commit was expected: somebody may have pushed since.
    async fn why_refused(&self, number: u64, expected: &str, error: ForgeError) -> ForgeError {
        match self.pull_head(number).await {
            Ok(head) if head.sha != expected => ForgeError::HeadMoved {
                number,
                expected: expected.to_owned(),
                found: head.sha,
            },
            _ => error,
        }
    }

    async fn post_review(
        &self,
        number: u64,
        commit: &str,
        body: &str,
    ) -> Result<Review, ForgeError> {
        let path = self.path(&["pulls", &number.to_string(), "reviews"]);
        let new = json!({"commit_id": commit, "event": "COMMENT", "body": body});
        let sent = self
            .client
            .send::<RawReview>(Method::POST, &path, &new)
            .await;
        match sent {
            Err(error @ ForgeError::Invalid { .. }) => {
                Err(self.why_refused(number, commit, error).await)
            }
            raw => raw.map(Into::into),
        }
    }
}

/// What is gone already need not be removed.
fn or_gone(done: Result<(), ForgeError>) -> Result<(), ForgeError> {
    match done {
        Err(ForgeError::NotFound { .. }) => Ok(()),
        done => done,
    }
}

impl PullApi for GitHubForge {
    fn ready_pull(&self, number: u64) -> Answer<'_, ()> {
        Box::pin(async move {
            let path = self.path(&["pulls", &number.to_string()]);
            let raw: types::RawPull = self.client.get(&path).await?;
            if raw.draft {
                self.set_draft(&raw.node_id, false).await?;
            }
            if raw.has_draft_label() {
                self.set_labels(number, &[], &[types::WIP]).await?;
            }
            Ok(())
        })
    }

    fn pull_head(&self, number: u64) -> Answer<'_, Head> {
        Box::pin(async move {
            let path = self.path(&["pulls", &number.to_string()]);
            let raw: RawHead = self.client.get(&path).await?;
            Ok(raw.into())
        })
    }

    fn merge_pull<'a>(&'a self, number: u64, merge: &'a Merge) -> Answer<'a, ()> {
        Box::pin(async move {
            let path = self.path(&["pulls", &number.to_string(), "merge"]);
            let mut body = json!({"merge_method": merge.method.as_str()});
            if let Some(expected) = &merge.expected {
                body["sha"] = json!(expected);
            }
            let sent = self.client.send::<IgnoredAny>(Method::PUT, &path, &body);
            match sent.await {
                Err(error @ (ForgeError::Invalid { .. } | ForgeError::Unavailable { .. })) => {
                    // It may have been merged, and the answer was lost.
                    match self.pull(number).await {
                        Ok(pull) if pull.state == PullState::Merged => Ok(()),
                        _ => match &merge.expected {
                            Some(expected) => Err(self.why_refused(number, expected, error).await),
                            None => Err(error),
                        },
                    }
                }
                done => done.map(|_| ()),
            }
        })
    }

    fn reviews(&self, number: u64) -> Answer<'_, Vec<Review>> {
        Box::pin(async move {
            let number = number.to_string();
            self.all::<RawReview, _>(&["pulls", &number, "reviews"], None)
                .await
        })
    }

    fn review<'a>(&'a self, number: u64, commit: &'a str, body: &'a str) -> Answer<'a, Review> {
        Box::pin(self.post_review(number, commit, body))
    }

    fn edit_review<'a>(&'a self, number: u64, review: u64, body: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let (number, review) = (number.to_string(), review.to_string());
            let path = self.path(&["pulls", &number, "reviews", &review]);
            let body = json!({"body": body});
            let sent = self.client.send::<IgnoredAny>(Method::PUT, &path, &body);
            sent.await.map(|_| ())
        })
    }

    fn remove_comment(&self, _: u64, comment: u64) -> Answer<'_, ()> {
        Box::pin(async move {
            let path = self.path(&["issues", "comments", &comment.to_string()]);
            or_gone(self.client.delete(&path).await)
        })
    }

    fn remove_reply<'a>(&'a self, _: u64, _: &'a str, reply: u64) -> Answer<'a, ()> {
        Box::pin(async move {
            let path = self.path(&["pulls", "comments", &reply.to_string()]);
            or_gone(self.client.delete(&path).await)
        })
    }

    fn reopen_pull(&self, number: u64) -> Answer<'_, ()> {
        Box::pin(async move {
            let path = self.path(&["pulls", &number.to_string()]);
            let body = json!({"state": "open"});
            let sent = self.client.send::<IgnoredAny>(Method::PATCH, &path, &body);
            sent.await.map(|_| ())
        })
    }

    fn review_threads(&self, number: u64) -> Answer<'_, Vec<Thread>> {
        Box::pin(self.threads(number))
    }

    fn reply<'a>(&'a self, _: u64, thread: &'a str, body: &'a str) -> Answer<'a, ()> {
        Box::pin(self.reply_to(thread, body))
    }

    fn resolve<'a>(&'a self, _: u64, thread: &'a str) -> Answer<'a, ()> {
        Box::pin(self.resolve_thread(thread))
    }

    fn checks<'a>(&'a self, sha: &'a str) -> Answer<'a, Vec<CheckRun>> {
        Box::pin(async move {
            let runs = ["commits", sha, "check-runs"];
            let mut all: Vec<CheckRun> = self
                .all::<RawCheckRun, _>(&runs, Some("check_runs"))
                .await?;
            let statuses = ["commits", sha, "status"];
            all.extend(
                self.all::<RawStatus, CheckRun>(&statuses, Some("statuses"))
                    .await?,
            );
            all.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(all)
        })
    }

    fn log_tail<'a>(&'a self, check: &'a CheckRun) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            match &check.log {
                Some(job) => {
                    let path = self.path(&["actions", "jobs", job, "logs"]);
                    self.client.log(&path).await
                }
                None => Ok(None),
            }
        })
    }

    /// GitHub tells 250 at most; of more it leaves out the newest, which then say nothing.
    fn commits(&self, number: u64) -> Answer<'_, Vec<Committed>> {
        Box::pin(async move {
            let number = number.to_string();
            self.all::<RawCommit, _>(&["pulls", &number, "commits"], None)
                .await
        })
    }

    fn changed_files(&self, number: u64) -> Answer<'_, Vec<ChangedFile>> {
        Box::pin(async move {
            let number = number.to_string();
            self.all::<RawFile, _>(&["pulls", &number, "files"], None)
                .await
        })
    }

    fn fate(&self, number: u64) -> Answer<'_, Fate> {
        Box::pin(async move {
            let path = self.path(&["pulls", &number.to_string()]);
            let raw: RawFate = self.client.get(&path).await?;
            Ok(raw.into())
        })
    }

    /// Of the hundred that ended or changed last.
    fn merged_lately(&self) -> Answer<'_, Vec<Merged>> {
        Box::pin(async move {
            let path = self.path(&["pulls"]);
            let query = [
                ("state", "closed"),
                ("sort", "updated"),
                ("direction", "desc"),
            ];
            let query = Query::of(&path, &query).polled().first_pages(1);
            let raw: Listed<RawEnded> = self.client.list(query).await?;
            Ok(raw.found.into_iter().filter_map(RawEnded::merged).collect())
        })
    }

    fn blocked_by(&self, number: u64) -> Answer<'_, Vec<Linked>> {
        Box::pin(async move {
            let linked = self.linked(number, &BLOCKED_BY).await?;
            Ok(linked.unwrap_or_default())
        })
    }

    fn links(&self, number: u64) -> Answer<'_, Option<Links>> {
        Box::pin(async move {
            let sub_issues = self.linked(number, &["sub_issues"]).await?;
            let blocked_by = self.linked(number, &BLOCKED_BY).await?;
            if sub_issues.is_none() && blocked_by.is_none() {
                return Ok(None);
            }
            Ok(Some(Links {
                sub_issues: sub_issues.unwrap_or_default(),
                blocked_by: blocked_by.unwrap_or_default(),
            }))
        })
    }
}
