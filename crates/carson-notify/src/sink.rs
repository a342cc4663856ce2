//! Where messages go.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use carson_core::FiringId;
use chrono::{DateTime, Utc};
use serde::Serialize;
use thiserror::Error;
use uuid::Uuid;

use crate::message::Message;

/// A place where messages go. Its name stands in the outbox's rows.
pub trait Sink: Debug + Send + Sync {
    /// The name of its section.
    fn name(&self) -> &'static str;

    /// Whether its posts have names, by which they can be replied to and changed. Where they have
    /// none, every post goes to [`Place::Channel`].
    fn can_thread(&self) -> bool;

    /// Asks whether it would take posts, where that can be asked without posting: what it says, or
    /// `None` of one that nobody can ask so.
    fn ask(&self) -> Asking<'_> {
        Box::pin(async { Ok(None) })
    }

    /// Posts.
    ///
    /// # Errors
    /// When it did not arrive; says whether to try again.
    fn post<'a>(&'a self, notice: &'a Notice, place: Place<'a>) -> Posting<'a>;

    /// Says what is new of an earlier post, the root: by changing it where that can be done. Nothing
    /// is a fine answer of a sink that cannot: what people must know follows as a post.
    ///
    /// # Errors
    /// When it did not arrive; says whether to try again.
    fn update<'a>(&'a self, notice: &'a Notice, root: Option<&'a str>) -> Posting<'a>;
}

/// A post on its way.
pub type Posting<'a> = Pin<Box<dyn Future<Output = Result<Posted, PostError>> + Send + 'a>>;

/// A question on its way.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<Option<String>, PostError>> + Send + 'a>>;

/// A message with what the outbox knows of it.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Its name in the outbox: the same when it is sent twice.
    pub id: Uuid,
    /// What it is.
    pub kind: NoticeKind,
    /// The firing that it is about.
    pub firing: Option<FiringId>,
    /// When it was filed.
    pub at: DateTime<Utc>,
    /// What people read.
    pub message: Message,
}

/// What a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeKind {
    /// A firing took its work.
    Started,
    /// A firing ended.
    Finished,
    /// What an operator needs to know of a firing's end.
    Attention,
    /// A word on a role or the daemon that belongs to no firing.
    Notice,
}

/// Where in the chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'t> {
    /// In the channel.
    Channel,
    /// In the thread of this post.
    Thread(&'t str),
    /// In the thread of this post, and shown in the channel too.
    Both(&'t str),
}

/// A message that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Its name there, by which it can be replied to, where it has one.
    pub ts: Option<String>,
}

/// A message that did not arrive.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PostError {
    /// The other side says when to come back.
    #[error("it asks to wait {0:?}")]
    RetryAfter(Duration),
    /// It may arrive later.
    #[error("it does not answer: {0}")]
    Temporary(String),
    /// It never will.
    #[error("it refuses: {0}")]
    Permanent(String),
}
