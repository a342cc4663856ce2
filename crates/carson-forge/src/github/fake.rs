//! One issue of a GitHub that can be told to misbehave, for the tests.

use std::sync::{Arc, Mutex, MutexGuard};

use secrecy::SecretString;
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::GitHubForge;
use crate::Forge;

/// Entries of one page.
const PAGE: usize = 100;

/// What it has, and how it misbehaves.
#[derive(Default)]
pub(super) struct Issue {
    pub labels: Vec<String>,
    pub closed: bool,
    /// Login and body.
    pub comments: Vec<(String, String)>,
    /// How often `/user` was asked.
    pub asked_who: usize,
    /// How many of the next lists of comments lack what we wrote.
    pub blind: usize,
    /// The next comment is written, and the answer is lost.
    pub lose_answer: bool,
    /// What happens to the labels when a claim is written.
    pub label_with_claim: Option<&'static str>,
    /// Adding a label fails so many times.
    pub refuse_adding: usize,
    /// Removing a label fails so many times.
    pub refuse_removing: usize,
    /// What it is blocked by: repository, number, state.
    pub blocked_by: Vec<(&'static str, u64, &'static str)>,
    /// How often that was asked for.
    pub asked_blocked_by: usize,
    /// It answers that with this status: an older GitHub has no such links.
    pub no_links: Option<u16>,
}

/// The issue with number 1.
#[derive(Clone)]
pub(super) struct Fake(Arc<Mutex<Issue>>);

pub(super) const ME: &str = "Carson-Bot";
pub(super) const STRANGER: &str = "mallory";
pub(super) const READY: &str = "carson:ready";

impl Fake {
    /// Its server has to be kept.
    pub async fn start() -> (MockServer, Forge, Self) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let server = MockServer::start().await;
        let fake = Self(Arc::default());
        fake.issue().labels.push(READY.to_owned());
        Mock::given(any())
            .respond_with(fake.clone())
            .mount(&server)
            .await;
        let token = SecretString::from("ghp_test");
        let forge = GitHubForge::new(&server.uri(), "acme/widget", token).unwrap();
        (server, Forge::of(forge), fake)
    }

    pub fn issue(&self) -> MutexGuard<'_, Issue> {
        self.0.lock().unwrap()
    }

    /// First lines of what `login` wrote.
    pub fn said_by(&self, login: &str) -> Vec<String> {
        let issue = self.issue();
        let own = issue.comments.iter().filter(|(author, _)| author == login);
        own.map(|(_, body)| body.lines().next().unwrap_or_default().to_owned())
            .collect()
    }
}

impl Respond for Fake {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut issue = self.issue();
        let path = request.url.path().to_owned();
        let rest = path.strip_prefix("/repos/acme/widget/issues/1");
        match (request.method.as_str(), rest) {
            ("GET", None) if path == "/user" => {
                issue.asked_who += 1;
                // GitHub writes a login as it was registered, here and there.
                ok(json!({"login": ME.to_lowercase()}))
            }
            ("GET", Some("")) => ok(issue.json()),
            ("GET", Some("/comments")) => issue.page(request),
            ("GET", Some("/dependencies/blocked_by")) => issue.blockers(request),
            ("GET", None) if path == "/repos/acme/widget/issues" => ok(json!([issue.json()])),
            ("POST", Some("/comments")) => issue.write(request),
            ("POST", Some("/labels")) => issue.add(request),
            ("DELETE", Some(label)) => issue.remove(label.strip_prefix("/labels/").unwrap()),
            _ => ResponseTemplate::new(404),
        }
    }
}

pub(super) fn ok(body: Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

fn page_of(request: &Request) -> usize {
    let query: Vec<(String, String)> = request.url.query_pairs().into_owned().collect();
    let page = query.iter().find(|(name, _)| name == "page");
    page.map_or(1, |(_, page)| page.parse().unwrap())
}

/// The page that was asked for, and where the next one is.
pub(super) fn paged(request: &Request, all: &[Value]) -> ResponseTemplate {
    let page = page_of(request);
    let shown = all.iter().skip((page - 1) * PAGE).take(PAGE);
    let answer = ok(shown.cloned().collect());
    if all.len() <= page * PAGE {
        return answer;
    }
    let mut next = request.url.clone();
    next.set_query(Some(&format!("a=1,2;b&page={}", page + 1)));
    let host = request.headers["host"].to_str().unwrap();
    let link = format!("<http://{host}{}?{}>", next.path(), next.query().unwrap());
    let links = format!("<http://{host}/first>; rel=\"first\", {link}; rel=\"next\"");
    answer.insert_header("link", links.as_str())
}

fn refused(left: &mut usize) -> bool {
    let refuse = *left > 0;
    *left = left.saturating_sub(1);
    refuse
}

impl Issue {
    fn json(&self) -> Value {
        let labels: Vec<Value> = self.labels.iter().map(|l| json!({"name": l})).collect();
        json!({
            "number": 1, "title": "t", "body": null, "user": {"login": "ann"}, "labels": labels,
            "state": if self.closed { "closed" } else { "open" },
            "created_at": "2026-01-01T00:00:00Z", "html_url": "https://x/1",
            "issue_dependencies_summary": {
                "blocked_by": self.blocked_by.iter().filter(|(.., state)| *state == "open").count(),
                "blocking": 0, "total_blocked_by": self.blocked_by.len(), "total_blocking": 0,
            },
        })
    }

    fn blockers(&mut self, request: &Request) -> ResponseTemplate {
        self.asked_blocked_by += 1;
        if let Some(status) = self.no_links {
            return ResponseTemplate::new(status);
        }
        let all = self.blocked_by.iter().map(|(repo, number, state)| {
            let url = format!("https://api.github.com/repos/{repo}");
            json!({"number": number, "state": state, "repository_url": url})
        });
        paged(request, &all.collect::<Vec<_>>())
    }

    fn comment(&self, at: usize) -> Value {
        let (login, body) = &self.comments[at];
        json!({
            "id": at + 1, "user": {"login": login}, "body": body,
            "author_association": if login == STRANGER { "NONE" } else { "MEMBER" },
            "created_at": "2026-01-01T00:00:00Z",
        })
    }

    fn page(&mut self, request: &Request) -> ResponseTemplate {
        let blind = page_of(request) == 1 && refused(&mut self.blind);
        let all: Vec<Value> = (0..self.comments.len())
            .filter(|at| !blind || self.comments[*at].0 != ME)
            .map(|at| self.comment(at))
            .collect();
        paged(request, &all)
    }

    fn write(&mut self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        let body = body["body"].as_str().unwrap().to_owned();
        if body.starts_with("<!-- carson:claim") {
            self.labels.extend(self.label_with_claim.map(str::to_owned));
        }
        self.comments.push((ME.to_owned(), body));
        if std::mem::take(&mut self.lose_answer) {
            return ResponseTemplate::new(502);
        }
        ok(self.comment(self.comments.len() - 1))
    }

    fn add(&mut self, request: &Request) -> ResponseTemplate {
        if refused(&mut self.refuse_adding) {
            return ResponseTemplate::new(500);
        }
        let body: Value = request.body_json().unwrap();
        for label in body["labels"].as_array().unwrap() {
            let label = label.as_str().unwrap().to_owned();
            if !self.labels.contains(&label) {
                self.labels.push(label);
            }
        }
        ok(json!([]))
    }

    fn remove(&mut self, label: &str) -> ResponseTemplate {
        if refused(&mut self.refuse_removing) {
            return ResponseTemplate::new(403);
        }
        self.labels.retain(|own| own != label);
        ok(json!([]))
    }
}
