//! Slack's Web API: threads, and posts that can be changed.

use serde_json::{Value, json};

use super::web::Web;
use super::{NAME, render};
use crate::sink::{Asking, Notice, Place, Posted, Posting, Sink};

/// One channel, written to by a bot.
#[derive(Debug)]
pub(super) struct Api {
    pub channel: String,
    /// With a bot token.
    pub web: Web,
}

impl Sink for Api {
    fn name(&self) -> &'static str {
        NAME
    }

    fn can_thread(&self) -> bool {
        true
    }

    fn post<'a>(&'a self, notice: &'a Notice, place: Place<'a>) -> Posting<'a> {
        let mut body = self.message(notice);
        body["unfurl_links"] = json!(false);
        if !matches!(place, Place::Thread(_)) {
            render::call_people(&mut body, &notice.message);
        }
        match place {
            Place::Channel => {}
            Place::Thread(root) => body["thread_ts"] = json!(spot(root).1),
            Place::Both(root) => {
                body["thread_ts"] = json!(spot(root).1);
                body["reply_broadcast"] = json!(true);
            }
        }
        Box::pin(async move {
            let answer = self.web.call("chat.postMessage", &body).await?;
            let ts = answer["ts"].as_str();
            Ok(Posted {
                ts: ts.map(|ts| match answer["channel"].as_str() {
                    Some(channel) => format!("{channel}:{ts}"),
                    None => ts.to_owned(),
                }),
            })
        })
    }

    fn ask(&self) -> Asking<'_> {
        Box::pin(async move {
            let answer = self.web.call("auth.test", &json!({})).await?;
            let who = answer["user"].as_str().unwrap_or("a bot");
            let team = answer["team"].as_str().unwrap_or("its workspace");
            Ok(Some(format!("it lets {who} into {team}")))
        })
    }

    fn update<'a>(&'a self, notice: &'a Notice, root: Option<&'a str>) -> Posting<'a> {
        Box::pin(async move {
            if let Some(root) = root {
                let mut body = self.message(notice);
                let (channel, ts) = spot(root);
                // A post is changed by the id of its channel; a name is refused there.
                if let Some(channel) = channel {
                    body["channel"] = json!(channel);
                }
                body["ts"] = json!(ts);
                self.web.call("chat.update", &body).await?;
            }
            Ok(Posted {
                ts: root.map(str::to_owned),
            })
        })
    }
}

/// Where a post stands: the id of its channel, where it is known, and its name there.
#[must_use]
pub fn spot(posted: &str) -> (Option<&str>, &str) {
    match posted.split_once(':') {
        Some((channel, ts)) => (Some(channel), ts),
        None => (None, posted),
    }
}

impl Api {
    fn message(&self, notice: &Notice) -> Value {
        json!({
            "channel": self.channel,
            "text": render::text(&notice.message),
            "blocks": render::blocks(&notice.message),
        })
    }
}
