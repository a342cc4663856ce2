//! A store with sinks, and a clock that stands until it is moved.

use std::collections::VecDeque;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use carson_core::outcome::Severity;
use carson_core::section::Around;
use carson_core::{Clock, FiringId};
use carson_notify::{Message, Spec};
use carson_redact::Redactor;
use carson_store::{NewPost, PostKind, Store};
use chrono::{DateTime, TimeDelta, Utc};
use secrecy::SecretString;
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::super::Poster;
use super::super::line::{Desk, Line};

/// A server that answers as it is told, and as Slack does when it is told nothing.
#[derive(Clone, Default)]
pub(super) struct Slack(Arc<Mutex<Told>>);

#[derive(Default)]
pub(super) struct Told {
    pub next: VecDeque<ResponseTemplate>,
    /// Answered to everything, for as long as it is there.
    pub always: Option<ResponseTemplate>,
    /// Answered to every post whose title contains this.
    pub chokes_on: Option<(&'static str, ResponseTemplate)>,
    pub calls: usize,
    pub arrived: Vec<Value>,
}

impl Respond for Slack {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut told = self.0.lock().unwrap();
        told.calls += 1;
        let mut body: Value = request.body_json().unwrap();
        let title = body["title"].as_str().or(body["text"].as_str());
        let title = title.unwrap().to_owned();
        if let Some(answer) = told.next.pop_front().or_else(|| told.always.clone()) {
            return answer;
        }
        if let Some((part, answer)) = &told.chokes_on
            && title.contains(part)
        {
            return answer.clone();
        }
        body["verb"] = json!(request.url.path());
        told.arrived.push(body);
        let ts = format!("1.{:03}", told.arrived.len());
        ResponseTemplate::new(200).set_body_json(json!({"ok": true, "ts": ts}))
    }
}

/// One home's outbox, with `[slack]`, and with what a test adds to it.
pub(super) struct Stage {
    pub dir: TempDir,
    pub slack: Slack,
    pub server: MockServer,
    pub store: Store,
    pub clock: Clock,
    pub poster: Poster,
    pub sinks: Vec<Arc<dyn Spec>>,
}

pub(super) fn start() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 0).unwrap()
}

/// A section whose paths are as they stand.
struct Plain;

impl Around for Plain {
    fn path(&self, text: &str) -> PathBuf {
        text.into()
    }

    fn problem(&mut self, key: &str, problem: &str, _: &str) {
        panic!("{key}: {problem}");
    }

    fn warning(&mut self, key: &str, warning: &str, _: &str) {
        panic!("{key}: {warning}");
    }

    fn secret(&mut self, _: &str, file: &Path) -> Option<SecretString> {
        carson_config::read_secret(file).ok()
    }
}

impl Stage {
    pub(super) async fn new() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let dir = tempfile::tempdir().unwrap();
        let (slack, server) = serve().await;
        let store = Self::open(&dir).await;
        let mut stage = Self {
            dir,
            slack,
            store,
            clock: Clock::manual(start()),
            poster: quick(),
            sinks: Vec::new(),
            server,
        };
        let token = stage.secret("slack.token", "xoxb-test");
        let uri = stage.server.uri();
        stage.with("slack", json!({"api_base": uri, "token_file": token}));
        stage
    }

    pub(super) async fn open(dir: &TempDir) -> Store {
        let url = format!("sqlite:{}/carson.db", dir.path().display());
        Store::open(&url).await.unwrap()
    }

    /// A file with a secret; its path.
    pub(super) fn secret(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        let mut file = std::fs::OpenOptions::new();
        let file = file.create(true).truncate(true).write(true).mode(0o600);
        std::io::Write::write_all(&mut file.open(&path).unwrap(), text.as_bytes()).unwrap();
        path
    }

    /// Adds a sink.
    pub(super) fn with(&mut self, name: &str, section: Value) {
        let spec = carson_notify::spec(name, section, &mut Plain).unwrap();
        self.sinks.push(spec);
    }

    /// A webhook at another server.
    pub(super) async fn with_webhook(&mut self) -> (Slack, MockServer) {
        let (other, server) = serve().await;
        let url = self.secret("webhook.url", &format!("{}/hidden", server.uri()));
        self.with("webhook", json!({"url_file": url}));
        (other, server)
    }

    pub(super) fn lock_state(&self) -> MutexGuard<'_, Told> {
        self.slack.lock_state()
    }

    pub(super) fn after(&self, seconds: i64) {
        self.clock
            .set(self.clock.now() + TimeDelta::seconds(seconds));
    }

    /// Files it for every sink; the post's id at the first.
    pub(super) async fn file(&self, thread: Option<FiringId>, kind: PostKind, title: &str) -> Uuid {
        let message = Message {
            severity: Some(Severity::Info),
            title: title.to_owned(),
            fields: Vec::new(),
            text: "text".to_owned(),
            link: None,
            role: None,
            outcome: None,
        };
        let mut first = None;
        for sink in &self.sinks {
            let post = NewPost {
                id: Uuid::now_v7(),
                sink: sink.name().to_owned(),
                thread,
                kind,
                body: serde_json::to_value(&message).unwrap(),
                created_at: self.clock.now(),
            };
            self.store.file_post(&post).await.unwrap();
            first.get_or_insert(post.id);
        }
        first.unwrap()
    }

    pub(super) fn desk(&self) -> Desk {
        Desk {
            store: self.store.clone(),
            clock: self.clock.clone(),
            redactor: Redactor::default(),
        }
    }

    pub(super) async fn drain(&mut self) -> u32 {
        let desk = self.desk();
        self.poster.drain_to(&self.sinks, &desk).await.unwrap()
    }

    /// The titles that arrived, in their order.
    pub(super) fn arrived(&self) -> Vec<String> {
        self.slack.arrived()
    }
}

impl Slack {
    pub(super) fn lock_state(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap()
    }

    pub(super) fn arrived(&self) -> Vec<String> {
        let told = self.lock_state();
        let titles = told.arrived.iter().map(|body| {
            let title = body["title"].as_str().or(body["text"].as_str());
            title.unwrap().replace("✅ ", "")
        });
        titles.collect()
    }
}

async fn serve() -> (Slack, MockServer) {
    let (slack, server) = (Slack::default(), MockServer::start().await);
    let mock = Mock::given(method("POST")).respond_with(slack.clone());
    mock.mount(&server).await;
    (slack, server)
}

/// A poster that waits for nothing between two posts, and for every line.
pub(super) fn quick() -> Poster {
    let names = carson_notify::SINKS.iter().map(|sink| sink.name);
    let line = |name| (name, Some(Line::at(Duration::ZERO)));
    Poster {
        patience: Duration::from_secs(60),
        lines: names.map(line).collect(),
        ..Poster::default()
    }
}

pub(super) fn no(status: u16) -> ResponseTemplate {
    ResponseTemplate::new(status)
}
