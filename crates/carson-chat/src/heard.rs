//! An envelope in words of ours.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that somebody did in the chat.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Heard {
    /// Its names: the same when Slack sends it twice.
    #[serde(skip)]
    pub names: Vec<String>,
    /// Who.
    pub user: String,
    /// Where.
    pub channel: String,
    /// When, as far as it can be read.
    pub at: Option<DateTime<Utc>>,
    /// What.
    pub deed: Deed,
}

/// What somebody did.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Deed {
    /// Said something to us.
    Said {
        /// What, without our name.
        text: String,
        /// The thread that it is answered in.
        thread: String,
    },
    /// Named us, and not first.
    Named {
        /// The thread that it is answered in.
        thread: String,
    },
    /// Pressed a button.
    Clicked {
        /// Which.
        action: String,
        /// What it carries.
        value: String,
        /// The post that it stands on.
        post: String,
    },
    /// Put a sign on a post.
    Reacted {
        /// Which.
        sign: String,
        /// On which.
        post: String,
    },
}

impl Heard {
    /// The thread that it is answered in.
    pub(crate) fn thread(&self) -> &str {
        match &self.deed {
            Deed::Said { thread, .. } | Deed::Named { thread } => thread,
            Deed::Clicked { post, .. } | Deed::Reacted { post, .. } => post,
        }
    }

    /// What else is said there is said in the same place.
    pub(crate) fn place(&self) -> String {
        format!("{} {}", self.channel, self.thread())
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// What an envelope says; nothing where it is not for us.
pub(crate) fn heard(envelope: &Value) -> Option<Heard> {
    let payload = &envelope["payload"];
    let mut heard = match envelope["type"].as_str()? {
        "events_api" => of_event(payload)?,
        "interactive" => of_click(payload)?,
        _ => return None,
    };
    let id = envelope["envelope_id"].as_str()?;
    heard.names.push(format!("envelope {id}"));
    Some(heard)
}

fn of_event(payload: &Value) -> Option<Heard> {
    let event = &payload["event"];
    // Ourselves, other programs, and what was said otherwise before.
    if !event["bot_id"].is_null() || !event["subtype"].is_null() {
        return None;
    }
    let user = text(&event["user"])?;
    let names = vec![format!("event {}", payload["event_id"].as_str()?)];
    match event["type"].as_str()? {
        "reaction_added" => {
            let item = &event["item"];
            let post = text(&item["ts"]).filter(|_| item["type"] == "message")?;
            Some(Heard {
                names,
                user,
                channel: text(&item["channel"])?,
                at: instant(event["event_ts"].as_str()),
                deed: Deed::Reacted {
                    sign: text(&event["reaction"])?,
                    post,
                },
            })
        }
        kind @ ("app_mention" | "message") => {
            if kind == "message" && event["channel_type"] != "im" {
                // A mention arrives as such, too.
                return None;
            }
            let said = event["text"].as_str()?;
            let us = payload["authorizations"][0]["user_id"].as_str();
            let ts = text(&event["ts"])?;
            let at = instant(Some(&ts));
            let thread = text(&event["thread_ts"]).unwrap_or(ts);
            // To us alone, nobody is named.
            let alone = Some(said).filter(|_| kind == "message");
            let deed = match without_us(said, us).or(alone) {
                Some(said) => Deed::Said {
                    text: said.trim().to_owned(),
                    thread,
                },
                None => Deed::Named { thread },
            };
            Some(Heard {
                names,
                user,
                channel: text(&event["channel"])?,
                at,
                deed,
            })
        }
        _ => None,
    }
}

/// What follows our name, where a text begins with it.
fn without_us<'t>(said: &'t str, us: Option<&str>) -> Option<&'t str> {
    let (name, rest) = said.trim_start().strip_prefix("<@")?.split_once('>')?;
    let id = name.split('|').next().unwrap_or_default();
    us.is_some_and(|us| us == id).then_some(rest)
}

fn of_click(payload: &Value) -> Option<Heard> {
    if payload["type"] != "block_actions" {
        return None;
    }
    let action = &payload["actions"][0];
    let channel = text(&payload["channel"]["id"]);
    let post = text(&payload["message"]["ts"]);
    let (user, at) = (text(&payload["user"]["id"])?, text(&action["action_ts"]));
    let post = post.or_else(|| text(&payload["container"]["message_ts"]))?;
    let name = format!("click {user} {post} {}", at.as_deref().unwrap_or("?"));
    Some(Heard {
        names: vec![name],
        user,
        channel: channel.or_else(|| text(&payload["container"]["channel_id"]))?,
        at: instant(at.as_deref()),
        deed: Deed::Clicked {
            action: text(&action["action_id"]).unwrap_or_default(),
            value: text(&action["value"]).unwrap_or_default(),
            post,
        },
    })
}

/// Slack's instants are seconds with a fraction, as text.
fn instant(text: Option<&str>) -> Option<DateTime<Utc>> {
    let (seconds, fraction) = text?.split_once('.').unwrap_or((text?, "0"));
    let micros: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    let seconds: i64 = seconds.parse().ok()?;
    DateTime::from_timestamp_micros(seconds.checked_mul(1_000_000)?.checked_add(micros)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(event: Value) -> Value {
        json!({"type": "events_api", "envelope_id": "e1", "payload": {
            "event_id": "Ev1", "authorizations": [{"user_id": "UBOT"}], "event": event}})
    }

    fn said(envelope: &Value) -> Option<String> {
        match heard(envelope)?.deed {
            Deed::Said { text, .. } => Some(text),
            _ => None,
        }
    }

    #[test]
    fn we_hear_what_begins_with_our_name_and_what_is_said_to_us_alone() {
        let mention = |text: &str| {
            event(
                json!({"type": "app_mention", "user": "U1", "channel": "C1", "ts": "1.5", "text": text}),
            )
        };
        assert_eq!(said(&mention("<@UBOT> status")).as_deref(), Some("status"));
        assert_eq!(
            said(&mention("<@UBOT|carson>  why x")).as_deref(),
            Some("why x")
        );
        assert_eq!(said(&mention("<@U9> pause fleet <@UBOT>")), None);
        assert_eq!(said(&mention("hey <@UBOT> pause fleet")), None);
        let thread = "1.5".to_owned();
        let named = heard(&mention("pause fleet <@UBOT>")).unwrap().deed;
        assert_eq!(named, Deed::Named { thread }, "no command, and no silence");
        let alone = |more: Value| {
            let mut one = json!({"type": "message", "channel_type": "im", "user": "U1", "channel": "D1",
                "ts": "1.5", "text": "status"});
            one.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            event(one)
        };
        assert_eq!(said(&alone(json!({}))).as_deref(), Some("status"));
        assert_eq!(said(&alone(json!({"bot_id": "B1"}))), None);
        assert_eq!(said(&alone(json!({"subtype": "message_changed"}))), None);
        assert_eq!(said(&alone(json!({"channel_type": "channel"}))), None);
    }

    #[test]
    fn an_instant_is_read_to_the_microsecond_or_not_at_all() {
        let at = instant(Some("1790000000.000200")).unwrap();
        assert_eq!(at.timestamp_micros(), 1_790_000_000_000_200);
        assert_eq!(instant(Some("7")).unwrap().timestamp(), 7);
        for bad in [
            None,
            Some(""),
            Some("x.y"),
            Some("99999999999999999999.1"),
            Some("1.ü0000"),
        ] {
            assert_eq!(instant(bad), None, "{bad:?}");
        }
    }
}
