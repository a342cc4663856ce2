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
        match place {
            Place::Channel => {}
            Place::Thread(root) => body["thread_ts"] = json!(root),
            Place::Both(root) => {
                body["thread_ts"] = json!(root);
                body["reply_broadcast"] = json!(true);
            }
        }
        Box::pin(async move {
            let answer = self.web.call("chat.postMessage", &body).await?;
            Ok(Posted {
                ts: answer["ts"].as_str().map(str::to_owned),
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
                body["ts"] = json!(root);
                self.web.call("chat.update", &body).await?;
            }
            Ok(Posted {
                ts: root.map(str::to_owned),
            })
        })
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
