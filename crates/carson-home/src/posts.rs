//! A message on its way to every sink: filed once for each, in the outbox.

use carson_core::outcome::Severity;
use carson_core::{FiringId, RoleName};
use carson_notify::Message;
use carson_store::{NewPost, PostKind, StoreError};
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::home::Home;

/// What people are told that belongs to no firing.
#[derive(Clone, Copy, Debug)]
pub struct Word<'w> {
    /// How loud it is.
    pub severity: Severity,
    /// One line.
    pub title: &'w str,
    /// The rest; of a stop, the command that ends it.
    pub text: &'w str,
    /// The role that it is about.
    pub role: Option<&'w RoleName>,
}

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

    /// Files a word that belongs to no firing: on the daemon, or on what stops and goes on.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn file_word(&self, word: &Word<'_>) -> Result<(), StoreError> {
        let (message, at) = (self.word(word), self.clock.now());
        self.file_for_all_sinks(&Draft {
            thread: None,
            kind: PostKind::Root,
            message: &message,
            at,
        })
        .await
    }

    /// The same of a firing that ended long ago, once: repeating it files nothing more.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn file_word_once(&self, word: &Word<'_>, of: FiringId) -> Result<(), StoreError> {
        let (message, at) = (self.word(word), self.clock.now());
        let draft = Draft {
            thread: None,
            kind: PostKind::Root,
            message: &message,
            at,
        };
        for (n, sink) in (1_u128..).zip(&self.fleet.sinks) {
            let post = NewPost {
                id: Uuid::from_u128(of.uuid().as_u128().wrapping_add(n)),
                ..self.post_for(sink.name(), &draft)
            };
            self.store.file_post(&post).await?;
        }
        Ok(())
    }

    /// The message of such a word.
    #[must_use]
    pub fn word(&self, word: &Word<'_>) -> Message {
        Message {
            severity: Some(word.severity),
            title: word.title.to_owned(),
            fields: vec![("Host".to_owned(), self.fleet.host.to_string())],
            text: word.text.to_owned(),
            link: None,
            role: word.role.map(ToString::to_string),
            outcome: None,
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
