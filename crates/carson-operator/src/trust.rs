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
    let (event, now) = (event(&id, by, true), home.clock.now());
    let changed = match named(home).contains(&id) {
        true => false,
        false => home.store.chat_trust(&id, by, &event, now).await?,
    };
    told(home, id, changed).await
}

/// Somebody is trusted no more; whom the settings name stays.
///
/// # Errors
/// When the settings name them, or the store does not answer.
pub async fn untrust(home: &Home, id: String, by: &str) -> Result<Believed, Refusal> {
    if named(home).contains(&id) {
        return Err(Refusal::Field {
            field: "id",
            problem: format!(
                "{id} stands in slack.trusted or slack.operators of carson.toml, which says who is"
            ),
        });
    }
    let (event, now) = (event(&id, by, false), home.clock.now());
    let changed = home.store.chat_untrust(&id, &event, now).await?;
    told(home, id, changed).await
}

fn event(id: &str, by: &str, trusted: bool) -> Event {
    let (id, by) = (id.to_owned(), by.to_owned());
    Event::ChatTrust { id, trusted, by }
}

async fn told(home: &Home, id: String, changed: bool) -> Result<Believed, Refusal> {
    let by_settings = named(home);
    let since = home.store.chat_trusted().await?.into_iter();
    let since = since.map(|row| row.id);
    Ok(Believed {
        id,
        changed,
        // Somebody may have been trusted before the settings named them.
        since: since.filter(|id| !by_settings.contains(id)).collect(),
        by_settings,
    })
}

/// Whom the settings have us listen to: those who are trusted, and operators.
fn named(home: &Home) -> Vec<String> {
    let chats = home.fleet.sinks.iter().filter_map(|sink| sink.chat());
    let all = chats.flat_map(|chat: &Chat| chat.trusted.iter().chain(&chat.operators));
    let mut named = Vec::new();
    for id in all {
        if !named.contains(id) {
            named.push(id.clone());
        }
    }
    named
}
