//! The line to one sink: what is due there is sent, until the sink is away.

use std::time::Duration;

use carson_core::Clock;
use carson_home::secrets;
use carson_notify::{Message, Notice, NoticeKind, Place, PostError, Posted, Sink, Spec};
use carson_redact::Redactor;
use carson_store::{Post, PostKind, Store, StoreError};
use chrono::{DateTime, TimeDelta, Utc};
use tracing::{info, warn};

use super::withheld;

/// Posts of one pass.
const BATCH: u32 = 20;
/// The first wait after a failure; it doubles.
const FIRST: Duration = Duration::from_secs(5);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(15 * 60);
/// The longest wait that a sink may ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(3_600);
/// A chat allows one post a second in a channel.
const PACE: Duration = Duration::from_millis(1_100);
/// After so many failures it is the post that the sink chokes on, not the sink that is away: some
/// four hours of waiting.
const PATIENCE: u32 = 24;

/// What is remembered of a sink: a hint, worth one call when it is lost.
#[derive(Debug)]
pub(super) struct Line {
    pace: Duration,
    failures: u32,
    away: Option<Away>,
}

/// From when until when nothing is sent. A clock that was set back behind it ends it.
#[derive(Clone, Copy, Debug)]
struct Away {
    since: DateTime<Utc>,
    until: DateTime<Utc>,
}

impl Default for Line {
    fn default() -> Self {
        Self::at(PACE)
    }
}

/// What posts are taken from and sent with.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    pub store: Store,
    pub clock: Clock,
    pub redactor: Redactor,
}

impl Line {
    /// One that rests so long after each post.
    pub(super) fn at(pace: Duration) -> Self {
        Self {
            pace,
            failures: 0,
            away: None,
        }
    }

    /// Sends what is due at this sink; how many arrived.
    pub(super) async fn drain(&mut self, spec: &dyn Spec, desk: &Desk) -> Result<u32, StoreError> {
        let mut sent = 0;
        while sent < BATCH && !self.is_away(desk.clock.now()) {
            let leased = desk.store.lease_post(spec.name(), desk.clock.now()).await?;
            let Some(post) = leased else {
                break;
            };
            if self.post(spec, desk, &post).await? {
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
    async fn post(
        &mut self,
        spec: &dyn Spec,
        desk: &Desk,
        post: &Post,
    ) -> Result<bool, StoreError> {
        let Desk { store, clock, .. } = desk;
        let Ok(message) = serde_json::from_value::<Message>(post.body.clone()) else {
            warn!(post.id = %post.id, "a post cannot be read and is dropped");
            store.post_sent(post.id, None, clock.now()).await?;
            return Ok(false);
        };
        if let Some(why) = withheld::why(store, post, &message, clock.now()).await? {
            info!(post.id = %post.id, why, "a post is not sent");
            store.post_sent(post.id, None, clock.now()).await?;
            return Ok(false);
        }
        // Rows of other hosts are sent too: what they did not know, this one may.
        let notice = notice(post, message.redacted(&desk.redactor));
        // Secrets are read anew: people mend them while a post waits.
        let answer = match spec.open(&secrets::secret) {
            Ok(sink) => send(&*sink, store, post, &notice).await?,
            Err(why) => Err(PostError::Temporary(why)),
        };
        let sink = spec.name();
        match answer {
            Ok(posted) => {
                (self.failures, self.away) = (0, None);
                let ts = posted.ts.as_deref();
                store.post_sent(post.id, ts, clock.now()).await?;
                info!(post.id = %post.id, sink, "post sent");
                Ok(true)
            }
            Err(error) => {
                let retry_at = self.failed(&error, post.tries, clock.now());
                warn!(post.id = %post.id, sink, %error, ?retry_at, "a post did not arrive");
                let error = error.to_string();
                store.post_failed(post.id, &error, retry_at).await?;
                Ok(false)
            }
        }
    }

    /// When the post is due again. When it is the sink that is away, it stays due as it was, and
    /// nothing is sent there until the sink is asked again.
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

fn notice(post: &Post, message: Message) -> Notice {
    let kind = match (post.kind, post.thread) {
        (PostKind::Update, _) => NoticeKind::Finished,
        (PostKind::Root, None) => NoticeKind::Notice,
        (PostKind::Root, Some(_)) if message.severity.is_none() => NoticeKind::Started,
        _ => NoticeKind::Attention,
    };
    Notice {
        id: post.id,
        kind,
        firing: post.thread,
        at: post.created_at,
        message,
    }
}

/// A post of a firing goes into the thread of its first one, where there are threads.
async fn send(
    sink: &dyn Sink,
    store: &Store,
    post: &Post,
    notice: &Notice,
) -> Result<Result<Posted, PostError>, StoreError> {
    let root = match post.thread {
        Some(firing) if sink.can_thread() => store.thread_ts(sink.name(), firing).await?,
        _ => None,
    };
    let root = root.as_deref();
    Ok(match (post.kind, root) {
        (PostKind::Update, _) => sink.update(notice, root).await,
        (PostKind::Broadcast, Some(ts)) => sink.post(notice, Place::Both(ts)).await,
        (_, Some(ts)) => sink.post(notice, Place::Thread(ts)).await,
        (_, None) => sink.post(notice, Place::Channel).await,
    })
}
