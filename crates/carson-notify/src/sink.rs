//! Where messages go.

use std::time::Duration;

use reqwest::StatusCode;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use thiserror::Error;

use crate::message::Message;

/// One post.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A chat.
#[derive(Clone, Debug)]
pub enum Sink {
    /// Slack's Web API: threads, and posts that can be changed.
    SlackApi {
        /// Address of the API.
        api_base: String,
        /// The channel.
        channel: String,
        /// A bot token.
        token: SecretString,
    },
    /// A Slack incoming webhook: posts only.
    Webhook {
        /// Its address, which is its secret.
        url: SecretString,
    },
}

/// Where in the chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'t> {
    /// In the channel.
    Channel,
    /// In the thread of this post.
    Thread(&'t str),
    /// In the thread of this post, and shown in the channel too.
    Both(&'t str),
}

/// A message that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Its name in the chat, by which it can be replied to; a webhook gives none.
    pub ts: Option<String>,
}

/// A message that did not arrive.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PostError {
    /// The chat says when to come back.
    #[error("the chat asks to wait {0:?}")]
    RetryAfter(Duration),
    /// It may arrive later.
    #[error("the chat does not answer: {0}")]
    Temporary(String),
    /// It never will.
    #[error("the chat refuses: {0}")]
    Permanent(String),
}

impl Sink {
    /// Posts. A webhook knows no threads: there everything goes into the channel.
    ///
    /// # Errors
    /// When it did not arrive; says whether to try again.
    pub async fn post(&self, message: &Message, place: Place<'_>) -> Result<Posted, PostError> {
        match self {
            Self::SlackApi { channel, .. } => {
                let mut body = json!({
                    "channel": channel,
                    "text": message.slack_text(),
                    "blocks": message.slack_blocks(),
                    "unfurl_links": false,
                });
                match place {
                    Place::Channel => {}
                    Place::Thread(root) => body["thread_ts"] = json!(root),
                    Place::Both(root) => {
                        body["thread_ts"] = json!(root);
                        body["reply_broadcast"] = json!(true);
                    }
                }
                let answer = self.call("chat.postMessage", &body).await?;
                Ok(Posted {
                    ts: answer["ts"].as_str().map(str::to_owned),
                })
            }
            Self::Webhook { url } => {
                let body = json!({"text": message.slack_text(), "blocks": message.slack_blocks()});
                send(client()?.post(url.expose_secret()).json(&body)).await?;
                Ok(Posted { ts: None })
            }
        }
    }

    /// Changes an earlier post. A webhook cannot: it posts anew.
    ///
    /// # Errors
    /// When it did not arrive; says whether to try again.
    pub async fn update(&self, message: &Message, ts: &str) -> Result<Posted, PostError> {
        let Self::SlackApi { channel, .. } = self else {
            return self.post(message, Place::Channel).await;
        };
        let body = json!({
            "channel": channel,
            "ts": ts,
            "text": message.slack_text(),
            "blocks": message.slack_blocks(),
        });
        self.call("chat.update", &body).await?;
        Ok(Posted {
            ts: Some(ts.to_owned()),
        })
    }

    async fn call(&self, verb: &str, body: &Value) -> Result<Value, PostError> {
        let Self::SlackApi {
            api_base, token, ..
        } = self
        else {
            return Err(PostError::Permanent("a webhook has no API".into()));
        };
        let url = format!("{}/{verb}", api_base.trim_end_matches('/'));
        let request = client()?
            .post(url)
            .bearer_auth(token.expose_secret())
            .json(body);
        let text = send(request).await?;
        let answer: Value = serde_json::from_str(&text)
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

fn client() -> Result<reqwest::Client, PostError> {
    reqwest::Client::builder()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| PostError::Temporary(error.to_string()))
}

/// Errors are told without the address: a webhook's address is its secret.
async fn send(request: reqwest::RequestBuilder) -> Result<String, PostError> {
    let temporary = |error: reqwest::Error| PostError::Temporary(error.without_url().to_string());
    let response = request.send().await.map_err(temporary)?;
    let status = response.status();
    if status == StatusCode::TOO_MANY_REQUESTS {
        let after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok());
        let seconds = after.and_then(|text| text.parse().ok()).unwrap_or(30);
        return Err(PostError::RetryAfter(Duration::from_secs(seconds)));
    }
    if status.is_server_error() {
        return Err(PostError::Temporary(status.to_string()));
    }
    if !status.is_success() {
        return Err(PostError::Permanent(status.to_string()));
    }
    response.text().await.map_err(temporary)
}

#[cfg(test)]
mod tests;
