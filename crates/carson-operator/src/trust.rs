//! Who is listened to in the chat, beside those whom the settings name.

use carson_core::Event;
use carson_home::Home;
use carson_notify::Chat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Longest id.
const MOST: usize = 21;

/// Listen to somebody in the chat.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// Their id there: `U012ABC34`.
    pub id: String,
}

/// Listen to them no more.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Untrust {
    /// Their id there.
    pub id: String,
}

/// Whom the chat believes.
#[derive(Debug, Serialize)]
pub struct Believed {
    /// Whose standing was asked to change.
    pub id: String,
    /// Whether it did.
    pub changed: bool,
    /// Those whom the settings name.
    pub by_settings: Vec<String>,
    /// Those who were trusted since.
    pub since: Vec<String>,
}

impl Ask for Trust {
    const NAME: &'static str = "trust";
    const WHAT: &'static str = "Listen to somebody in the chat";
    const WHO: Who = Who::Trusted;
    type Answer = Believed;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        trust(home, self.id, "operator").await
    }
}

impl Ask for Untrust {
    const NAME: &'static str = "untrust";
    const WHAT: &'static str = "Listen to somebody in the chat no more";
    const WHO: Who = Who::Trusted;
    type Answer = Believed;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        untrust(home, self.id, "operator").await
    }
}

/// Somebody is trusted by one whom the settings name.
///
/// # Errors
/// When the id is none, or the store does not answer.
pub async fn trust(home: &Home, id: String, by: &str) -> Result<Believed, Refusal> {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    if !id.starts_with(['U', 'W']) || id.len() > MOST || !id.chars().all(plain) {
        return Err(Refusal::Field {
            field: "id",
            problem: format!("{id:?} is no member's id, such as U012ABC34"),
        });
    }
    let changed = match named(home).contains(&id) {
        true => false,
        false => home.store.chat_trust(&id, by, home.clock.now()).await?,
    };
    told(home, id, by, (changed, true)).await
}

/// Somebody is trusted no more; whom the settings name stays.
///
/// # Errors
/// When the settings name them, or the store does not answer.
pub async fn untrust(home: &Home, id: String, by: &str) -> Result<Believed, Refusal> {
    if named(home).contains(&id) {
        return Err(Refusal::Field {
            field: "id",
            problem: format!("{id} stands in slack.trusted of carson.toml, which says who is"),
        });
    }
    let changed = home.store.chat_untrust(&id).await?;
    told(home, id, by, (changed, false)).await
}

async fn told(
    home: &Home,
    id: String,
    by: &str,
    (changed, trusted): (bool, bool),
) -> Result<Believed, Refusal> {
    if changed {
        let (id, by) = (id.clone(), by.to_owned());
        let event = Event::ChatTrust { id, trusted, by };
        home.store
            .event(&event, None, None, home.clock.now())
            .await?;
    }
    let since = home.store.chat_trusted().await?.into_iter();
    Ok(Believed {
        id,
        changed,
        by_settings: named(home),
        since: since.map(|row| row.id).collect(),
    })
}

fn named(home: &Home) -> Vec<String> {
    let chats = home.fleet.sinks.iter().filter_map(|sink| sink.chat());
    chats.flat_map(|chat: &Chat| chat.trusted.clone()).collect()
}
