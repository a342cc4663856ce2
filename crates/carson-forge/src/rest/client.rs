//! Requests to a REST API: bounded in time, tries and pages.

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, IF_NONE_MATCH, USER_AGENT};
use reqwest::{Method, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::answers::Answers;
use super::memory::Memory;
use super::refusal::{Refusal, is_main, is_used_up, number, until_reset};
use super::tokens::Tokens;
use crate::error::ForgeError;
use crate::keeper::Keeper;
use crate::standing::Standing;

/// One request.
const TIMEOUT: Duration = Duration::from_secs(20);
/// All tries of one request together.
const PATIENCE: Duration = Duration::from_secs(60);
/// Tries of one request.
const TRIES: u32 = 4;
/// Bytes of one answer; a whole page of the longest comments is less.
const MOST: usize = 32 * 1024 * 1024;

/// How long one request may take, and all tries of it together.
#[derive(Clone, Copy, Debug)]
struct Patience {
    one: Duration,
    all: Duration,
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Ask<'a> {
    pub method: Method,
    pub url: Url,
    pub body: Option<&'a Value>,
    /// What the answer was called that we have of it.
    pub known: Option<HeaderValue>,
    /// Whether the answer may name another place.
    pub may_lead_on: bool,
    /// Whether it may be carried out twice.
    pub repeatable: bool,
}

impl<'a> Ask<'a> {
    /// What creates something is not asked again: it may have been made.
    pub fn new(method: Method, url: Url, body: Option<&'a Value>) -> Self {
        Self {
            repeatable: method != Method::POST,
            method,
            url,
            body,
            known: None,
            may_lead_on: false,
        }
    }
}

/// An answer, read to its end.
pub(super) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// What one forge's API has of its own.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    /// Headers of every request.
    pub headers: HeaderMap,
    /// What the headers of an answer tell of our token.
    pub read_standing: fn(&HeaderMap) -> Standing,
}

/// A client of one API, by whoever the tokens are of.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    pub(super) base: Url,
    read_standing: fn(&HeaderMap) -> Standing,
    tokens: Arc<dyn Tokens>,
    patience: Patience,
    memory: Arc<Memory>,
    keeper: Option<Arc<dyn Keeper>>,
    pub(super) answers: Answers,
}

impl Client {
    /// # Errors
    /// When the address is none, or the token cannot be sent. Neither is repeated in the error.
    pub fn new(base: &str, tokens: Arc<dyn Tokens>, dialect: Dialect) -> Result<Self, ForgeError> {
        let bad = |message: String| ForgeError::Invalid { message };
        let base =
            Url::parse(base).map_err(|error| bad(format!("api_base is no address: {error}")))?;
        if !base.username().is_empty() || base.password().is_some() {
            return Err(bad(
                "api_base holds a login; token_file and token_command name the token".into(),
            ));
        }
        if let Some(token) = tokens.current() {
            bearer(&token)?;
        }
        let mut headers = dialect.headers;
        headers.insert(USER_AGENT, HeaderValue::from_static("carson"));
        let http = reqwest::Client::builder()
            .default_headers(headers)
            // A redirect could carry the token to another host; the API needs none.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| bad(error.to_string()))?;
        Ok(Self {
            http,
            base,
            read_standing: dialect.read_standing,
            tokens,
            patience: Patience {
                one: TIMEOUT,
                all: PATIENCE,
            },
            memory: Arc::default(),
            keeper: None,
            answers: Answers::default(),
        })
    }

    /// The same, with what others of this process know of the forge.
    pub fn sharing(mut self, memory: Arc<Memory>) -> Self {
        self.memory = memory;
        self
    }

    /// The same, whose secrets and limits somebody hears of.
    pub fn telling(mut self, keeper: Arc<dyn Keeper>) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// The same, which keeps answers.
    pub fn keeping(mut self, answers: Answers) -> Self {
        self.answers = answers;
        self
    }

    /// The same with less patience.
    #[cfg(test)]
    pub fn hurried(mut self, one: Duration, all: Duration) -> Self {
        self.patience = Patience { one, all };
        self
    }

    /// Segments are escaped one by one: what came from outside stays one segment.
    pub fn url(&self, path: &[String], query: &[(&str, &str)]) -> Result<Url, ForgeError> {
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
        let ask = Ask::new(Method::GET, self.url(path, &[])?, None);
        self.decode(&self.request(ask).await?)
    }

    pub async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[String],
        body: &Value,
    ) -> Result<T, ForgeError> {
        let ask = Ask::new(method, self.url(path, &[])?, Some(body));
        self.decode(&self.request(ask).await?)
    }

    /// Posts to an address that [`url`](Self::url) made; what may be repeated is asked again.
    pub async fn post_to<T: DeserializeOwned>(
        &self,
        url: Url,
        body: &Value,
        repeatable: bool,
    ) -> Result<T, ForgeError> {
        let ask = Ask {
            repeatable,
            ..Ask::new(Method::POST, url, Some(body))
        };
        self.decode(&self.request(ask).await?)
    }

    pub async fn delete(&self, path: &[String]) -> Result<(), ForgeError> {
        let ask = Ask::new(Method::DELETE, self.url(path, &[])?, None);
        self.request(ask).await.map(|_| ())
    }

    /// Tries again what may pass: a server error, a lost connection, a limit that ends soon. A
    /// request that creates something is tried again only when it certainly was not carried out.
    pub(super) async fn request(&self, ask: Ask<'_>) -> Result<Answer, ForgeError> {
        let until = Instant::now() + self.patience.all;
        self.wait_for_opening(until).await?;
        let mut pause = Duration::from_millis(250);
        let mut tries = 1;
        loop {
            let (error, wait) = match self.once(&ask).await {
                Ok(response) => return Ok(response),
                Err(refusal) => (refusal.error, refusal.wait),
            };
            let repeatable = ask.repeatable || matches!(error, ForgeError::RateLimited(_));
            let wait = wait.map(|wait| jittered(wait.max(pause)));
            match wait {
                Some(wait) if repeatable && tries < TRIES && Instant::now() + wait < until => {
                    sleep(wait).await;
                }
                _ => return Err(error),
            }
            pause *= 2;
            tries += 1;
        }
    }

    async fn wait_for_opening(&self, until: Instant) -> Result<(), ForgeError> {
        let left = self.memory.shut_for();
        if left.is_zero() {
            return Ok(());
        }
        let wait = jittered(left);
        if Instant::now() + wait >= until {
            return Err(ForgeError::RateLimited(left));
        }
        sleep(wait).await;
        Ok(())
    }

    /// What the newest answer told.
    pub fn standing(&self) -> Standing {
        self.memory.standing()
    }

    /// Nothing is accepted for so long: not from us, nor from anybody else with this token.
    async fn shut(&self, wait: Duration, why: &str) {
        self.memory.shut(wait);
        if let Some(keeper) = &self.keeper {
            keeper.limited(wait, why).await;
        }
    }

    async fn once(&self, ask: &Ask<'_>) -> Result<Answer, Refusal> {
        let token = self.tokens.token().await.map_err(Refusal::last)?;
        let bearer = bearer(&token).map_err(Refusal::last)?;
        let request = self.http.request(ask.method.clone(), ask.url.clone());
        let mut request = request
            .timeout(self.patience.one)
            .header(AUTHORIZATION, bearer);
        if let Some(known) = &ask.known {
            request = request.header(IF_NONE_MATCH, known);
        }
        if let Some(body) = ask.body {
            request = request.json(body);
        }
        let lost = |error| Refusal::lost(self.unavailable(error));
        let response = request.send().await.map_err(lost)?;
        let headers = response.headers();
        // Each kind of requests has its own limit; that of the usual ones is the fleet's budget.
        let main = is_main(headers);
        if main {
            self.memory.note((self.read_standing)(headers));
        }
        let status = response.status();
        let is_answer = status.is_success()
            || (status == StatusCode::NOT_MODIFIED && ask.known.is_some())
            || (status == StatusCode::FOUND && ask.may_lead_on);
        if is_answer {
            // It was the last one that is accepted for now.
            if let Some(wait) = until_reset(headers).filter(|_| main) {
                self.shut(wait, &used_up(headers)).await;
            }
            return self.whole(response).await;
        }
        let of_others = !main && is_used_up(headers);
        let refusal = Refusal::read(response, |text| self.hide(text)).await;
        match &refusal.error {
            ForgeError::RateLimited(wait) if !of_others => self.shut(*wait, &refusal.said).await,
            ForgeError::Unauthorized => self.tokens.refused(),
            _ => {}
        }
        Err(refusal)
    }

    /// Reads an answer to its end. One that breaks off is as good as none.
    async fn whole(&self, mut response: Response) -> Result<Answer, Refusal> {
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > MOST => {
                    let detail = format!("an answer of more than {} MiB", MOST >> 20);
                    return Err(Refusal::last(ForgeError::Unavailable { detail }));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => {
                    return Ok(Answer {
                        status,
                        headers,
                        body,
                    });
                }
                Err(error) => return Err(Refusal::lost(self.unavailable(error))),
            }
        }
    }

    /// Asks somebody else than the forge, to whom it sent us: without our token.
    pub(super) async fn elsewhere(&self, url: Url, time: Duration) -> Result<Response, ForgeError> {
        let asked = self.http.get(url).timeout(time).send().await;
        let response = asked.map_err(|error| self.unavailable(error))?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status => Err(ForgeError::Unavailable {
                detail: format!("{status} at the place that it named"),
            }),
        }
    }

    fn decode<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T, ForgeError> {
        self.parse(&answer.body)
    }

    pub(super) fn parse<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, ForgeError> {
        serde_json::from_slice(body).map_err(|error| ForgeError::Unavailable {
            detail: self.hide(&format!("an answer that is none: {error}")),
        })
    }

    pub(super) fn unavailable(&self, error: reqwest::Error) -> ForgeError {
        let what = if error.is_timeout() {
            "no answer in time"
        } else if error.is_body() || error.is_decode() {
            "an answer that breaks off"
        } else {
            "no connection"
        };
        let error = error.without_url();
        let mut detail = format!("{what}: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            detail.push_str(&format!(": {error}"));
            cause = error.source();
        }
        ForgeError::Unavailable {
            detail: self.hide(&detail),
        }
    }

    /// Takes the token out of a text: a proxy may repeat in its answer what it was sent.
    pub fn hide(&self, text: &str) -> String {
        let token = self.tokens.current();
        match token.as_ref().map_or("", ExposeSecret::expose_secret) {
            "" => text.to_owned(),
            token => text.replace(token, "[token]"),
        }
    }
}

fn bearer(token: &SecretString) -> Result<HeaderValue, ForgeError> {
    let bearer = format!("Bearer {}", token.expose_secret());
    let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| ForgeError::Invalid {
        message: "the token holds a character that cannot be sent, such as a newline".into(),
    })?;
    bearer.set_sensitive(true);
    Ok(bearer)
}

fn used_up(headers: &HeaderMap) -> String {
    match number(headers, "x-ratelimit-limit") {
        Some(limit) => format!("all {limit} requests of this hour are used up"),
        None => "all requests of this hour are used up".to_owned(),
    }
}

/// Up to a quarter longer: hosts that were shut out together must not come back together.
fn jittered(wait: Duration) -> Duration {
    let random = RandomState::new().hash_one(0u8) % 1000;
    let share = u32::try_from(random).unwrap_or(0);
    wait.saturating_add(wait / 4000 * share)
}
