//! A GitHub that keeps the issues and reviews that it is sent, and may lose the answer, for the tests.

use std::sync::{Arc, Mutex, MutexGuard};

use secrecy::SecretString;
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::GitHubForge;
use super::fake::{ME, ok, paged};
use super::tests::issue;
use crate::Forge;

/// The commit that pull request 5 offers.
pub(super) const SHA: &str = "1111111111111111111111111111111111111111";

/// What happens to a request that makes something.
#[derive(Clone, Copy)]
pub(super) enum Meets {
    /// It is carried out, and its answer is lost.
    Loss,
    /// It is refused so.
    Refusal(u16),
}

#[derive(Default)]
pub(super) struct Has {
    /// The oldest first.
    pub issues: Vec<Value>,
    /// Of pull request 5, the oldest first.
    pub reviews: Vec<Value>,
    /// What the next request that makes something meets.
    pub next_meets: Option<Meets>,
    /// Their bodies.
    pub sent: Vec<Value>,
    /// What lists of issues were asked for.
    pub lists: Vec<String>,
}

#[derive(Clone, Default)]
pub(super) struct Keeping(Arc<Mutex<Has>>);

impl Keeping {
    /// Its server has to be kept.
    pub async fn start() -> (MockServer, Forge, Self) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let server = MockServer::start().await;
        let keeping = Self::default();
        let all = Mock::given(any()).respond_with(keeping.clone());
        all.mount(&server).await;
        let token = SecretString::from("ghp_test");
        let forge = GitHubForge::new(&server.uri(), "acme/widget", token).unwrap();
        (server, Forge::of(forge), keeping)
    }

    pub fn has(&self) -> MutexGuard<'_, Has> {
        self.0.lock().unwrap()
    }
}

impl Respond for Keeping {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut has = self.has();
        let path = request.url.path();
        let path = path.strip_prefix("/repos/acme/widget").unwrap_or(path);
        match (request.method.as_str(), path) {
            // GitHub writes a login as it was registered, here and there.
            ("GET", "/user") => ok(json!({"login": ME.to_lowercase()})),
            ("GET", "/issues") => {
                has.lists.push(request.url.query().unwrap().to_owned());
                let newest: Vec<Value> = has.issues.iter().rev().cloned().collect();
                paged(request, &newest)
            }
            ("GET", "/pulls/5") => ok(json!({"head": {"sha": SHA}, "mergeable": true})),
            ("GET", "/pulls/5/reviews") => paged(request, &has.reviews),
            ("POST", "/issues") => has.make(request, Has::keep_issue),
            ("POST", "/pulls/5/reviews") => has.make(request, Has::keep_review),
            _ => ResponseTemplate::new(404),
        }
    }
}

impl Has {
    fn make(
        &mut self,
        request: &Request,
        keep: fn(&mut Self, &Value) -> Value,
    ) -> ResponseTemplate {
        let sent: Value = request.body_json().unwrap();
        self.sent.push(sent.clone());
        match self.next_meets.take() {
            Some(Meets::Refusal(status)) => {
                ResponseTemplate::new(status).set_body_json(json!({"message": "no"}))
            }
            Some(Meets::Loss) => {
                keep(self, &sent);
                ResponseTemplate::new(502)
            }
            None => ok(keep(self, &sent)),
        }
    }

    fn keep_issue(&mut self, sent: &Value) -> Value {
        self.issue_by(ME, sent["body"].as_str().unwrap());
        self.issues.last().unwrap().clone()
    }

    /// Somebody makes an issue.
    pub fn issue_by(&mut self, login: &str, body: &str) {
        let mut new = issue(self.issues.len() as u64 + 1, &[]);
        new["user"]["login"] = login.into();
        new["body"] = body.into();
        self.issues.push(new);
    }

    fn keep_review(&mut self, sent: &Value) -> Value {
        let body = sent["body"].as_str().unwrap();
        let commit = sent["commit_id"].as_str().unwrap();
        self.review_by(ME, "COMMENTED", Some(commit), body);
        self.reviews.last().unwrap().clone()
    }

    /// Somebody reviews pull request 5.
    pub fn review_by(&mut self, login: &str, state: &str, commit: Option<&str>, body: &str) {
        let id = self.reviews.len() + 1;
        self.reviews.push(json!({
            "id": id, "user": {"login": login}, "state": state, "body": body, "commit_id": commit,
            "submitted_at": format!("2026-01-01T00:00:{id:02}Z"), "author_association": "MEMBER",
        }));
    }
}
