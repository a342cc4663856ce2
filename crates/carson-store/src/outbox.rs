//! Posts that must reach the chat once, however long it is away.

use carson_core::FiringId;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use sqlx::{FromRow, query};
use uuid::Uuid;

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::small;

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
    /// Where to: `slack`.
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
    /// How often it was tried.
    pub tries: u32,
}

#[derive(FromRow)]
struct Raw {
    id: Uuid,
    sink: String,
    thread: Option<Uuid>,
    kind: String,
    body: String,
    tries: i64,
}

impl Store {
    /// Leases the post whose turn it is: the oldest that is due. Within a thread the order is kept:
    /// a post is not due while an older one of its thread is unsent.
    ///
    /// A clock that was set back delays nothing that was filed before: a post is due from its
    /// filing, and a lease that ends further ahead than any can is none.
    ///
    /// One at a time, so that a lease need only outlast one call to the chat.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lease_post(&self, now: DateTime<Utc>) -> Result<Option<Post>, StoreError> {
        let row: Option<Raw> = on!(self, |pool| sqlx::query_as(
            "UPDATE outbox SET lease_until = $2, tries = tries + 1 WHERE id = ( \
               SELECT o.id FROM outbox o WHERE o.sent_at IS NULL \
               AND (o.due_at IS NULL OR o.due_at <= $1) \
               AND (o.lease_until IS NULL OR o.lease_until <= $1 OR o.lease_until > $2) \
               AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.thread = o.thread \
                               AND e.sent_at IS NULL AND e.seq < o.seq) \
               ORDER BY o.seq LIMIT 1) \
             AND sent_at IS NULL \
             AND (lease_until IS NULL OR lease_until <= $1 OR lease_until > $2) \
             RETURNING id, sink, thread, kind, body, tries"
        )
        .bind(now)
        .bind(now + LEASE)
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

    /// The remote name of the root post of a firing's thread.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn thread_ts(&self, thread: FiringId) -> Result<Option<String>, StoreError> {
        let row: Option<(Option<String>,)> = on!(self, |pool| sqlx::query_as(
            "SELECT remote_ts FROM outbox WHERE thread = $1 AND sent_at IS NOT NULL \
             AND remote_ts IS NOT NULL ORDER BY seq LIMIT 1"
        )
        .bind(thread.uuid())
        .fetch_optional(pool)
        .await?);
        Ok(row.and_then(|(ts,)| ts))
    }

    /// Whether a firing has a thread, sent or not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn has_thread(&self, thread: FiringId) -> Result<bool, StoreError> {
        let row: Option<(i64,)> = on!(self, |pool| sqlx::query_as(
            "SELECT seq FROM outbox WHERE thread = $1 LIMIT 1"
        )
        .bind(thread.uuid())
        .fetch_optional(pool)
        .await?);
        Ok(row.is_some())
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
        tries: small(raw.tries),
    }
}
