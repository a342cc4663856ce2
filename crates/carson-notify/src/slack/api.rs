//! Slack's Web API: threads, and posts that can be changed.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::{NAME, render};
use crate::http;
use crate::sink::{Asking, Notice, Place, PostError, Posted, Posting, Sink};

/// One channel, written to by a bot.
#[derive(Debug)]
pub(super) struct Api {
    pub api_base: String,
    pub channel: String,
    /// A bot token.
    pub token: SecretString,
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
            let answer = self.call("chat.postMessage", &body).await?;
            Ok(Posted {
                ts: answer["ts"].as_str().map(str::to_owned),
            })
        })
    }

    fn ask(&self) -> Asking<'_> {
        Box::pin(async move {
            let answer = self.call("auth.test", &json!({})).await?;
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
                self.call("chat.update", &body).await?;
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

    async fn call(&self, verb: &str, body: &Value) -> Result<Value, PostError> {
        let url = format!("{}/{verb}", self.api_base.trim_end_matches('/'));
        let request = http::client()?
            .post(url)
            .bearer_auth(self.token.expose_secret())
            .json(body);
        let answer = http::body(http::send(request).await?).await?;
        let answer: Value = serde_json::from_slice(&answer)
            .map_err(|_| PostError::Temporary("the answer is no JSON".into()))?;
        if answer["ok"] == true {
            return Ok(answer);
        }
        let error = answer["error"]
            .as_str()
            .unwrap_or("no reason given")
            .to_owned();
        Err(match error.as_str() {
            "ratelimited" => PostError::RetryAfter(Duration::from_secs(30)),
            "internal_error" | "fatal_error" | "service_unavailable" | "request_timeout" => {
                PostError::Temporary(error)
            }
            _ => PostError::Permanent(error),
        })
    }
}
