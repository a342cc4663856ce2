//! A webhook: `[webhook]` in carson.toml. Every post is a JSON document at one address of the
//! operator's, for what no chat is: an alert manager, a queue, a script.
//!
//! It has no threads of its own: `firing` says what belongs together, and what a chat would change
//! in place (the end of a firing) is posted like the rest. `id` is the same when a post is sent
//! twice, which happens when its poster dies before it can note that it arrived.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use carson_core::outcome::Severity;
use carson_core::section::{Around, Section};
use carson_core::{FiringId, Untrusted};
use chrono::{DateTime, Utc};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;
use uuid::Uuid;

use crate::address::{in_file, is_readable_on_the_way, is_web, read_file, secret as address};
use crate::http;
use crate::message::{Message, cut};
use crate::section::{ReadSecret, Spec};
use crate::sink::{Notice, NoticeKind, Place, Posted, Posting, Sink};

const NAME: &str = "webhook";

/// Longest title, text and value of a field.
const TITLE_MAX: usize = 300;
const TEXT_MAX: usize = 8_000;
const FIELD_MAX: usize = 2_000;

/// `[webhook]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WebhookSection {
    /// The address, where it is no secret; http to another machine is a warning, and a mistake with
    /// `header_file`.
    #[schemars(extend("examples" = ["http://127.0.0.1:8080/carson"]))]
    url: Option<String>,
    /// A file, mode 0600, with the address; https, or http on this machine.
    #[schemars(extend("examples" = ["webhook.url"]))]
    url_file: Option<String>,
    /// A file, mode 0600, with a token that is sent as `Authorization: Bearer …`, or with a whole
    /// header as in `X-Api-Key: …`.
    #[schemars(extend("examples" = ["webhook.token"]))]
    header_file: Option<String>,
}

impl Section for WebhookSection {
    const NAME: &'static str = NAME;
    type Checked = dyn Spec;

    fn check(self, around: &mut dyn Around) -> Option<Arc<dyn Spec>> {
        let header = self.header_file.map(|file| {
            let file = ("header_file", file.as_str());
            in_file(file, HEADER, around, Header::of)
        });
        let to = match (self.url, self.url_file) {
            (Some(url), None) => {
                written(&url, header.is_some(), around);
                Address::Plain(url)
            }
            (None, Some(file)) => {
                let hint = "one line: https://host/path";
                Address::File(in_file(("url_file", file.as_str()), hint, around, address))
            }
            _ => {
                let hint = "url_file = \"webhook.url\", a file with the address";
                around.problem("", "it needs url_file or url, one of them", hint);
                return None;
            }
        };
        Some(Arc::new(WebhookSpec { to, header }))
    }
}

const HEADER: &str = "one line: the token, or a header as in `X-Api-Key: …`";

/// An address in the settings themselves: whoever reads them reads it.
fn written(url: &str, has_header: bool, around: &mut dyn Around) {
    let problem = match Url::parse(url) {
        Ok(parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
            "it holds a sign-in".to_owned()
        }
        Ok(parsed) if is_web(&parsed) => match is_readable_on_the_way(&parsed) {
            false => return,
            true if has_header => "what header_file holds would be readable on the way".to_owned(),
            true => {
                let warning = "it is not https: what firings say can be read on the way";
                return around.warning("url", warning, "url = \"https://…\"");
            }
        },
        _ => format!("{url:?} is no web address"),
    };
    let hint = "url = \"https://…\", or url_file where it is a secret";
    around.problem("url", &problem, hint);
}

/// A webhook as it was checked.
#[derive(Debug)]
struct WebhookSpec {
    to: Address,
    header: Option<PathBuf>,
}

#[derive(Debug)]
enum Address {
    Plain(String),
    File(PathBuf),
}

impl Spec for WebhookSpec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn files(&self) -> Vec<&Path> {
        let url = match &self.to {
            Address::Plain(_) => None,
            Address::File(path) => Some(path.as_path()),
        };
        url.into_iter().chain(self.header.as_deref()).collect()
    }

    /// A header's value is secret without its name, too.
    fn secrets(&self, read: &ReadSecret) -> Vec<SecretString> {
        let files = self.files().into_iter();
        let mut secrets: Vec<_> = files.filter_map(|file| read(file).ok()).collect();
        let header = self.header.as_deref().and_then(|file| read(file).ok());
        let header = header.and_then(|text| Header::of(text.expose_secret()).ok());
        secrets.extend(header.map(|header| header.secret));
        secrets
    }

    fn open(&self, read: &ReadSecret) -> Result<Box<dyn Sink>, String> {
        let url = match &self.to {
            Address::Plain(url) => SecretString::from(url.clone()),
            Address::File(path) => read_file(path, read, address)?.0,
        };
        let header = match &self.header {
            None => None,
            Some(path) => Some(read_file(path, read, Header::of)?.1),
        };
        Ok(Box::new(Webhook { url, header }))
    }
}

/// What is sent with every post.
#[derive(Debug)]
struct Header {
    name: HeaderName,
    /// Marked as one that is not to be shown.
    value: HeaderValue,
    /// What of it is secret.
    secret: SecretString,
}

impl Header {
    /// A bearer token, or a header as it is written on the wire.
    fn of(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, value) = match text.split_once(": ") {
            Some((name, value)) => {
                let name = name.parse().map_err(|_| "it names no header")?;
                (name, value.trim().to_owned())
            }
            None => (AUTHORIZATION, format!("Bearer {text}")),
        };
        let secret = value.strip_prefix("Bearer ").unwrap_or(&value).to_owned();
        let odd = "it holds what no header may have";
        let mut value = HeaderValue::from_str(&value).map_err(|_| odd)?;
        value.set_sensitive(true);
        Ok(Self {
            name,
            value,
            secret: secret.into(),
        })
    }
}

/// One address.
#[derive(Debug)]
struct Webhook {
    url: SecretString,
    header: Option<Header>,
}

impl Sink for Webhook {
    fn name(&self) -> &'static str {
        NAME
    }

    fn can_thread(&self) -> bool {
        false
    }

    fn post<'a>(&'a self, notice: &'a Notice, _: Place<'a>) -> Posting<'a> {
        Box::pin(async move {
            let client = http::client()?;
            let mut request = client
                .post(self.url.expose_secret())
                .json(&Body::of(notice));
            if let Some(header) = &self.header {
                request = request.header(&header.name, &header.value);
            }
            http::send(request).await?;
            Ok(Posted { ts: None })
        })
    }

    fn update<'a>(&'a self, notice: &'a Notice, _: Option<&'a str>) -> Posting<'a> {
        self.post(notice, Place::Channel)
    }
}

/// What is posted. docs/CONFIG.md describes it.
#[derive(Debug, Serialize)]
struct Body<'n> {
    id: Uuid,
    kind: NoticeKind,
    firing: Option<FiringId>,
    role: Option<&'n str>,
    outcome: Option<&'n str>,
    severity: Option<Severity>,
    title: String,
    text: String,
    fields: Map<String, Value>,
    links: Vec<&'n str>,
    time: DateTime<Utc>,
}

impl<'n> Body<'n> {
    /// Whoever gets it may show it in a chat: words of others call nobody and link to nothing there.
    fn of(notice: &'n Notice) -> Self {
        let message: &Message = &notice.message;
        let said = |text: &str, max| cut(&Untrusted::new(text).plain(), max);
        let field = |(name, value): &(String, String)| {
            (said(name, FIELD_MAX), Value::from(said(value, FIELD_MAX)))
        };
        Self {
            id: notice.id,
            kind: notice.kind,
            firing: notice.firing,
            role: message.role.as_deref(),
            outcome: message.outcome.as_deref(),
            severity: message.severity,
            title: said(&message.title, TITLE_MAX),
            text: said(&message.text, TEXT_MAX),
            fields: message.fields.iter().map(field).collect(),
            links: message.page().into_iter().collect(),
            time: notice.at,
        }
    }
}

#[cfg(test)]
mod tests;
