//! Socket Mode: connected for as long as Slack lets us in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use carson_notify::PostError;
use carson_notify::slack::Web;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tracing::{info, warn};

use crate::backoff::{GOOD, LONGEST, jitter, wait};
use crate::inbox::Inbox;
use crate::upgrade::{Socket, connect};

/// Slack pings more often than this; a socket on which nothing moves is dead.
const SILENCE: Duration = Duration::from_secs(180);
/// An acknowledgement counts within three seconds.
const TO_ACKNOWLEDGE: Duration = Duration::from_secs(3);
/// The wait before another socket where Slack only changes them.
const ROUTINE: Duration = Duration::from_secs(1);
/// How many failures in a row are worth a word to who asks how the fleet is.
const TOLD: u32 = 3;
/// How long Slack may ask to wait.
const LONGEST_ASKED: Duration = Duration::from_secs(600);

/// Told why nobody is listened to at the moment, or that somebody is.
pub type Tell = Arc<dyn Fn(Option<&str>) + Send + Sync>;

/// Why nobody is listened to any more: what Slack said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub String);

/// How a connection ended.
enum End {
    /// It broke off, or Slack wants another one.
    Again(String),
    /// Slack changes its sockets now and then, and says so.
    Refresh,
    /// Slack will have none.
    Refused(String),
}

/// Keeps what arrives, over one connection after another, until Slack refuses.
pub(crate) async fn keep(web: &Web, inbox: &Inbox, tell: &Tell) -> Refused {
    let mut failures = 0_u32;
    loop {
        let since = Instant::now();
        let (why, asked) = match once(web, inbox, tell).await {
            Ok(End::Refused(why)) | Err(PostError::Permanent(why)) => return Refused(why),
            Ok(End::Again(why)) => (why, Duration::ZERO),
            Ok(End::Refresh) => {
                sleep(ROUTINE).await;
                failures = 0;
                continue;
            }
            Err(PostError::RetryAfter(asked)) => ("it asks to wait".to_owned(), asked),
            Err(error) => (error.to_string(), Duration::ZERO),
        };
        failures = match since.elapsed() >= GOOD {
            true => 1,
            false => failures.saturating_add(1),
        };
        // One connection breaks off now and then, and the next one stands at once.
        if failures >= TOLD {
            tell(Some(&format!("its socket does not open: {why}")));
        }
        let wait = wait(failures, jitter()).max(asked.min(LONGEST_ASKED));
        match wait < LONGEST / 2 {
            true => info!(why, failures, ?wait, "the chat's socket is opened anew"),
            false => warn!(why, failures, ?wait, "the chat's socket does not open"),
        }
        sleep(wait).await;
    }
}

/// One connection.
async fn once(web: &Web, inbox: &Inbox, tell: &Tell) -> Result<End, PostError> {
    let answer = web.call("apps.connections.open", &json!({})).await?;
    let address = answer["url"].as_str().unwrap_or_default();
    let mut socket = match connect(address).await {
        Ok(socket) => socket,
        Err(why) => return Ok(End::Again(why)),
    };
    loop {
        let next = timeout(SILENCE, socket.next()).await;
        let message = match next {
            Err(_) => return Ok(End::Again("nothing moved on it".to_owned())),
            Ok(None) => return Ok(End::Again("it was closed".to_owned())),
            Ok(Some(Err(_))) => return Ok(End::Again("it broke off".to_owned())),
            Ok(Some(Ok(message))) => message,
        };
        let Message::Text(text) = message else {
            continue;
        };
        let Ok(envelope) = serde_json::from_str::<Value>(&text) else {
            warn!("the chat sent what is no JSON");
            continue;
        };
        match envelope["type"].as_str() {
            Some("hello") => {
                tell(None);
                info!("the chat is listened to");
            }
            Some("disconnect") => {
                let why = envelope["reason"].as_str().unwrap_or("no reason given");
                return Ok(match why {
                    "link_disabled" => End::Refused(why.to_owned()),
                    "refresh_requested" | "warning" => End::Refresh,
                    _ => End::Again(why.to_owned()),
                });
            }
            _ => {
                if let Err(why) = take(&mut socket, &envelope, inbox).await {
                    return Ok(End::Again(why));
                }
            }
        }
    }
}

/// Acknowledges an envelope once it is written down. One that cannot be is not acknowledged: Slack sends it again, or
/// says to whoever pressed a button that nobody heard it.
async fn take(socket: &mut Socket, envelope: &Value, inbox: &Inbox) -> Result<(), String> {
    let Some(id) = envelope["envelope_id"].as_str() else {
        return Ok(());
    };
    if let Err(why) = inbox.keep(envelope).await {
        warn!(
            why,
            "what was said in the chat cannot be written down, and is to be said again"
        );
        return Ok(());
    }
    let told = Message::text(json!({"envelope_id": id}).to_string());
    match timeout(TO_ACKNOWLEDGE, socket.send(told)).await {
        Ok(Ok(())) => Ok(()),
        _ => Err("nothing can be said on it".to_owned()),
    }
}
