//! Requests to a REST API: bounded in time, tries and pages.

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, LINK, USER_AGENT};
use reqwest::{Method, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::refusal::{Refusal, until_reset};
use crate::error::ForgeError;
use crate::standing::Standing;
use crate::words::{Listed, Unread};

/// One request.
const TIMEOUT: Duration = Duration::from_secs(20);
/// All tries of one request together.
const PATIENCE: Duration = Duration::from_secs(60);
/// Tries of one request.
const TRIES: u32 = 4;
/// Pages of one list, of a hundred entries each.
const PAGES: u32 = 50;
/// Bytes of one answer; a whole page of the longest comments is less.
const MOST: usize = 32 * 1024 * 1024;

/// How long one request may take, and all tries of it together.
#[derive(Clone, Copy, Debug)]
struct Patience {
    one: Duration,
    all: Duration,
}

/// A success, read to its end.
struct Answer {
    headers: HeaderMap,
    body: Vec<u8>,
}

/// What one forge's API has of its own.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    /// Headers of every request.
    pub headers: HeaderMap,
    /// What the headers of an answer tell of our token.
    pub read_standing: fn(&HeaderMap) -> Standing,
}

/// A client of one API with one token.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    read_standing: fn(&HeaderMap) -> Standing,
    token: SecretString,
    patience: Patience,
    /// Until when the other side accepts nothing. Who goes on asking is shut out for longer.
    shut: Arc<Mutex<Option<Instant>>>,
    /// What the newest answer told of our token.
    standing: Arc<Mutex<Standing>>,
}

impl Client {
    /// # Errors
    /// When the address is none, or the token cannot be sent. Neither is repeated in the error.
    pub fn new(base: &str, token: SecretString, dialect: Dialect) -> Result<Self, ForgeError> {
        let bad = |message: String| ForgeError::Invalid { message };
        let base =
            Url::parse(base).map_err(|error| bad(format!("api_base is no address: {error}")))?;
        if !base.username().is_empty() || base.password().is_some() {
            return Err(bad(
                "api_base holds a login; token_file and token_command name the token".into(),
            ));
        }
        let http = reqwest::Client::builder()
            .default_headers(headers(&token, dialect.headers)?)
            // A redirect could carry the token to another host; the API needs none.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| bad(error.to_string()))?;
        Ok(Self {
            http,
            base,
            read_standing: dialect.read_standing,
            token,
            patience: Patience {
                one: TIMEOUT,
                all: PATIENCE,
            },
            shut: Arc::default(),
            standing: Arc::default(),
        })
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
        let url = self.url(path, &[])?;
        self.decode(&self.request(Method::GET, url, None).await?)
    }

    pub async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[String],
        body: &Value,
    ) -> Result<T, ForgeError> {
        self.send_to(method, self.url(path, &[])?, body).await
    }

    /// The same to an address that [`url`](Self::url) made.
    pub async fn send_to<T: DeserializeOwned>(
        &self,
        method: Method,
        url: Url,
        body: &Value,
    ) -> Result<T, ForgeError> {
        self.decode(&self.request(method, url, Some(body)).await?)
    }

    pub async fn delete(&self, path: &[String]) -> Result<(), ForgeError> {
        self.request(Method::DELETE, self.url(path, &[])?, None)
            .await
            .map(|_| ())
    }

    /// A whole list. One entry that is not what it should be is named, and the others are there.
    pub async fn list<T: DeserializeOwned>(
        &self,
        path: &[String],
        query: &[(&str, &str)],
    ) -> Result<Listed<T>, ForgeError> {
        let mut listed = Listed::default();
        for raw in self.pages(path, query).await? {
            match T::deserialize(&raw) {
                Ok(one) => listed.found.push(one),
                Err(error) => {
                    let number = raw["number"].as_u64().or(raw["id"].as_u64());
                    let number = number.map_or("?".to_owned(), |number| number.to_string());
                    listed.unread.push(Unread {
                        place: format!("{}/{number}", path.join("/")),
                        why: self.hide(&error.to_string()),
                    });
                }
            }
        }
        Ok(listed)
    }

    /// All pages of a list. Half of one would be worse than none: the claim that counts may stand
    /// in the other half.
    async fn pages(
        &self,
        path: &[String],
        query: &[(&str, &str)],
    ) -> Result<Vec<Value>, ForgeError> {
        let incomplete = |why: String| ForgeError::Unavailable {
            detail: format!("the list {}: {why}", path.join("/")),
        };
        let mut query = query.to_vec();
        query.push(("per_page", "100"));
        let mut url = self.url(path, &query)?;
        let mut all = Vec::new();
        for _ in 0..PAGES {
            let response = self.request(Method::GET, url, None).await?;
            let next = next_page(&response.headers);
            all.extend(self.decode::<Vec<Value>>(&response)?);
            url = match next {
                None => return Ok(all),
                Some(next) if next.origin() == self.base.origin() => next,
                // The token goes to no other host.
                Some(_) => return Err(incomplete("its next page is on another host".into())),
            };
        }
        Err(incomplete(format!("it has more than {PAGES} pages")))
    }

    /// Tries again what may pass: a server error, a lost connection, a limit that ends soon. A
    /// request that creates something is tried again only when it certainly was not carried out.
    async fn request(
        &self,
        method: Method,
        url: Url,
        body: Option<&Value>,
    ) -> Result<Answer, ForgeError> {
        let until = Instant::now() + self.patience.all;
        self.wait_for_opening(until).await?;
        let mut pause = Duration::from_millis(250);
        let mut tries = 1;
        loop {
            let (error, wait) = match self.once(&method, &url, body).await {
                Ok(response) => return Ok(response),
                Err(refusal) => (refusal.error, refusal.wait),
            };
            let repeatable = method != Method::POST || matches!(error, ForgeError::RateLimited(_));
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
        let shut = *self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        let left = shut.map_or(Duration::ZERO, |shut| {
            shut.saturating_duration_since(Instant::now())
        });
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
        let standing = self.standing.lock();
        standing.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn shut_for(&self, time: Option<Duration>) {
        if let Some(until) = time.and_then(|time| Instant::now().checked_add(time)) {
            *self.shut.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
        }
    }

    async fn once(
        &self,
        method: &Method,
        url: &Url,
        body: Option<&Value>,
    ) -> Result<Answer, Refusal> {
        let request = self.http.request(method.clone(), url.clone());
        let mut request = request.timeout(self.patience.one);
        if let Some(body) = body {
            request = request.json(body);
        }
        let lost = |error| Refusal {
            error: self.unavailable(error),
            wait: Some(Duration::ZERO),
        };
        let response = request.send().await.map_err(lost)?;
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner) =
            (self.read_standing)(response.headers());
        if response.status().is_success() {
            // It was the last one that is accepted for now.
            self.shut_for(until_reset(response.headers()));
            return self.whole(response).await;
        }
        let refusal = Refusal::read(response, |text| self.hide(text)).await;
        if let ForgeError::RateLimited(wait) = refusal.error {
            self.shut_for(Some(wait));
        }
        Err(refusal)
    }

    /// Reads an answer to its end. One that breaks off is as good as none.
    async fn whole(&self, mut response: Response) -> Result<Answer, Refusal> {
        let headers = response.headers().clone();
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > MOST => {
                    let detail = format!("an answer of more than {} MiB", MOST >> 20);
                    return Err(Refusal {
                        error: ForgeError::Unavailable { detail },
                        wait: None,
                    });
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(Answer { headers, body }),
                Err(error) => {
                    return Err(Refusal {
                        error: self.unavailable(error),
                        wait: Some(Duration::ZERO),
                    });
                }
            }
        }
    }

    fn decode<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T, ForgeError> {
        serde_json::from_slice(&answer.body).map_err(|error| ForgeError::Unavailable {
            detail: self.hide(&format!("an answer that is none: {error}")),
        })
    }

    fn unavailable(&self, error: reqwest::Error) -> ForgeError {
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
        match self.token.expose_secret() {
            "" => text.to_owned(),
            token => text.replace(token, "[token]"),
        }
    }
}

fn headers(token: &SecretString, mut headers: HeaderMap) -> Result<HeaderMap, ForgeError> {
    let bearer = format!("Bearer {}", token.expose_secret());
    let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| ForgeError::Invalid {
        message: "the token holds a character that cannot be sent, such as a newline".into(),
    })?;
    bearer.set_sensitive(true);
    headers.insert(AUTHORIZATION, bearer);
    headers.insert(USER_AGENT, HeaderValue::from_static("carson"));
    Ok(headers)
}

/// Up to a quarter longer: hosts that were shut out together must not come back together.
fn jittered(wait: Duration) -> Duration {
    let random = RandomState::new().hash_one(0u8) % 1000;
    let share = u32::try_from(random).unwrap_or(0);
    wait.saturating_add(wait / 4000 * share)
}

/// `Link: <…>; rel="next"` (RFC 8288). An address may hold commas and semicolons.
fn next_page(headers: &HeaderMap) -> Option<Url> {
    let links = headers.get_all(LINK).into_iter();
    links
        .filter_map(|link| link.to_str().ok())
        .flat_map(|link| link.split('<').skip(1))
        .find_map(|link| {
            let (url, rest) = link.split_once('>')?;
            let mut params = rest.split([';', ',']).map(str::trim);
            params
                .any(|param| matches!(param, "rel=\"next\"" | "rel=next"))
                .then(|| Url::parse(url).ok())?
        })
}
