//! A GitHub with one repository, over HTTP: as much of its API as a firing and its way back ask for.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use carson_forge::NewIssue;
use serde_json::{Value, json};
use tokio::sync::Notify;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

const ME: &str = "carson-bot";
const THEN: &str = "2026-01-01T00:00:00Z";
const LATER: &str = "2026-01-01T01:00:00Z";

struct Comment {
    id: u64,
    login: String,
    body: String,
    edited: bool,
}

/// An issue, or a pull request where it has a head.
struct Item {
    number: u64,
    login: String,
    title: String,
    body: String,
    labels: Vec<String>,
    closed: bool,
    head: Option<(String, String)>,
    created_at: String,
    comments: Vec<Comment>,
    reviews: Vec<(u64, Value)>,
    thread: Vec<Comment>,
}

#[derive(Default)]
struct State {
    items: Vec<Item>,
    ids: u64,
    /// Issues and pull requests that it does not change.
    refuses: Vec<u64>,
    /// After so many writes each further answer is lost; how many there were.
    holds_after: Option<usize>,
    writes: usize,
}

pub(super) struct GitHub {
    server: MockServer,
    state: Arc<Mutex<State>>,
    /// Tells that an answer is lost.
    pub lost: Arc<Notify>,
}

struct Answers(Arc<Mutex<State>>, Arc<Notify>);

impl GitHub {
    pub async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (state, lost) = (Arc::default(), Arc::<Notify>::default());
        let server = MockServer::start().await;
        let answers = Answers(Arc::clone(&state), Arc::clone(&lost));
        Mock::given(any())
            .respond_with(answers)
            .mount(&server)
            .await;
        Self {
            server,
            state,
            lost,
        }
    }

    pub fn uri(&self) -> String {
        self.server.uri()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// From now on: this many writes are answered, and what is written then is not.
    pub fn holds_after(&self, writes: Option<usize>) {
        let mut state = self.state();
        (state.holds_after, state.writes) = (writes, 0);
    }

    /// From now on it changes none of these.
    pub fn refuses(&self, numbers: &[u64]) {
        self.state().refuses = numbers.to_vec();
    }

    /// Somebody says something.
    pub fn say(&self, number: u64, login: &str, body: &str) {
        let mut state = self.state();
        let comment = state.comment(login, body);
        state.item(number).unwrap().comments.push(comment);
    }

    /// Somebody reviews a pull request.
    pub fn review(&self, number: u64, login: &str, body: &str) {
        let mut state = self.state();
        let id = state.comment(login, body).id;
        let review = json!({
            "id": id, "user": {"login": login}, "body": body, "state": "APPROVED",
            "author_association": "MEMBER", "commit_id": null, "submitted_at": THEN,
        });
        let item = state.item(number).unwrap();
        item.reviews.push((id, review));
    }

    pub fn issue(&self, login: &str, new: &NewIssue) -> u64 {
        let new = json!({"title": new.title, "body": new.body, "labels": new.labels});
        self.state().add(login, &new, None)
    }

    pub fn edit_comment(&self, number: u64, id: u64) {
        let mut state = self.state();
        let comments = &mut state.item(number).unwrap().comments;
        let comment = comments.iter_mut().find(|one| one.id == id).unwrap();
        comment.body.push_str("\nHow?");
        comment.edited = true;
    }

    pub fn thread(&self, pull: u64) -> String {
        let mut state = self.state();
        let comment = state.comment("ann", "Why?");
        state.item(pull).unwrap().thread.push(comment);
        format!("T_{pull}")
    }
}

impl Item {
    fn json(&self, alone: bool) -> Value {
        let labels: Vec<Value> = self.labels.iter().map(|l| json!({"name": l})).collect();
        let mut item = json!({
            "number": self.number, "title": self.title, "body": self.body, "labels": labels,
            "user": {"login": self.login}, "author_association": "MEMBER",
            "state": if self.closed { "closed" } else { "open" },
            "created_at": self.created_at, "html_url": format!("https://x/{}", self.number),
        });
        if let Some((head, base)) = &self.head {
            let branch = |name: &str| json!({"ref": name, "sha": "", "repo": {"id": 1}});
            item["head"] = branch(head);
            item["base"] = branch(base);
            item["merged_at"] = Value::Null;
            item["draft"] = json!(false);
            item["node_id"] = json!("P");
            if !alone {
                item["pull_request"] = json!({});
            }
        }
        item
    }
}

impl Comment {
    fn json(&self) -> Value {
        json!({
            "id": self.id, "user": {"login": self.login}, "body": self.body,
            "author_association": "MEMBER", "created_at": THEN,
            "updated_at": if self.edited { LATER } else { THEN },
        })
    }
}

impl State {
    fn item(&mut self, number: u64) -> Option<&mut Item> {
        self.items.iter_mut().find(|item| item.number == number)
    }

    fn comment(&mut self, login: &str, body: &str) -> Comment {
        self.ids += 1;
        Comment {
            id: self.ids,
            login: login.to_owned(),
            body: body.to_owned(),
            edited: false,
        }
    }

    fn add(&mut self, login: &str, new: &Value, head: Option<(String, String)>) -> u64 {
        let text = |key: &str| new[key].as_str().unwrap_or_default().to_owned();
        let labels = new["labels"].as_array().into_iter().flatten();
        let number = self.items.len() as u64 + 1;
        self.items.push(Item {
            number,
            login: login.to_owned(),
            title: text("title"),
            body: text("body"),
            labels: labels.map(|l| l.as_str().unwrap().to_owned()).collect(),
            closed: false,
            head,
            // After every firing of the story began.
            created_at: "2999-01-01T00:00:00Z".to_owned(),
            comments: Vec::new(),
            reviews: Vec::new(),
            thread: Vec::new(),
        });
        number
    }

    fn answer(&mut self, request: &Request) -> Option<Value> {
        let path = request.url.path().trim_start_matches('/').to_owned();
        let body: Value = request.body_json().unwrap_or_default();
        let parts: Vec<&str> = path.split('/').collect();
        let rest = match &parts[..] {
            ["user"] => return Some(json!({"login": ME})),
            ["graphql"] => return self.graphql(&body),
            ["repos", "acme", "widget", rest @ ..] => rest,
            _ => return None,
        };
        let number = rest.get(1).and_then(|number| number.parse::<u64>().ok());
        match (request.method.as_str(), rest) {
            ("GET", ["issues"]) => {
                let all = self.items.iter().map(|item| item.json(false));
                Some(all.rev().collect())
            }
            ("POST", ["issues"]) => {
                let number = self.add(ME, &body, None);
                Some(self.item(number)?.json(false))
            }
            ("GET", ["pulls"]) => {
                let query: Vec<_> = request.url.query_pairs().into_owned().collect();
                let head = query.iter().find(|(key, _)| key == "head");
                let head = head.and_then(|(_, head)| head.strip_prefix("acme:").map(str::to_owned));
                let all = self.items.iter().filter(|item| {
                    let own = item.head.as_ref();
                    own.is_some_and(|(own, _)| head.as_ref().is_none_or(|head| head == own))
                });
                Some(all.map(|item| item.json(true)).collect())
            }
            ("POST", ["pulls"]) => {
                let text = |key: &str| body[key].as_str().unwrap().to_owned();
                let number = self.add(ME, &body, Some((text("head"), text("base"))));
                Some(self.item(number)?.json(true))
            }
            ("DELETE", ["issues", "comments", id]) => {
                let id: u64 = id.parse().unwrap();
                for item in &mut self.items {
                    item.comments.retain(|one| one.id != id);
                }
                Some(Value::Null)
            }
            ("DELETE", ["pulls", "comments", id]) => {
                let id: u64 = id.parse().unwrap();
                for item in &mut self.items {
                    item.thread.retain(|one| one.id != id);
                }
                Some(Value::Null)
            }
            (method, [kind, _, below @ ..]) => self.of_item(method, kind, number?, below, &body),
            _ => None,
        }
    }

    fn of_item(
        &mut self,
        method: &str,
        kind: &str,
        number: u64,
        below: &[&str],
        body: &Value,
    ) -> Option<Value> {
        let new = match (method, below) {
            ("POST", ["comments"]) => Some(self.comment(ME, body["body"].as_str()?)),
            ("POST", ["reviews"]) => Some(self.comment(ME, body["body"].as_str()?)),
            _ => None,
        };
        let is_pull = kind == "pulls";
        if method == "PATCH" && self.refuses.contains(&number) {
            return None;
        }
        let item = self.item(number)?;
        match (method, below) {
            ("GET", []) if !is_pull || item.head.is_some() => Some(item.json(is_pull)),
            ("PATCH", []) => {
                if let Some(state) = body["state"].as_str() {
                    item.closed = state == "closed";
                }
                for (key, text) in [("title", &mut item.title), ("body", &mut item.body)] {
                    if let Some(new) = body[key].as_str() {
                        new.clone_into(text);
                    }
                }
                Some(item.json(is_pull))
            }
            ("GET", ["comments"]) => Some(item.comments.iter().map(Comment::json).collect()),
            ("POST", ["comments"]) => {
                let new = new?;
                let json = new.json();
                item.comments.push(new);
                Some(json)
            }
            ("POST", ["labels"]) => {
                for label in body["labels"].as_array()? {
                    let label = label.as_str()?.to_owned();
                    if !item.labels.contains(&label) {
                        item.labels.push(label);
                    }
                }
                Some(json!([]))
            }
            ("DELETE", ["labels", label]) => {
                let had = item.labels.len();
                let label = label.replace("%3A", ":");
                item.labels.retain(|own| *own != label);
                (item.labels.len() < had).then(|| json!([]))
            }
            ("GET", ["reviews"]) => Some(item.reviews.iter().map(|(_, r)| r.clone()).collect()),
            ("POST", ["reviews"]) => {
                let new = new?;
                let review = json!({
                    "id": new.id, "user": {"login": ME}, "body": new.body, "state": "COMMENTED",
                    "author_association": "MEMBER", "commit_id": body["commit_id"],
                    "submitted_at": THEN,
                });
                item.reviews.push((new.id, review.clone()));
                Some(review)
            }
            ("PUT", ["reviews", id]) => {
                let id: u64 = id.parse().ok()?;
                let (_, review) = item.reviews.iter_mut().find(|(one, _)| *one == id)?;
                review["body"] = body["body"].clone();
                Some(review.clone())
            }
            _ => None,
        }
    }

    fn graphql(&mut self, body: &Value) -> Option<Value> {
        let query = body["query"].as_str()?;
        if query.contains("addPullRequestReviewThreadReply") {
            let said = body["variables"]["body"].as_str()?;
            let thread = body["variables"]["id"].as_str()?;
            let number: u64 = thread.strip_prefix("T_")?.parse().ok()?;
            let new = self.comment(ME, said);
            self.item(number)?.thread.push(new);
            return Some(json!({"data": {"reply": {"clientMutationId": null}}}));
        }
        let number = body["variables"]["number"].as_u64()?;
        let item = self.item(number)?;
        let comments: Vec<Value> = item.thread.iter().map(|one| json!({
            "databaseId": one.id, "body": one.body, "createdAt": THEN,
            "lastEditedAt": null, "authorAssociation": "MEMBER", "author": {"login": one.login},
        })).collect();
        let whole = json!({"hasNextPage": false, "endCursor": null});
        let thread = json!({
            "id": format!("T_{number}"), "isResolved": false, "path": "README.md", "line": 1,
            "comments": {"pageInfo": whole, "nodes": comments},
        });
        let nodes = if item.thread.is_empty() {
            json!([])
        } else {
            json!([thread])
        };
        let threads = json!({"pageInfo": whole, "nodes": nodes});
        Some(json!({"data": {"repository": {"pullRequest": {"reviewThreads": threads}}}}))
    }
}

impl Respond for Answers {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut state = self.0.lock().unwrap();
        let answer = state.answer(request);
        let asks = request.url.path() == "/graphql";
        let is_write = request.method.as_str() != "GET" && !asks && answer.is_some();
        state.writes += usize::from(is_write);
        let template = match answer {
            Some(Value::Null) => ResponseTemplate::new(204),
            Some(body) => ResponseTemplate::new(200).set_body_json(body),
            None => ResponseTemplate::new(404).set_body_json(json!({"message": "Not Found"})),
        };
        let written = state.writes;
        if is_write && state.holds_after.is_some_and(|after| written > after) {
            self.1.notify_one();
            return template.set_delay(Duration::from_secs(600));
        }
        template
    }
}
