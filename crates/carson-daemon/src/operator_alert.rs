//! What the operator hears of the daemon itself: an event, and a post at every sink.

use carson_core::Event;
use carson_core::outcome::Severity;
use carson_home::{Home, Word};
use carson_store::StoreError;
use tracing::{info, warn};

/// Writes an event, and files a post. Best effort: what is told is often that the
/// store or its disk does not work.
pub(crate) async fn alert_operator(home: &Home, event: &Event, title: &str, text: &str) {
    let now = home.clock.now();
    let kind = event.kind();
    if let Err(error) = home.store.event(event, None, None, now).await {
        warn!(%error, kind, "this could not be noted");
        return;
    }
    let word = Word {
        severity: Severity::Error,
        title,
        text,
        role: None,
    };
    if let Err(error) = home.file_word(&word).await {
        warn!(%error, kind, "the chat could not be told");
    }
}

/// Tells when the daemon of this host was away for longer than the settings find normal.
///
/// # Errors
/// When the store does not answer.
pub(crate) async fn was_down(home: &Home) -> Result<(), StoreError> {
    let hosts = home.store.hosts().await?;
    let Some(before) = hosts
        .iter()
        .find(|row| row.name == home.fleet.host.as_str())
    else {
        return Ok(());
    };
    let away = home.clock.now() - before.beat_at;
    let patience = home.fleet.heartbeat.alert_after_down;
    if away.to_std().is_ok_and(|away| away > patience) {
        let minutes = away.num_minutes();
        let text = format!(
            "Nothing was heard of the daemon for {}h {:02}m, since {}. Of the slots that passed, at \
             most one per role is caught up.",
            minutes / 60,
            minutes % 60,
            before.beat_at.format("%Y-%m-%d %H:%M:%SZ")
        );
        info!(since = %before.beat_at, "the daemon was away");
        let event = Event::DaemonWasDown { text: text.clone() };
        alert_operator(home, &event, "Carson is back", &text).await;
    }
    Ok(())
}
