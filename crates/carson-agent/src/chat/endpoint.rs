//! The endpoint over HTTP.

use std::ops::ControlFlow;
use std::time::Duration;

use carson_core::untrusted::one_line;
use carson_redact::Redactor;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;
use url::Url;

use crate::chat::retry::{asked, wait_after};
use crate::chat::stream::{Collector, Cut, STREAM_MAX};
use crate::chat::text_tools;
use crate::chat::wire::{Dialect, request};
use crate::events::{Event, Watch};
use crate::message::Message;
use crate::model::{Answer, EndpointError, Model, ToolSpec};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// Most bytes that are read of a refusal.
const REFUSAL_MAX: usize = 8 * 1024;
/// Most characters that are passed on of it.
const SAID_MAX: usize = 300;

/// How an endpoint is reached.
#[derive(Debug)]
pub struct Reached {
    /// Its base address; `chat/completions` is beneath it.
    pub base: Url,
    /// The model's name there.
    pub model: String,
    /// What it knows us by.
    pub key: Option<SecretString>,
    /// How long it may say nothing.
    pub silence: Duration,
    /// Whether calls are text from the beginning.
    pub text_tools: bool,
    /// What must not be shown.
    pub redactor: Redactor,
}

/// An endpoint.
#[derive(Debug)]
pub struct Endpoint<W> {
    client: Client,
    url: Url,
    reached: Reached,
    dialect: Dialect,
    watch: W,
}

impl<W: Watch> Endpoint<W> {
    /// One that has not been asked yet; `watch` is told what is tried again.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn new(reached: Reached, watch: W) -> Result<Self, reqwest::Error> {
        let client = Client::builder()
            .connect_timeout(CONNECT)
            // The key goes where it is meant for, and nowhere else.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let mut url = reached.base.clone();
        let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
        url.set_path(&path);
        let dialect = Dialect {
            tools: !reached.text_tools,
            counts: true,
        };
        Ok(Self {
            client,
            url,
            reached,
            dialect,
            watch,
        })
    }

    async fn once(
        &self,
        messages: &[Message],
        tools: &[ToolSpec],
    ) -> Result<Answer, EndpointError> {
        let words = (!self.dialect.tools).then(|| text_tools::in_words(messages, tools));
        let messages = words.as_deref().unwrap_or(messages);
        let body = request(&self.reached.model, messages, tools, self.dialect);
        let mut post = self.client.post(self.url.clone()).json(&body);
        if let Some(key) = &self.reached.key {
            post = post.bearer_auth(key.expose_secret());
        }
        let sent = self.in_time(post.send()).await?;
        let mut response = sent.map_err(|error| EndpointError::Unreachable(told(&error)))?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let answer = match is_stream(&response) {
            true => self.stream(&mut response).await?,
            false => self.whole(&mut response).await?,
        };
        Ok(match answer {
            Answer::Reply(reply) if !self.dialect.tools => Answer::Reply(text_tools::read(reply)),
            other => other,
        })
    }

    async fn stream(&self, response: &mut Response) -> Result<Answer, EndpointError> {
        let mut collector = Collector::default();
        while let Some(bytes) = self.piece(response).await? {
            match collector.push(&bytes) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => break,
                Err(Cut::TooLong) => return Ok(collector.cut()),
                Err(Cut::Wrong(why)) => return Err(self.broken(&why)),
            }
        }
        collector.finish().map_err(|cut| match cut {
            Cut::Wrong(why) => self.broken(&why),
            Cut::TooLong => self.broken("it is too long"),
        })
    }

    /// An answer of an endpoint that does not stream.
    async fn whole(&self, response: &mut Response) -> Result<Answer, EndpointError> {
        let mut body = Vec::new();
        while let Some(bytes) = self.piece(response).await? {
            body.extend_from_slice(&bytes);
            if body.len() > STREAM_MAX {
                return Err(EndpointError::Unreadable("it is too long".to_owned()));
            }
        }
        let chunk = serde_json::from_slice(&body)
            .map_err(|error| EndpointError::Unreadable(error.to_string()))?;
        let mut collector = Collector::default();
        match collector.whole(chunk) {
            Ok(answer) => Ok(answer),
            Err(Cut::TooLong) => Ok(collector.cut()),
            Err(Cut::Wrong(why)) => Err(self.broken(&why)),
        }
    }

    async fn piece(&self, response: &mut Response) -> Result<Option<Vec<u8>>, EndpointError> {
        let piece = self.in_time(response.chunk()).await?;
        let piece = piece.map_err(|error| EndpointError::Broken(told(&error)))?;
        Ok(piece.map(|bytes| bytes.to_vec()))
    }

    async fn in_time<T>(&self, doing: impl Future<Output = T>) -> Result<T, EndpointError> {
        let silence = self.reached.silence;
        let done = timeout(silence, doing).await;
        done.map_err(|_| EndpointError::Silent(silence))
    }

    async fn refusal(&self, mut response: Response) -> EndpointError {
        let status = response.status().as_u16();
        let retry_after = asked(response.headers());
        let mut body = Vec::new();
        while body.len() < REFUSAL_MAX
            && let Ok(Some(bytes)) = self.piece(&mut response).await
        {
            body.extend_from_slice(&bytes);
        }
        body.truncate(REFUSAL_MAX);
        EndpointError::Refused {
            status,
            retry_after,
            said: self.shown(&String::from_utf8_lossy(&body)),
        }
    }

    fn broken(&self, why: &str) -> EndpointError {
        EndpointError::Broken(self.shown(why))
    }

    fn shown(&self, text: &str) -> String {
        one_line(&self.reached.redactor.redact(text), SAID_MAX)
    }

    /// Asks for less where an endpoint says that it cannot do that much. Each is dropped once.
    fn settle_for_less(&mut self, error: &EndpointError) -> bool {
        let EndpointError::Refused {
            status: 400 | 404 | 422 | 501,
            said,
            ..
        } = error
        else {
            return false;
        };
        let said = said.to_ascii_lowercase();
        if self.dialect.counts && said.contains("stream_options") {
            self.dialect.counts = false;
        } else if self.dialect.tools && (said.contains("tool") || said.contains("function")) {
            self.dialect.tools = false;
        } else {
            return false;
        }
        true
    }
}

impl<W: Watch> Model for Endpoint<W> {
    async fn ask(
        &mut self,
        messages: &[Message],
        tools: &[ToolSpec],
    ) -> Result<Answer, EndpointError> {
        let mut tries = 0;
        loop {
            let error = match self.once(messages, tools).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if self.settle_for_less(&error) {
                let text = format!("{error}; asked again with less");
                self.watch.see(&Event::Notice { text: &text });
                continue;
            }
            tries += 1;
            let Some(wait) = wait_after(tries, &error) else {
                return Err(error);
            };
            let text = format!("{error}; asked again in {:.1} s", wait.as_secs_f32());
            self.watch.see(&Event::Notice { text: &text });
            tokio::time::sleep(wait).await;
        }
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    !kind.to_ascii_lowercase().contains("json")
}

/// What went wrong, down to its cause; without the address, which may hold a password.
fn told(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() {
        "timed out".to_owned()
    } else {
        "no connection".to_owned()
    };
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}
