//! What people asked not to be told: a sink that is to be quiet gets alerts alone, and an alert that somebody
//! has seen is not told again for a day. It is not told later, either; the brief and the rows have it.

use carson_core::outcome::Severity;
use carson_notify::Message;
use carson_store::{Post, Store, StoreError};
use chrono::{DateTime, TimeDelta, Utc};

/// How long an alert that was seen is not told again.
const SEEN_FOR: TimeDelta = TimeDelta::days(1);

/// Why this post is not sent; nothing where it is.
pub(super) async fn why(
    store: &Store,
    post: &Post,
    message: &Message,
    now: DateTime<Utc>,
) -> Result<Option<&'static str>, StoreError> {
    if message.severity != Some(Severity::Error) {
        let quiets = store.quiets().await?;
        let is_quiet = quiets
            .iter()
            .any(|row| row.sink == post.sink && now < row.until);
        return Ok(is_quiet.then_some("the sink is to be quiet"));
    }
    let seen = store.alert_seen(&message.alert()).await?;
    let again =
        seen.is_some_and(|seen| seen < post.created_at && post.created_at < seen + SEEN_FOR);
    Ok(again.then_some("somebody has seen this alert"))
}
