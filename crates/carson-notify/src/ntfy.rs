//! ntfy: `[ntfy]` in carson.toml. Every post is a notification of one topic, on a server of the operator's choice.
//!
//! It has no threads. What is only on its way is no notification: a firing is told when it has ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use carson_core::Untrusted;
use carson_core::outcome::Severity;
use carson_core::section::{Around, Section};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::address::{in_file, read_file, secret as address};
use crate::http;
use crate::message::{Message, cut};
use crate::section::{ReadSecret, Spec};
use crate::sink::{Notice, NoticeKind, Place, Posted, Posting, Sink};

const NAME: &str = "ntfy";
/// Longest title and text (a server allows 4,096 bytes of text).
const TITLE_MAX: usize = 200;
const TEXT_MAX: usize = 1_000;

/// `[ntfy]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NtfySection {
    /// A file, mode 0600, with the address of the topic, which is its secret; https, or http on this machine.
    #[schemars(extend("examples" = ["ntfy.url"]))]
    url_file: Option<String>,
    /// A file, mode 0600, with an access token.
    #[schemars(extend("examples" = ["ntfy.token"]))]
    token_file: Option<String>,
}

impl Section for NtfySection {
    const NAME: &'static str = NAME;
    type Checked = dyn Spec;

    fn check(self, around: &mut dyn Around) -> Option<Arc<dyn Spec>> {
        let Some(file) = self.url_file else {
            let hint = "url_file = \"ntfy.url\", a file with the address of the topic";
            around.problem("", "it needs url_file", hint);
            return None;
        };
        let hint = "one line: https://host/topic";
        let url = in_file(("url_file", file.as_str()), hint, around, Topic::of);
        let token = self.token_file.map(|file| around.path(&file));
        if let Some(file) = &token {
            around.secret("token_file", file);
        }
        Some(Arc::new(NtfySpec { url, token }))
    }
}

/// ntfy as it was checked.
#[derive(Debug)]
struct NtfySpec {
    url: PathBuf,
    token: Option<PathBuf>,
}

impl Spec for NtfySpec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn files(&self) -> Vec<&Path> {
        let token = self.token.as_deref();
        [self.url.as_path()].into_iter().chain(token).collect()
    }

    fn open(&self, read: &ReadSecret) -> Result<Box<dyn Sink>, String> {
        let (_, topic) = read_file(&self.url, read, Topic::of)?;
        let token = self.token.as_deref().map(read).transpose()?;
        Ok(Box::new(Ntfy { topic, token }))
    }
}

/// A topic of a server.
struct Topic {
    server: Url,
    name: String,
}

impl std::fmt::Debug for Topic {
    /// Its name is its secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Topic")
    }
}

impl Topic {
    /// `https://host/topic`.
    fn of(text: &str) -> Result<Self, String> {
        let mut server = address(text)?;
        let name = server.path().trim_matches('/').to_owned();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return Err("the address in it names no topic".to_owned());
        }
        server.set_path("/");
        server.set_query(None);
        Ok(Self { server, name })
    }
}

/// One topic.
#[derive(Debug)]
struct Ntfy {
    topic: Topic,
    token: Option<SecretString>,
}

impl Sink for Ntfy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn can_thread(&self) -> bool {
        false
    }

    fn post<'a>(&'a self, notice: &'a Notice, _: Place<'a>) -> Posting<'a> {
        Box::pin(async move {
            if notice.kind != NoticeKind::Started {
                let body = body(&self.topic.name, &notice.message);
                let mut request = http::client()?.post(self.topic.server.clone()).json(&body);
                if let Some(token) = &self.token {
                    request = request.bearer_auth(token.expose_secret());
                }
                http::send(request).await?;
            }
            Ok(Posted { ts: None })
        })
    }

    fn update<'a>(&'a self, notice: &'a Notice, _: Option<&'a str>) -> Posting<'a> {
        self.post(notice, Place::Channel)
    }
}

/// A notification as JSON, in which no text can become a header.
fn body(topic: &str, message: &Message) -> Value {
    let said = |text: &str, max| cut(&Untrusted::new(text).plain(), max);
    let priority = match message.severity {
        Some(Severity::Error) => 5,
        Some(Severity::Warning) => 4,
        Some(Severity::Info) | None => 3,
    };
    let mut body = json!({
        "topic": topic,
        "title": said(&message.headline(), TITLE_MAX),
        "message": said(&message.text, TEXT_MAX),
        "priority": priority,
    });
    if let Some(page) = message.page() {
        body["click"] = json!(page);
    }
    body
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wiremock::matchers::{header, method, path};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    use super::*;
    use crate::sink::PostError;
    use crate::testing::{Named, message, notice, opened};

    async fn server(answer: ResponseTemplate) -> MockServer {
        let server = MockServer::start().await;
        let post = Mock::given(method("POST")).and(path("/"));
        post.and(header("authorization", "Bearer tk_hidden"))
            .respond_with(answer)
            .mount(&server)
            .await;
        server
    }

    fn sink(server: &MockServer) -> Box<dyn Sink> {
        let url = format!("{}/fleet-7", server.uri());
        opened(NAME, json!({"url_file": url, "token_file": "tk_hidden"})).unwrap()
    }

    #[tokio::test]
    async fn a_post_is_a_notification_with_its_loudness_and_its_link() {
        let server = server(ResponseTemplate::new(200)).await;
        let sink = sink(&server);
        assert_eq!(sink.name(), NAME);
        assert!(!sink.can_thread());
        let loud = Message {
            severity: Some(Severity::Error),
            title: "@everyone stopped".into(),
            link: Some("https://forge.example/pull/7".into()),
            ..message()
        };
        sink.post(&notice(loud), Place::Channel).await.unwrap();
        sink.update(&notice(message()), None).await.unwrap();
        let begun = Notice {
            kind: NoticeKind::Started,
            ..notice(message())
        };
        sink.post(&begun, Place::Channel).await.unwrap();
        let told = server.received_requests().await.unwrap();
        let told: Vec<Value> = told.iter().map(|one| one.body_json().unwrap()).collect();
        assert_eq!(told.len(), 2, "a beginning is no notification");
        assert_eq!(told[0]["topic"], "fleet-7");
        assert_eq!(told[0]["priority"], 5);
        assert_eq!(told[0]["click"], "https://forge.example/pull/7");
        assert_eq!(told[0]["title"], "🚨 @\u{2060}everyone stopped");
        assert_eq!(told[1]["priority"], 3);
    }

    #[tokio::test]
    async fn what_a_server_refuses_is_told_without_its_topic() {
        let server = server(ResponseTemplate::new(403)).await;
        let told = sink(&server).post(&notice(message()), Place::Channel).await;
        assert_eq!(told, Err(PostError::Permanent("403 Forbidden".to_owned())));
        assert!(!format!("{:?}", sink(&server)).contains("fleet-7"));
    }

    #[test]
    fn an_address_without_a_topic_or_in_the_clear_is_a_mistake() {
        for bad in [
            "https://ntfy.example",
            "https://ntfy.example/a/b",
            "http://ntfy.example/a",
            "x",
            "gone",
        ] {
            let section = json!({"url_file": bad});
            assert!(opened(NAME, section.clone()).is_err(), "{bad}");
            let mut around = Named::default();
            let spec = crate::spec(NAME, section, &mut around);
            assert!(spec.is_some(), "{bad}: it stops no fleet");
            let said = format!("{around:?}");
            assert!(said.contains("url_file"), "{bad}: {said}");
        }
        let why = opened(NAME, json!({"token_file": "t"})).unwrap_err();
        assert!(why.contains("it needs url_file"), "{why}");
    }
}
