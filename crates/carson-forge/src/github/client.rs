//! Requests: bounded in time, tries and pages.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, USER_AGENT};
use reqwest::{Method, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::error::ForgeError;

/// One request.
const TIMEOUT: Duration = Duration::from_secs(20);
/// All tries of one request together.
const PATIENCE: Duration = Duration::from_secs(60);
/// Tries of one request.
const TRIES: u32 = 4;
/// Pages of one list, of a hundred entries each.
const PAGES: u32 = 20;

/// A client of one API with one token.
#[derive(Clone, Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    base: Url,
    token: SecretString,
}

impl Client {
    pub fn new(base: &str, token: SecretString) -> Result<Self, ForgeError> {
        let bad = |why: String| ForgeError::Invalid {
            message: format!("api_base {base:?}: {why}"),
        };
        let base_url = Url::parse(base).map_err(|error| bad(error.to_string()))?;
        let http = reqwest::Client::builder()
            .timeout(TIMEOUT)
            // A redirect could carry the token to another host; the API needs none.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| bad(error.to_string()))?;
        Ok(Self {
            http,
            base: base_url,
            token,
        })
    }

    /// Segments are escaped one by one: what came from outside stays one segment.
    fn url(&self, path: &[String], query: &[(&str, &str)]) -> Result<Url, ForgeError> {
        let mut url = self.base.clone();
        let no_base = |()| ForgeError::Invalid {
            message: "api_base takes no path".into(),
        };
        url.path_segments_mut()
            .map_err(no_base)?
            .pop_if_empty()
            .extend(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &[String]) -> Result<T, ForgeError> {
        decode(
            self.request(Method::GET, self.url(path, &[])?, None)
                .await?,
        )
        .await
    }

    pub async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[String],
        body: &Value,
    ) -> Result<T, ForgeError> {
        decode(
            self.request(method, self.url(path, &[])?, Some(body))
                .await?,
        )
        .await
    }

    pub async fn delete(&self, path: &[String]) -> Result<(), ForgeError> {
        self.request(Method::DELETE, self.url(path, &[])?, None)
            .await
            .map(|_| ())
    }

    /// All pages of a list.
    pub async fn pages<T: DeserializeOwned>(
        &self,
        path: &[String],
        query: &[(&str, &str)],
    ) -> Result<Vec<T>, ForgeError> {
        let mut query = query.to_vec();
        query.push(("per_page", "100"));
        let mut next = Some(self.url(path, &query)?);
        let mut all = Vec::new();
        for _ in 0..PAGES {
            let Some(url) = next else { break };
            let response = self.request(Method::GET, url, None).await?;
            next = next_page(response.headers()).filter(|url| url.origin() == self.base.origin());
            all.extend(decode::<Vec<T>>(response).await?);
        }
        Ok(all)
    }

    /// Tries again what may pass: a server error, a lost connection, a limit that ends soon. A
    /// request that creates something is tried again only when it certainly was not carried out.
    async fn request(
        &self,
        method: Method,
        url: Url,
        body: Option<&Value>,
    ) -> Result<Response, ForgeError> {
        let until = Instant::now() + PATIENCE;
        let mut pause = Duration::from_millis(250);
        for tries in 1..=TRIES {
            let (error, wait) = match self.once(&method, &url, body).await {
                Ok(response) if response.status().is_success() => return Ok(response),
                Ok(response) => refusal(response, &url).await,
                Err(error) => (unavailable(&error), Some(pause)),
            };
            let repeatable = method != Method::POST || matches!(error, ForgeError::RateLimited(_));
            match wait {
                Some(wait) if repeatable && tries < TRIES && Instant::now() + wait < until => {
                    sleep(wait.max(pause)).await;
                    pause *= 2;
                }
                _ => return Err(error),
            }
        }
        Err(ForgeError::Unavailable {
            detail: "all tries failed".into(),
        })
    }

    async fn once(
        &self,
        method: &Method,
        url: &Url,
        body: Option<&Value>,
    ) -> Result<Response, reqwest::Error> {
        let mut request = self
            .http
            .request(method.clone(), url.clone())
            .header(ACCEPT, "application/vnd.github+json")
            .header("X-GitHub-Api-Version", "2022-11-28")
            .header(USER_AGENT, "carson")
            .header(
                AUTHORIZATION,
                format!("Bearer {}", self.token.expose_secret()),
            );
        if let Some(body) = body {
            request = request.json(body);
        }
        request.send().await
    }
}

fn unavailable(error: &reqwest::Error) -> ForgeError {
    // The address may hold nothing secret, but the error's own text repeats it; once is enough.
    let what = if error.is_timeout() {
        "no answer in time"
    } else {
        "no connection"
    };
    ForgeError::Unavailable {
        detail: format!("{what}: {error}"),
    }
}

/// What a refusal means, and after what time it is worth another try.
async fn refusal(response: Response, url: &Url) -> (ForgeError, Option<Duration>) {
    let (status, headers) = (response.status(), response.headers().clone());
    let message = message_of(response).await;
    let limited = status == StatusCode::TOO_MANY_REQUESTS
        || (status == StatusCode::FORBIDDEN
            && (headers.contains_key("retry-after") || message.contains("rate limit")));
    if limited {
        let wait = retry_after(&headers).unwrap_or(Duration::from_secs(60));
        return (ForgeError::RateLimited(wait), Some(wait));
    }
    match status {
        StatusCode::UNAUTHORIZED => (ForgeError::Unauthorized, None),
        StatusCode::FORBIDDEN => (ForgeError::Forbidden { message }, None),
        StatusCode::NOT_FOUND | StatusCode::GONE => (
            ForgeError::NotFound {
                what: url.path().to_owned(),
            },
            None,
        ),
        _ if status.is_server_error() => {
            let detail = format!("{status}: {message}");
            (ForgeError::Unavailable { detail }, Some(Duration::ZERO))
        }
        _ => (
            ForgeError::Invalid {
                message: format!("{status}: {message}"),
            },
            None,
        ),
    }
}

async fn message_of(response: Response) -> String {
    let text = response.text().await.unwrap_or_default();
    let json: Option<Value> = serde_json::from_str(&text).ok();
    let message = json
        .as_ref()
        .and_then(|json| json["message"].as_str())
        .unwrap_or(&text);
    message.chars().take(300).collect()
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers
        .get("retry-after")?
        .to_str()
        .ok()?
        .parse()
        .ok()
        .map(Duration::from_secs)
}

async fn decode<T: DeserializeOwned>(response: Response) -> Result<T, ForgeError> {
    response.json().await.map_err(|error| unavailable(&error))
}

/// `Link: <…>; rel="next"` (RFC 8288).
fn next_page(headers: &HeaderMap) -> Option<Url> {
    let link = headers.get("link")?.to_str().ok()?;
    link.split(',').find_map(|part| {
        let (url, rel) = part.split_once(';')?;
        let url = url.trim().strip_prefix('<')?.strip_suffix('>')?;
        rel.contains("rel=\"next\"").then(|| Url::parse(url).ok())?
    })
}
