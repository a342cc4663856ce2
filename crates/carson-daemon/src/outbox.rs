//! Sends what is in the outbox; a chat that is away delays posts and loses none.
//!
//! When the chat does not answer, or asks to wait, everything waits: the oldest post is the one
//! that finds out whether it is back, so that an hour's posts still arrive in their order. Only a
//! post that the chat *refuses* steps aside, with its thread, for those behind it.
//!
//! A post is leased from the store, sent, and marked as sent. A poster that dies between the last
//! two leaves a lease that runs out, and the post is sent once more: twice rather than never.

use std::time::Duration;

use carson_config::{Slack, SlackAuth, read_secret};
use carson_core::Clock;
use carson_firing::Household;
use carson_notify::{Message, Place, PostError, Posted, Sink};
use carson_redact::Redactor;
use carson_store::{Post, PostKind, Store, StoreError};
use chrono::{DateTime, TimeDelta, Utc};
use tracing::{info, warn};

/// Posts of one pass.
const BATCH: u32 = 20;
/// The first wait after a failure; it doubles.
const FIRST: Duration = Duration::from_secs(5);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(15 * 60);
/// The longest wait that the chat may ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(3_600);
/// The chat allows one post a second in a channel.
const PACE: Duration = Duration::from_millis(1_100);
/// After so many failures it is the post that the chat chokes on, not the chat that is away: some
/// four hours of waiting.
const PATIENCE: u32 = 24;

/// The one that posts. It remembers that the chat is away: a hint, worth one call when it is lost.
#[derive(Debug)]
pub struct Poster {
    pace: Duration,
    failures: u32,
    away: Option<Away>,
    redactor: Redactor,
}

/// From when until when nothing is sent. A clock that was set back behind it ends it.
#[derive(Clone, Copy, Debug)]
struct Away {
    since: DateTime<Utc>,
    until: DateTime<Utc>,
}

impl Default for Poster {
    fn default() -> Self {
        Self {
            pace: PACE,
            failures: 0,
            away: None,
            redactor: Redactor::default(),
        }
    }
}

impl Poster {
    /// Sends what is due; how many arrived. Without a chat in the settings nothing is sent.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn drain(&mut self, house: &Household) -> Result<u32, StoreError> {
        let Some(slack) = &house.fleet.slack else {
            return Ok(0);
        };
        self.redactor = house.redactor.clone();
        match sink(slack) {
            Ok(sink) => self.drain_to(&sink, &house.store, &house.clock).await,
            Err(error) => {
                warn!(%error, "the chat's secret cannot be read; posts stay in the outbox");
                Ok(0)
            }
        }
    }

    async fn drain_to(
        &mut self,
        sink: &Sink,
        store: &Store,
        clock: &Clock,
    ) -> Result<u32, StoreError> {
        let mut sent = 0;
        while sent < BATCH && !self.is_away(clock.now()) {
            let Some(post) = store.lease_post(clock.now()).await? else {
                break;
            };
            if self.one(sink, store, clock, &post).await? {
                sent += 1;
                tokio::time::sleep(self.pace).await;
            }
        }
        Ok(sent)
    }

    fn is_away(&self, now: DateTime<Utc>) -> bool {
        self.away
            .is_some_and(|away| away.since <= now && now < away.until)
    }

    /// Sends one post; whether it arrived.
    async fn one(
        &mut self,
        sink: &Sink,
        store: &Store,
        clock: &Clock,
        post: &Post,
    ) -> Result<bool, StoreError> {
        let Ok(message) = serde_json::from_value::<Message>(post.body.clone()) else {
            warn!(post.id = %post.id, "a post cannot be read and is dropped");
            store.post_sent(post.id, None, clock.now()).await?;
            return Ok(false);
        };
        // Rows of other hosts are sent too: what they did not know, this one may.
        let message = message.redacted(&self.redactor);
        match send(sink, store, post, &message).await? {
            Ok(posted) => {
                (self.failures, self.away) = (0, None);
                let ts = posted.ts.as_deref();
                store.post_sent(post.id, ts, clock.now()).await?;
                info!(post.id = %post.id, "post sent");
                Ok(true)
            }
            Err(error) => {
                let retry_at = self.failed(&error, post.tries, clock.now());
                warn!(post.id = %post.id, %error, ?retry_at, "a post did not arrive");
                let error = error.to_string();
                store.post_failed(post.id, &error, retry_at).await?;
                Ok(false)
            }
        }
    }

    /// When the post is due again. When it is the chat that is away, it stays due as it was, and
    /// nothing is sent until the chat is asked again.
    fn failed(
        &mut self,
        error: &PostError,
        tries: u32,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let wait = match error {
            PostError::RetryAfter(wait) => (*wait).min(LONGEST_ASKED),
            PostError::Temporary(_) if tries < PATIENCE => {
                self.failures = self.failures.saturating_add(1);
                FIRST
                    .saturating_mul(1 << (self.failures - 1).min(10))
                    .min(LONGEST)
            }
            // People mend channels and tokens: it is tried again, but seldom.
            PostError::Temporary(_) | PostError::Permanent(_) => return Some(now + span(LONGEST)),
        };
        self.away = Some(Away {
            since: now,
            until: now + span(wait),
        });
        None
    }
}

fn span(wait: Duration) -> TimeDelta {
    TimeDelta::from_std(wait).unwrap_or(TimeDelta::hours(1))
}

fn sink(slack: &Slack) -> Result<Sink, carson_config::SecretError> {
    Ok(match &slack.auth {
        SlackAuth::Token(path) => Sink::SlackApi {
            api_base: slack.api_base.clone(),
            channel: slack.channel.clone(),
            token: read_secret(path)?,
        },
        SlackAuth::Webhook(path) => Sink::Webhook {
            url: read_secret(path)?,
        },
    })
}

/// A post of a firing goes into the thread of its first one.
async fn send(
    sink: &Sink,
    store: &Store,
    post: &Post,
    message: &Message,
) -> Result<Result<Posted, PostError>, StoreError> {
    let thread = match post.thread {
        Some(firing) => store.thread_ts(firing).await?,
        None => None,
    };
    Ok(match (post.kind, thread) {
        (PostKind::Update, Some(ts)) => sink.update(message, &ts).await,
        // A webhook gives no names: there is nothing to change, and the reply says it all.
        (PostKind::Update, None) => Ok(Posted { ts: None }),
        (PostKind::Broadcast, Some(ts)) => sink.post(message, Place::Both(&ts)).await,
        (_, Some(ts)) => sink.post(message, Place::Thread(&ts)).await,
        (_, None) => sink.post(message, Place::Channel).await,
    })
}

#[cfg(test)]
mod tests;
