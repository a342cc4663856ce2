//! Posts that must reach their sink once, however long it is away.
//!
//! A row is for one sink: what is told to several is filed once for each, and each has its own order,
//! its own threads and its own leases.

use std::collections::BTreeSet;

use carson_core::FiringId;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use serde_json::Value;
use sqlx::query;
use uuid::Uuid;

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::small;
use crate::row::row;

/// How long one poster may hold a post: longer than any call to the chat takes.
const LEASE: TimeDelta = TimeDelta::seconds(60);

/// What a post is to the thread of its firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostKind {
    /// It begins the thread.
    Root,
    /// It goes into the thread.
    Reply,
    /// It goes into the thread, and is shown in the channel too.
    Broadcast,
    /// It changes the root.
    Update,
}

impl PostKind {
    const ALL: [Self; 4] = [Self::Root, Self::Reply, Self::Broadcast, Self::Update];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Reply => "reply",
            Self::Broadcast => "broadcast",
            Self::Update => "update",
        }
    }

    /// One that this version does not know is still a post.
    fn of(text: &str) -> Self {
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        known.unwrap_or(Self::Reply)
    }
}

/// A post to be sent.
#[derive(Clone, Debug)]
pub struct NewPost {
    /// Its id.
    pub id: Uuid,
    /// Where to: the name of a sink.
    pub sink: String,
    /// The firing whose thread it belongs to.
    pub thread: Option<FiringId>,
    /// What it is to the thread.
    pub kind: PostKind,
    /// The message.
    pub body: Value,
    /// When it was filed.
    pub created_at: DateTime<Utc>,
}

/// A post whose turn it is.
#[derive(Clone, Debug)]
pub struct Post {
    /// Its id.
    pub id: Uuid,
    /// Where to.
    pub sink: String,
    /// The firing whose thread it belongs to.
    pub thread: Option<FiringId>,
    /// What it is to the thread.
    pub kind: PostKind,
    /// The message.
    pub body: Value,
    /// When it was filed.
    pub created_at: DateTime<Utc>,
    /// How often it was tried.
    pub tries: u32,
}

row! {
    /// What waits for one sink.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Waiting {
        /// Its name.
        pub sink: String,
        /// Posts that it did not get yet.
        pub posts: i64,
        /// What it said to the oldest of those that were tried.
        pub error: Option<String>,
    }
}

row! {
    struct Raw {
        id: Uuid,
        sink: String,
        thread: Option<Uuid>,
        kind: String,
        body: String,
        created_at: DateTime<Utc>,
        tries: i64,
    }
}

impl Store {
    /// Leases the post whose turn it is at a sink: the oldest that is due. Within a thread the order
    /// is kept: a post is not due while an older one of its thread is unsent there.
    ///
    /// A clock that was set back delays nothing that was filed before: a post is due from its
    /// filing, and a lease that ends further ahead than any can is none.
    ///
    /// One at a time, so that a lease need only outlast one call to the sink.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lease_post(
        &self,
        sink: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<Post>, StoreError> {
        let row: Option<Raw> = on!(self, |pool| sqlx::query_as(
            "UPDATE outbox SET lease_until = $2, tries = tries + 1 WHERE id = ( \
               SELECT o.id FROM outbox o WHERE o.sent_at IS NULL AND o.sink = $3 \
               AND (o.due_at IS NULL OR o.due_at <= $1) \
               AND (o.lease_until IS NULL OR o.lease_until <= $1 OR o.lease_until > $2) \
               AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.thread = o.thread \
                               AND e.sink = o.sink AND e.sent_at IS NULL AND e.seq < o.seq) \
               ORDER BY o.seq LIMIT 1) \
             AND sent_at IS NULL \
             AND (lease_until IS NULL OR lease_until <= $1 OR lease_until > $2) \
             RETURNING id, sink, thread, kind, body, created_at, tries"
        )
        .bind(now)
        .bind(now + LEASE)
        .bind(sink)
        .fetch_optional(pool)
        .await?);
        Ok(row.map(post))
    }

    /// The post arrived; `remote_ts` is its name there.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn post_sent(
        &self,
        id: Uuid,
        remote_ts: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "UPDATE outbox SET sent_at = $2, remote_ts = $3 WHERE id = $1"
        )
        .bind(id)
        .bind(at)
        .bind(remote_ts)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The post did not arrive; it is due again at `retry_at`, or at once.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn post_failed(
        &self,
        id: Uuid,
        error: &str,
        retry_at: Option<DateTime<Utc>>,
    ) -> Result<(), StoreError> {
        on!(self, |pool| {
            query("UPDATE outbox SET due_at = $2, error = $3, lease_until = NULL WHERE id = $1")
                .bind(id)
                .bind(retry_at)
                .bind(self.outside(error).as_ref())
                .execute(pool)
                .await?
                .rows_affected()
        });
        Ok(())
    }

    /// Whether a post of this id was filed, and is still there.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn is_filed(&self, id: Uuid) -> Result<bool, StoreError> {
        let (count,): (i64,) = on!(self, |pool| sqlx::query_as(
            "SELECT COUNT(*) FROM outbox WHERE id = $1"
        )
        .bind(id)
        .fetch_one(pool)
        .await?);
        Ok(count > 0)
    }

    /// The newest posts of all sinks, sent or not, the newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn newest_posts(&self, limit: u32) -> Result<Vec<Post>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| sqlx::query_as(
            "SELECT id, sink, thread, kind, body, created_at, tries FROM outbox \
             ORDER BY seq DESC LIMIT $1"
        )
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?);
        Ok(rows.into_iter().map(post).collect())
    }

    /// The remote name of the root post of a firing's thread at a sink.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn thread_ts(
        &self,
        sink: &str,
        thread: FiringId,
    ) -> Result<Option<String>, StoreError> {
        let row: Option<(Option<String>,)> = on!(self, |pool| {
            sqlx::query_as(
            "SELECT remote_ts FROM outbox WHERE thread = $1 AND sink = $2 AND sent_at IS NOT NULL \
             AND remote_ts IS NOT NULL ORDER BY seq LIMIT 1"
        )
        .bind(thread.uuid())
        .bind(sink)
        .fetch_optional(pool)
        .await?
        });
        Ok(row.and_then(|(ts,)| ts))
    }

    /// The sinks at which a firing has a thread, sent or not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn threads(&self, thread: FiringId) -> Result<BTreeSet<String>, StoreError> {
        let rows: Vec<(String,)> = on!(self, |pool| sqlx::query_as(
            "SELECT DISTINCT sink FROM outbox WHERE thread = $1"
        )
        .bind(thread.uuid())
        .fetch_all(pool)
        .await?);
        Ok(rows.into_iter().map(|(sink,)| sink).collect())
    }

    /// Whether posts of a firing are on their way to a sink.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn has_posts_for(&self, sink: &str, thread: FiringId) -> Result<bool, StoreError> {
        let (count,): (i64,) = on!(self, |pool| sqlx::query_as(
            "SELECT COUNT(*) FROM outbox WHERE thread = $1 AND sink = $2 AND sent_at IS NULL"
        )
        .bind(thread.uuid())
        .bind(sink)
        .fetch_one(pool)
        .await?);
        Ok(count > 0)
    }

    /// What waits, by sink.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn waiting_posts(&self) -> Result<Vec<Waiting>, StoreError> {
        Ok(on!(self, |pool| sqlx::query_as(
            "SELECT o.sink, COUNT(*) AS posts, (SELECT e.error FROM outbox e \
               WHERE e.sink = o.sink AND e.sent_at IS NULL AND e.error IS NOT NULL \
               ORDER BY e.seq LIMIT 1) AS error \
             FROM outbox o WHERE o.sent_at IS NULL GROUP BY o.sink ORDER BY o.sink"
        )
        .fetch_all(pool)
        .await?))
    }

    /// Posts that are not sent yet.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn pending_posts(&self) -> Result<u32, StoreError> {
        let (count,): (i64,) = on!(self, |pool| sqlx::query_as(
            "SELECT COUNT(*) FROM outbox WHERE sent_at IS NULL"
        )
        .fetch_one(pool)
        .await?);
        Ok(small(count))
    }

    /// Files a post outside the end of a firing.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn file_post(&self, post: &NewPost) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "INSERT INTO outbox (id, sink, thread, kind, body, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING"
        )
        .bind(post.id)
        .bind(&post.sink)
        .bind(post.thread.map(|id| id.uuid()))
        .bind(post.kind.as_str())
        .bind(self.outside(&post.body.to_string()).into_owned())
        .bind(post.created_at)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }
}

fn post(raw: Raw) -> Post {
    Post {
        id: raw.id,
        sink: raw.sink,
        thread: raw.thread.map(Into::into),
        kind: PostKind::of(&raw.kind),
        body: serde_json::from_str(&raw.body).unwrap_or(Value::Null),
        created_at: raw.created_at,
        tries: small(raw.tries),
    }
}
