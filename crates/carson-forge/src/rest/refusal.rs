//! What a refusal means, and after what time it is worth another try.

use std::time::Duration;

use carson_core::Clock;
use chrono::DateTime;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use crate::error::ForgeError;

/// What is waited when a forge does not say how long; GitHub asks for that.
const USUAL_WAIT: Duration = Duration::from_secs(60);
/// What is shown of a message.
const SHOWN: usize = 300;

/// One refusal.
pub(super) struct Refusal {
    pub error: ForgeError,
    /// `None`: another try would end the same way.
    pub wait: Option<Duration>,
    /// What the other side said.
    pub said: String,
}

impl Refusal {
    /// One that another try would not change.
    pub fn last(error: ForgeError) -> Self {
        Self {
            error,
            wait: None,
            said: String::new(),
        }
    }

    /// No answer came; another try may have one.
    pub fn lost(error: ForgeError) -> Self {
        Self {
            wait: Some(Duration::ZERO),
            ..Self::last(error)
        }
    }

    /// Reads a response that is no success. `hide` takes secrets out of what the other side said.
    pub async fn read(response: Response, hide: impl Fn(&str) -> String) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let what = response.url().path().to_owned();
        let text = response.text().await.unwrap_or_default();
        let message = hide(&message_of(&text));
        if is_limit(status, &headers, &message) {
            let wait = retry_after(&headers)
                .or_else(|| until_reset(&headers))
                .unwrap_or(USUAL_WAIT);
            return Self {
                error: ForgeError::RateLimited(wait),
                wait: Some(wait),
                said: message,
            };
        }
        let wait = status.is_server_error().then_some(Duration::ZERO);
        let error = match status {
            StatusCode::UNAUTHORIZED => ForgeError::Unauthorized,
            StatusCode::FORBIDDEN => ForgeError::Forbidden {
                message: with_rights(message, &headers),
            },
            StatusCode::NOT_FOUND | StatusCode::GONE => ForgeError::NotFound { what },
            _ if status.is_redirection() => ForgeError::Moved { what },
            _ if status.is_server_error() => ForgeError::Unavailable {
                detail: format!("{status}: {message}"),
            },
            _ => ForgeError::Invalid {
                message: format!("{status}: {message}"),
            },
        };
        Self {
            error,
            wait,
            said: String::new(),
        }
    }
}

/// GitHub says beside a refusal which rights would have been enough: `issues=write; pull_requests=write`.
fn with_rights(message: String, headers: &HeaderMap) -> String {
    let rights = headers.get("x-accepted-github-permissions");
    let rights = rights.and_then(|rights| rights.to_str().ok());
    let Some(rights) = rights.filter(|rights| !rights.trim().is_empty()) else {
        return message;
    };
    let rights = rights.split(';').map(|either| {
        let all = either
            .split(',')
            .map(|right| right.trim().replace('=', ": "));
        all.collect::<Vec<_>>().join(" and ")
    });
    let rights = rights.collect::<Vec<_>>().join(", or ");
    let rights: String = rights.chars().take(SHOWN).collect();
    format!("{message} (it takes the permission {rights})")
}

/// GitHub uses 403 for limits as well as for what is forbidden.
fn is_limit(status: StatusCode, headers: &HeaderMap, message: &str) -> bool {
    let said = message.to_ascii_lowercase();
    status == StatusCode::TOO_MANY_REQUESTS
        || (status == StatusCode::FORBIDDEN
            && (headers.contains_key(RETRY_AFTER)
                || is_used_up(headers)
                || said.contains("rate limit")
                || said.contains("abuse detection")))
}

pub(crate) fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

pub(super) fn is_used_up(headers: &HeaderMap) -> bool {
    number(headers, "x-ratelimit-remaining") == Some(0)
}

/// Whether this tells of the limit of usual requests; searches and GraphQL have limits of their own.
pub(super) fn is_main(headers: &HeaderMap) -> bool {
    let resource = headers.get("x-ratelimit-resource");
    resource.is_none_or(|resource| resource == "core")
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    number(headers, RETRY_AFTER.as_str()).map(Duration::from_secs)
}

/// The time until requests are accepted again, if these headers say that none is left.
pub(super) fn until_reset(headers: &HeaderMap) -> Option<Duration> {
    if !is_used_up(headers) {
        return None;
    }
    let reset = i64::try_from(number(headers, "x-ratelimit-reset")?).ok()?;
    // By the clock of the other side: ours may be wrong.
    let date = headers.get(DATE).and_then(|date| date.to_str().ok());
    let now = date
        .and_then(|date| DateTime::parse_from_rfc2822(date).ok())
        .map_or_else(
            || Clock::system().now().timestamp(),
            |date| date.timestamp(),
        );
    // The second itself has to pass too.
    let seconds = reset.saturating_sub(now).saturating_add(1).max(0);
    Some(Duration::from_secs(seconds.unsigned_abs()))
}

/// The message, with what it says about the single fields.
fn message_of(text: &str) -> String {
    let Ok(json) = serde_json::from_str::<Value>(text) else {
        return text.chars().take(SHOWN).collect();
    };
    let details = json["errors"].as_array().into_iter().flatten();
    let details = details.filter_map(|detail| detail["message"].as_str().or(detail.as_str()));
    let parts: Vec<&str> = json["message"]
        .as_str()
        .into_iter()
        .chain(details)
        .collect();
    parts.join("; ").chars().take(SHOWN).collect()
}
