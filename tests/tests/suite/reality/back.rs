//! What the emulator does not have: GraphQL, statuses, links of issues, and the files of pull requests.

use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Value, json};

use super::http::{self, Asked, Said};

/// What it keeps of its own.
#[derive(Clone, Default)]
pub struct Back(Arc<Mutex<Has>>);

#[derive(Default)]
struct Has {
    threads: Vec<Value>,
    statuses: Vec<Value>,
    /// Whether a branch that a pull request names came with a push that it did not see.
    makes_branches: bool,
    /// Where the emulator is.
    emulator: String,
}

impl Back {
    /// Its address, in front of an emulator that may not have started yet.
    pub async fn start() -> (Self, String) {
        let back = Self::default();
        let (own, client) = (back.clone(), http::client());
        let base = http::serve(move |asked| {
            let (own, client) = (own.clone(), client.clone());
            Box::pin(async move { Some(own.answer(&client, asked).await) })
        });
        (back, base.await)
    }

    pub fn stands_before(&self, emulator: &str) {
        self.0.lock().unwrap().emulator = emulator.to_owned();
    }

    /// From now on branches come by git, which the emulator does not speak.
    pub fn makes_branches(&self) {
        self.0.lock().unwrap().makes_branches = true;
    }

    /// Somebody says something about a line of a pull request.
    pub fn say(&self, body: &str) {
        self.0.lock().unwrap().threads.push(json!({
            "id": "PRRT_1", "isResolved": false, "path": "new.txt", "line": 1,
            "comments": comments(&[comment(1, "ann", body)]),
        }));
    }

    /// A program sets a status.
    pub fn status(&self, context: &str, state: &str) {
        self.0.lock().unwrap().statuses.push(json!({
            "context": context, "state": state, "target_url": null,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:10Z",
        }));
    }

    async fn answer(&self, client: &reqwest::Client, asked: Asked) -> Said {
        let path = asked.path.split('?').next().unwrap().to_owned();
        let emulator = self.0.lock().unwrap().emulator.clone();
        if path == "/graphql" {
            return self.graphql(client, &emulator, &asked).await;
        }
        let has = |name: &str| path.ends_with(name) && asked.method == "GET";
        if has("/status") {
            let statuses = self.0.lock().unwrap().statuses.clone();
            return Said::json(200, &json!({"state": "pending", "statuses": statuses}));
        }
        if has("/sub_issues") {
            return Said::json(200, &json!([]));
        }
        if has("/dependencies/blocked_by") {
            let other = json!({
                "number": 9, "state": "closed", "repository_url": "https://x/repos/acme/gadget",
            });
            return Said::json(200, &json!([other]));
        }
        if has("/files") {
            let file = json!({
                "filename": "new.txt", "status": "added", "additions": 1, "deletions": 0,
            });
            return Said::json(200, &json!([file]));
        }
        let makes_branches = self.0.lock().unwrap().makes_branches;
        if makes_branches && path.ends_with("/pulls") && asked.method == "POST" {
            let head = asked.json()["head"].as_str().unwrap_or_default().to_owned();
            make_branch(client, &emulator, &head).await;
        }
        http::pass_on(client, &emulator, asked).await
    }

    async fn graphql(&self, client: &reqwest::Client, emulator: &str, asked: &Asked) -> Said {
        let body = asked.json();
        let query = body["query"].as_str().unwrap();
        if query.contains("markPullRequestReadyForReview") {
            // The emulator takes by REST what GitHub takes only so.
            let ready = client
                .patch(format!(
                    "{emulator}/repos/acme/widget/pulls/{}",
                    number(&body)
                ))
                .bearer_auth("token_of_acme")
                .json(&json!({"draft": false}));
            assert!(ready.send().await.unwrap().status().is_success());
            return Said::json(200, &json!({"data": {}}));
        }
        let mut has = self.0.lock().unwrap();
        let thread = &body["variables"]["id"];
        if let Some(thread) = has.threads.iter_mut().find(|one| one["id"] == *thread) {
            if query.contains("resolveReviewThread") {
                thread["isResolved"] = json!(true);
            } else {
                let nodes = thread["comments"]["nodes"].as_array_mut().unwrap();
                let text = body["variables"]["body"].as_str().unwrap();
                nodes.push(comment(nodes.len() + 1, "carson-bot", text));
            }
            return Said::json(200, &json!({"data": {}}));
        }
        let threads = json!({
            "nodes": has.threads, "pageInfo": {"hasNextPage": false, "endCursor": null},
        });
        let pull = json!({"pullRequest": {"reviewThreads": threads}});
        Said::json(200, &json!({"data": {"repository": pull}}))
    }
}

/// A branch with a commit of its own, unless it is there.
async fn make_branch(client: &reqwest::Client, emulator: &str, name: &str) {
    let url = |path: &str| format!("{emulator}/repos/acme/widget/{path}");
    let main = client
        .get(url("git/ref/heads/main"))
        .bearer_auth("token_of_acme");
    let main: Value = main.send().await.unwrap().json().await.unwrap();
    let new = json!({"ref": format!("refs/heads/{name}"), "sha": main["object"]["sha"]});
    let made = client
        .post(url("git/refs"))
        .bearer_auth("token_of_acme")
        .json(&new);
    if !made.send().await.unwrap().status().is_success() {
        return;
    }
    let file = format!("contents/{}.txt", name.replace('/', "-"));
    let content = json!({"message": "Work", "content": "b25lCg==", "branch": name});
    let put = client
        .put(url(&file))
        .bearer_auth("token_of_acme")
        .json(&content);
    assert!(put.send().await.unwrap().status().is_success());
}

/// The emulator's node ids end with the number.
fn number(body: &Value) -> u64 {
    let id = body["variables"]["id"]
        .as_str()
        .unwrap()
        .trim_end_matches('=');
    let id = String::from_utf8(STANDARD_NO_PAD.decode(id).unwrap()).unwrap();
    id.rsplit("PullRequest").next().unwrap().parse().unwrap()
}

fn comments(nodes: &[Value]) -> Value {
    json!({"nodes": nodes, "pageInfo": {"hasNextPage": false, "endCursor": null}})
}

fn comment(id: usize, login: &str, body: &str) -> Value {
    json!({
        "databaseId": id, "author": {"login": login}, "body": body,
        "createdAt": "2026-01-01T00:00:00Z", "authorAssociation": "COLLABORATOR",
    })
}
