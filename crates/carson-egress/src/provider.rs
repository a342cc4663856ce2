//! The provider's API, reached with a key that sessions never see.
//!
//! A session has this firing's token as its key and the proxy as the API's address. Here the token
//! is taken off and the key put on, and the request goes to the one upstream, on the API's own
//! paths only. What it asks for is read before, because the provider would fetch and run things in
//! the session's place (`features.rs`); answers stream through unread.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use carson_core::Api;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, Version};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

use crate::body::Body;
use crate::bounds::Bounds;
use crate::counters::{Counters, HostCounters};
use crate::features::{Feature, beta, beta_headers, forbidden};
use crate::headers::without_hop_by_hop;
use crate::refusal::Refusal;
use crate::resets::{Headers, of_refusal};
use crate::token::Token;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const GOOGLES_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// A provider's API and the key to it.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Whose API it is.
    pub api: Api,
    /// Where it is: `https://host`, without a final slash.
    pub base: String,
    /// The header that carries the key; the API's own without it.
    pub header: Option<String>,
    /// The key.
    pub key: SecretString,
    /// What the operator lets the provider do in a session's place.
    pub allowed: Vec<String>,
}

impl Provider {
    /// The header that signs a request in.
    fn credential(&self) -> Option<(HeaderName, HeaderValue)> {
        let key = self.key.expose_secret();
        let (name, value) = match (self.header.as_deref(), self.api) {
            (Some("authorization"), _) | (None, Api::OpenAi) => {
                (AUTHORIZATION, format!("Bearer {key}"))
            }
            (None, Api::Anthropic) => (API_KEY, key.to_owned()),
            (None, Api::Google) => (GOOGLES_KEY, key.to_owned()),
            (Some(name), _) => (name.parse().ok()?, key.to_owned()),
        };
        let mut value = HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    }
}

/// The same, ready to be asked.
#[derive(Debug)]
pub(crate) struct Upstream {
    client: reqwest::Client,
    api: Api,
    base: String,
    /// `host:port`, as it is counted.
    host: String,
    credential: (HeaderName, HeaderValue),
    allowed: Vec<String>,
    /// Bytes that one request may have.
    largest: usize,
    /// Mebibytes of requests that may be in memory beside those that are.
    held: Semaphore,
    /// What its last refusal said of when it may be asked again, and when that was.
    asked: Mutex<Option<(Headers, Instant)>>,
}

/// Mebibytes of requests that are in memory at once: room for two of the largest.
const HELD: usize = 64;

/// A provider whose key or address cannot be used; which is not said, because it may be shown.
#[derive(Debug, thiserror::Error)]
#[error("the account's key_file holds what no header can carry, or its upstream is no address")]
pub struct ProviderError;

impl Upstream {
    pub(crate) fn new(provider: &Provider, bounds: &Bounds) -> Result<Self, ProviderError> {
        let client = reqwest::Client::builder()
            .connect_timeout(bounds.connect_within)
            .read_timeout(bounds.idle)
            .timeout(bounds.total)
            // The key goes to the one upstream, and not where that one points to.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|_| ProviderError)?;
        let address = reqwest::Url::parse(&provider.base).map_err(|_| ProviderError)?;
        let host = address.host_str().ok_or(ProviderError)?;
        let port = address.port_or_known_default().ok_or(ProviderError)?;
        Ok(Self {
            client,
            api: provider.api,
            base: provider.base.clone(),
            host: format!("{host}:{port}"),
            credential: provider.credential().ok_or(ProviderError)?,
            allowed: provider.allowed.clone(),
            largest: bounds.request,
            held: Semaphore::new(HELD),
            asked: Mutex::default(),
        })
    }

    /// What its last refusal said of when it may be asked again, and how long ago that came; nothing once it
    /// has answered again.
    pub(crate) fn resets(&self) -> Option<(Headers, Duration)> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let (headers, at) = asked.as_ref()?;
        Some((headers.clone(), at.elapsed()))
    }

    fn note_wait(&self, answer: &Response<reqwest::Body>) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if answer.status().is_success() {
            *asked = None;
            return;
        }
        let headers = of_refusal(answer.status(), answer.headers());
        // One that says nothing takes nothing back.
        if !headers.is_empty() {
            *asked = Some((headers, Instant::now()));
        }
    }

    pub(crate) async fn pass_on(
        &self,
        token: &Token,
        all: &HostCounters,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Refusal> {
        if !is_signed(request.headers(), token) {
            return Err(Refusal::NoKey);
        }
        let path = request.uri().path();
        if !is_open(self.api, request.method(), path) {
            let what = format!("{} {path}", request.method());
            tracing::debug!(egress.request = what, "the provider was not asked");
            return Err(Refusal::NotTheApi(what));
        }
        let (parts, body) = request.into_parts();
        let most = most_of(&parts.headers, self.largest);
        let megabytes = u32::try_from(most >> 20).unwrap_or(u32::MAX) + 1;
        // Nobody closes it, and the largest request is smaller than all of it.
        let held = self.held.acquire_many(megabytes).await.ok();
        let body = self.read(&parts, body, most).await?;
        let counters = all.for_host(&self.host);
        counters.allow();
        let answer = self.ask(parts, body, &counters).await;
        drop(held);
        let answer = answer.map_err(|error| Refusal::Unreachable {
            host: self.host.clone(),
            // The address may hold what a gateway's operator would not show.
            why: error.without_url().to_string(),
        })?;
        let answer = answer.into();
        self.note_wait(&answer);
        Ok(to_the_session(answer, counters))
    }

    /// The whole of a request, when all that it asks for is allowed.
    async fn read(&self, parts: &Parts, body: Incoming, most: usize) -> Result<Bytes, Refusal> {
        if parts.headers.contains_key(CONTENT_ENCODING) {
            return Err(Refusal::Malformed("its body is packed and cannot be read"));
        }
        let body = Limited::new(body, most).collect().await;
        let body = body.map_err(|_| Refusal::Malformed("its body broke off or is too large"))?;
        let body = body.to_bytes();
        if parts.method == Method::GET && body.is_empty() {
            return Ok(body);
        }
        match forbidden(self.api, &body, &self.allowed) {
            Ok(None) => Ok(body),
            Ok(Some(Feature(what))) => {
                tracing::warn!(egress.feature = what, "the provider was not asked for this");
                Err(Refusal::NotForSessions(what))
            }
            Err(error) => {
                tracing::debug!(%error, "a request to the provider could not be read");
                Err(Refusal::Malformed(
                    "its body is no JSON object that has each name once",
                ))
            }
        }
    }

    fn without_unknown_betas(&self, headers: &mut HeaderMap) {
        for name in beta_headers() {
            let sent = headers.get_all(name).iter();
            let sent: Vec<&str> = sent.filter_map(|value| value.to_str().ok()).collect();
            let kept = beta(name, &sent.join(","), &self.allowed);
            headers.remove(name);
            if let Ok(kept) = HeaderValue::from_str(&kept)
                && !kept.is_empty()
            {
                headers.insert(name, kept);
            }
        }
    }

    async fn ask(
        &self,
        parts: Parts,
        body: Bytes,
        counters: &Counters,
    ) -> reqwest::Result<reqwest::Response> {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut headers = parts.headers;
        without_hop_by_hop(&mut headers);
        only_known(&mut headers);
        // What was judged is JSON in UTF-8, whatever the session calls it.
        if !body.is_empty() {
            let json = HeaderValue::from_static("application/json");
            headers.insert(CONTENT_TYPE, json);
        }
        self.without_unknown_betas(&mut headers);
        let (name, value) = &self.credential;
        headers.insert(name, value.clone());
        counters.sent(body.len());
        self.client
            .request(parts.method, format!("{}{path}", self.base))
            .headers(headers)
            .body(body)
            .send()
            .await
    }
}

/// Bytes that a request's body may have: as many as it says, and not more than anybody's.
fn most_of(headers: &HeaderMap, bound: usize) -> usize {
    let said = headers.get(CONTENT_LENGTH);
    let said = said.and_then(|length| length.to_str().ok()?.parse().ok());
    said.map_or(bound, |said: usize| said.min(bound))
}

/// Headers of a client that say nothing but who it is and what it takes; and the beginnings of such.
const HEADERS: [&str; 11] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "anthropic-version",
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "openai-beta",
    "user-agent",
    "x-app",
    "x-goog-api-client",
    "originator",
];
const BEGINNINGS: [&str; 3] = ["x-stainless-", "x-claude-", "x-codex-"];

/// Takes out every other one: a gateway may obey headers that nobody here has heard of.
fn only_known(headers: &mut HeaderMap) {
    let known = |name: &str| {
        HEADERS.contains(&name)
            || BEGINNINGS
                .iter()
                .any(|beginning| name.starts_with(beginning))
    };
    let others: Vec<HeaderName> = headers
        .keys()
        .filter(|name| !known(name.as_str()))
        .cloned()
        .collect();
    for name in others {
        headers.remove(name);
    }
}

fn to_the_session(answer: Response<reqwest::Body>, counters: Arc<Counters>) -> Response<Body> {
    let (mut parts, body) = answer.into_parts();
    parts.version = Version::HTTP_11;
    without_hop_by_hop(&mut parts.headers);
    let body = body.map_frame(move |frame| counted(frame, |bytes| counters.received(bytes)));
    Response::from_parts(parts, body.map_err(Into::into).boxed_unsync())
}

fn counted(frame: Frame<Bytes>, count: impl Fn(usize)) -> Frame<Bytes> {
    if let Some(data) = frame.data_ref() {
        count(data.len());
    }
    frame
}

/// Whether the firing's token stands where clients put their key.
fn is_signed(headers: &HeaderMap, token: &Token) -> bool {
    let keys = [API_KEY, GOOGLES_KEY];
    let keys = keys.map(|name| headers.get(name).map(HeaderValue::as_bytes));
    let bearer = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    let bearer = bearer.and_then(|value| value.strip_prefix(b"Bearer "));
    keys.into_iter()
        .chain([bearer])
        .flatten()
        .any(|sent| token.is(sent))
}

/// Whether a request is one that a model's client makes. Files, batches and administration are
/// not: what they leave behind outlives the firing.
fn is_open(api: Api, method: &Method, path: &str) -> bool {
    let asks: &[&str] = match api {
        Api::Anthropic => &["/v1/messages", "/v1/messages/count_tokens"],
        // Its paths have the model's name in them.
        Api::Google => return is_googles(method, path),
        Api::OpenAi => &[
            "/v1/responses",
            "/v1/chat/completions",
            "/v1/completions",
            "/v1/embeddings",
        ],
    };
    match *method {
        Method::POST => asks.contains(&path),
        Method::GET => path.strip_prefix("/v1/models").is_some_and(|rest| {
            rest.is_empty() || rest.strip_prefix('/').is_some_and(is_models_name)
        }),
        _ => false,
    }
}

fn is_models_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(plain)
}

/// What a client asks of Google's models.
fn is_googles(method: &Method, path: &str) -> bool {
    const ASKS: [&str; 3] = ["generateContent", "streamGenerateContent", "countTokens"];
    let Some(rest) = path.strip_prefix("/v1beta/models") else {
        return false;
    };
    let named = rest.strip_prefix('/').filter(|name| is_models_name(name));
    match *method {
        Method::GET => rest.is_empty() || named.is_some_and(|name| !name.contains(':')),
        Method::POST => named
            .and_then(|named| named.split_once(':'))
            .is_some_and(|(name, asks)| is_models_name(name) && ASKS.contains(&asks)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_models_client_asks_is_open() {
        for (api, method, path) in [
            (Api::Anthropic, Method::POST, "/v1/messages"),
            (Api::Anthropic, Method::POST, "/v1/messages/count_tokens"),
            (Api::Anthropic, Method::GET, "/v1/models"),
            (Api::Anthropic, Method::GET, "/v1/models/claude-sonnet-5"),
            (Api::OpenAi, Method::POST, "/v1/responses"),
            (
                Api::Google,
                Method::POST,
                "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
            ),
            (
                Api::Google,
                Method::POST,
                "/v1beta/models/gemini-3-pro:countTokens",
            ),
            (Api::Google, Method::GET, "/v1beta/models/gemini-3-pro"),
        ] {
            assert!(is_open(api, &method, path), "{method} {path}");
        }
        for (api, method, path) in [
            (Api::Anthropic, Method::GET, "/v1/messages"),
            (Api::Anthropic, Method::POST, "/v1/messages/batches"),
            (Api::Anthropic, Method::POST, "/v1/files"),
            (Api::Anthropic, Method::GET, "/v1/organizations/api_keys"),
            (Api::Anthropic, Method::GET, "/v1/models/../organizations"),
            (Api::Anthropic, Method::GET, "/v1/models/..%2forganizations"),
            (Api::Anthropic, Method::POST, "/v1/messages/"),
            (Api::Anthropic, Method::POST, "//v1/messages"),
            (Api::Anthropic, Method::POST, "/v1/responses"),
            (Api::OpenAi, Method::DELETE, "/v1/models/mine"),
            (Api::OpenAi, Method::POST, "/v1/files"),
            (Api::Google, Method::POST, "/v1beta/files"),
            (Api::Google, Method::POST, "/v1beta/cachedContents"),
            (
                Api::Google,
                Method::POST,
                "/v1beta/models/x:batchGenerateContent",
            ),
            (
                Api::Google,
                Method::POST,
                "/v1beta/models/../files:generateContent",
            ),
            (
                Api::Google,
                Method::POST,
                "/v1beta/tunedModels/x:generateContent",
            ),
            (Api::Google, Method::POST, "/v1/models/x:generateContent"),
        ] {
            assert!(!is_open(api, &method, path), "{method} {path}");
        }
    }

    #[test]
    fn a_key_never_shows_itself() {
        let provider = Provider {
            api: Api::OpenAi,
            base: "https://api.example".into(),
            header: None,
            key: SecretString::from("sk-real"),
            allowed: Vec::new(),
        };
        let (name, value) = provider.credential().unwrap();
        assert_eq!(
            (name.as_str(), value.as_bytes()),
            ("authorization", &b"Bearer sk-real"[..])
        );
        assert!(!format!("{provider:?} {value:?}").contains("sk-real"));
        let header = |header: &str| Provider {
            header: Some(header.into()),
            ..provider.clone()
        };
        assert_eq!(
            header("api-key").credential().unwrap().1.as_bytes(),
            b"sk-real"
        );
        let bearer = header("authorization").credential().unwrap();
        assert_eq!(bearer.1.as_bytes(), b"Bearer sk-real");
    }
}
