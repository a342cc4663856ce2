//! What is said about places of a pull request. REST knows the comments, and neither which of them
//! belong together nor whether that is settled.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::GitHubForge;
use super::graphql::{ONCE, REPEATABLE};
use super::types::{RawUser, login};
use crate::error::ForgeError;
use crate::people::Association;
use crate::pull_words::Thread;
use crate::words::Comment;

/// Pages of fifty threads.
const PAGES: usize = 20;

const THREADS: &str = "query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 50, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id isResolved path line comments(first: 100) {
        pageInfo { hasNextPage endCursor }
        nodes { databaseId body createdAt lastEditedAt authorAssociation author { login } } } } } } } }";

const REPLY: &str = "mutation($id: ID!, $body: String!) {
  addPullRequestReviewThreadReply(input: {pullRequestReviewThreadId: $id, body: $body}) {
    clientMutationId } }";

const RESOLVE: &str = "mutation($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { clientMutationId } }";

#[derive(Deserialize)]
struct Data {
    repository: Option<Repository>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repository {
    pull_request: Option<PullRequest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequest {
    review_threads: Page<RawThread>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<T> {
    page_info: PageInfo,
    nodes: Vec<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawThread {
    id: String,
    is_resolved: bool,
    path: String,
    line: Option<u64>,
    comments: Page<RawComment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawComment {
    database_id: Option<u64>,
    body: String,
    created_at: DateTime<Utc>,
    last_edited_at: Option<DateTime<Utc>>,
    #[serde(default)]
    author_association: String,
    author: Option<RawUser>,
}

impl GitHubForge {
    pub(super) async fn threads(&self, number: u64) -> Result<Vec<Thread>, ForgeError> {
        let name = self.slug.split('/').nth(1).unwrap_or_default();
        let mut all = Vec::new();
        let mut after: Option<String> = None;
        for _ in 0..PAGES {
            let variables =
                json!({"owner": self.owner, "name": name, "number": number, "after": after});
            let data: Data = self.graphql(THREADS, variables, REPEATABLE).await?;
            let pull = data.repository.and_then(|found| found.pull_request);
            let page = pull.map(|pull| pull.review_threads);
            let page = page.ok_or_else(|| ForgeError::NotFound {
                what: format!("pull request {number}"),
            })?;
            for raw in page.nodes {
                all.push(thread(raw)?);
            }
            if !page.page_info.has_next_page {
                return Ok(all);
            }
            after = page.page_info.end_cursor;
        }
        Err(too_many(&format!("pull request {number} has more threads")))
    }

    pub(super) async fn reply_to(&self, thread: &str, body: &str) -> Result<(), ForgeError> {
        let variables = json!({"id": thread, "body": body});
        let sent = self.graphql::<IgnoredAny>(REPLY, variables, ONCE);
        sent.await.map(|_| ())
    }

    pub(super) async fn resolve_thread(&self, thread: &str) -> Result<(), ForgeError> {
        let variables = json!({"id": thread});
        let sent = self.graphql::<IgnoredAny>(RESOLVE, variables, REPEATABLE);
        sent.await.map(|_| ())
    }
}

fn too_many(what: &str) -> ForgeError {
    ForgeError::Unavailable {
        detail: format!("{what} than anybody reads"),
    }
}

fn thread(raw: RawThread) -> Result<Thread, ForgeError> {
    if raw.comments.page_info.has_next_page {
        return Err(too_many(&format!("a thread about {} is longer", raw.path)));
    }
    let comments = raw.comments.nodes.into_iter().map(|raw| Comment {
        id: raw.database_id.unwrap_or_default(),
        author: login(raw.author),
        body: raw.body,
        created_at: raw.created_at,
        association: Association::from_github(&raw.author_association),
        edited: raw.last_edited_at.is_some(),
    });
    Ok(Thread {
        id: raw.id,
        path: raw.path,
        line: raw.line,
        resolved: raw.is_resolved,
        comments: comments.collect(),
    })
}
