//! What an operator stops, or lets go on, is told in the chat too: others read there.

use carson_core::RoleName;
use carson_core::outcome::Severity;
use carson_home::{Home, Word};
use chrono::{DateTime, Utc};
use tracing::warn;

/// Files it. What was done is done, so a post that cannot be filed is no refusal.
pub(crate) async fn tell(home: &Home, role: Option<&RoleName>, title: &str, text: &str) {
    let severity = Severity::Info;
    let word = Word {
        severity,
        title,
        text,
        role,
    };
    if let Err(error) = home.file_word(&word).await {
        warn!(%error, "the chat could not be told");
    }
}

/// Until when a stop holds, and what ends it.
pub(crate) fn until(until: Option<DateTime<Utc>>, command: &str) -> String {
    until.map_or_else(
        || format!("Until `{command}`."),
        |until| {
            let until = until.format("%Y-%m-%d %H:%M:%SZ");
            format!("Until {until}, or `{command}`.")
        },
    )
}
