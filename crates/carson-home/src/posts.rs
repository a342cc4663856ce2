//! A message on its way to every sink: filed once for each, in the outbox.

use carson_core::FiringId;
use carson_notify::Message;
use carson_store::{NewPost, PostKind, StoreError};
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::home::Home;

/// A message as it is to be filed.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'m> {
    /// The firing whose thread it belongs to.
    pub thread: Option<FiringId>,
    /// What it is to the thread.
    pub kind: PostKind,
    /// The message.
    pub message: &'m Message,
    /// When.
    pub at: DateTime<Utc>,
}

impl Home {
    /// The post of one sink, without secrets.
    #[must_use]
    pub fn post_for(&self, sink: &str, draft: &Draft<'_>) -> NewPost {
        let message = draft.message.redacted(&self.redactor);
        NewPost {
            id: Uuid::now_v7(),
            sink: sink.to_owned(),
            thread: draft.thread,
            kind: draft.kind,
            body: serde_json::to_value(&message).unwrap_or_default(),
            created_at: draft.at,
        }
    }

    /// Files it for every sink; for none where the settings have none.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn file_for_all_sinks(&self, draft: &Draft<'_>) -> Result<(), StoreError> {
        for sink in &self.fleet.sinks {
            let post = self.post_for(sink.name(), draft);
            self.store.file_post(&post).await?;
        }
        Ok(())
    }
}
