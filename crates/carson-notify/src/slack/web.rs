//! Calls of Slack's Web API.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::http;
use crate::sink::PostError;

/// How long a post may take. One that is given up may be posted all the same, and nobody can ask Slack whether it was
/// without reading the channel: so it is given up late.
const TO_POST: Duration = Duration::from_secs(30);

/// Slack's Web API with one token: of a bot for posts, of an app for its sockets.
#[derive(Clone, Debug)]
pub struct Web {
    api_base: String,
    token: SecretString,
}

impl Web {
    /// At this address, with this token.
    #[must_use]
    pub fn at(api_base: &str, token: SecretString) -> Self {
        Self {
            api_base: api_base.trim_end_matches('/').to_owned(),
            token,
        }
    }

    /// Calls a method; what it answers where it went well.
    ///
    /// # Errors
    /// When it did not; says whether to try again. Never with the token in it.
    pub async fn call(&self, verb: &str, body: &Value) -> Result<Value, PostError> {
        let url = format!("{}/{verb}", self.api_base);
        let mut request = http::client()?
            .post(url)
            .bearer_auth(self.token.expose_secret())
            .json(body);
        if verb == "chat.postMessage" {
            request = request.timeout(TO_POST);
        }
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
