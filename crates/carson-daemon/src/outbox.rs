//! Sends what is in the outbox; a chat that is away delays a post and loses none.

use std::time::Duration;

use carson_config::{Slack, SlackAuth, read_secret};
use carson_firing::Household;
use carson_notify::{Message, PostError, Posted, Sink};
use carson_store::{Post, StoreError};
use chrono::TimeDelta;
use tracing::{info, warn};

/// Posts of one pass.
const BATCH: u32 = 20;
/// The first wait after a failure; it doubles.
const FIRST: Duration = Duration::from_secs(5);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(15 * 60);
/// The chat allows one post a second in a channel.
const PACE: Duration = Duration::from_millis(1_100);

/// Sends what is due; how many arrived. Without a chat in the settings nothing is sent.
///
/// # Errors
/// When the store does not answer.
pub async fn drain(house: &Household) -> Result<u32, StoreError> {
    let Some(slack) = &house.fleet.slack else {
        return Ok(0);
    };
    let sink = match sink(slack) {
        Ok(sink) => sink,
        Err(error) => {
            warn!(%error, "the chat's secret cannot be read; posts stay in the outbox");
            return Ok(0);
        }
    };
    let mut sent = 0;
    for post in house.store.due_posts(house.clock.now(), BATCH).await? {
        if sent > 0 {
            tokio::time::sleep(PACE).await;
        }
        if one(house, &sink, &post).await? {
            sent += 1;
        }
    }
    Ok(sent)
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

async fn one(house: &Household, sink: &Sink, post: &Post) -> Result<bool, StoreError> {
    let now = house.clock.now();
    let Ok(message) = serde_json::from_value::<Message>(post.body.clone()) else {
        warn!(post.id = %post.id, "a post cannot be read and is dropped");
        house.store.post_sent(post.id, None, now).await?;
        return Ok(false);
    };
    match send(house, sink, post, &message).await? {
        Ok(posted) => {
            house
                .store
                .post_sent(post.id, posted.ts.as_deref(), now)
                .await?;
            info!(post.id = %post.id, "post sent");
            Ok(true)
        }
        Err(error) => {
            let wait = wait_after(&error, post.tries);
            warn!(post.id = %post.id, %error, ?wait, "a post did not arrive");
            let retry_at = now + TimeDelta::from_std(wait).unwrap_or(TimeDelta::minutes(15));
            house
                .store
                .post_failed(post.id, &error.to_string(), retry_at)
                .await?;
            Ok(false)
        }
    }
}

/// A post of a firing goes into the thread of its first one.
async fn send(
    house: &Household,
    sink: &Sink,
    post: &Post,
    message: &Message,
) -> Result<Result<Posted, PostError>, StoreError> {
    let thread = match post.thread {
        Some(firing) => house.store.thread_ts(firing).await?,
        None => None,
    };
    Ok(match (post.kind.as_str(), thread) {
        ("update", Some(ts)) => sink.update(message, &ts).await,
        (_, thread) => sink.post(message, thread.as_deref()).await,
    })
}

/// A refusal for good is tried again too, but seldom: people mend channels and tokens.
fn wait_after(error: &PostError, tries: u32) -> Duration {
    match error {
        PostError::RetryAfter(wait) => *wait,
        PostError::Permanent(_) => LONGEST,
        PostError::Temporary(_) => FIRST
            .saturating_mul(1 << tries.saturating_sub(1).min(10))
            .min(LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_the_chat_has_the_last_word() {
        let away = PostError::Temporary(String::new());
        assert_eq!(wait_after(&away, 1), FIRST);
        assert_eq!(wait_after(&away, 3), FIRST * 4);
        assert_eq!(wait_after(&away, 1_000), LONGEST);
        let named = PostError::RetryAfter(Duration::from_secs(7));
        assert_eq!(wait_after(&named, 9), Duration::from_secs(7));
    }
}
