//! GraphQL, as far as the fleet speaks it: what is said about lines of pull requests.

use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};

use super::http::{Asked, Said};

/// The threads of all pull requests, each with the number of its own.
#[derive(Default)]
pub struct Threads(Vec<(u64, Value)>);

impl Threads {
    /// Somebody says something about a line: in the thread that is there, or in a new one.
    pub fn say(&mut self, pull: u64, body: &str) {
        if let Some(thread) = self.of(pull).next() {
            add(thread, "ann", body);
            return;
        }
        let mut thread = json!({
            "id": format!("PRRT_{}", self.0.len() + 1), "isResolved": false, "path": "new.txt",
            "line": 1, "comments": page(&[]),
        });
        add(&mut thread, "ann", body);
        self.0.push((pull, thread));
    }

    /// Somebody settles all that was said.
    pub fn settle(&mut self, pull: u64) {
        for thread in self.of(pull) {
            thread["isResolved"] = json!(true);
        }
    }

    fn of(&mut self, pull: u64) -> impl Iterator<Item = &mut Value> {
        let all = self.0.iter_mut();
        all.filter(move |one| one.0 == pull).map(|one| &mut one.1)
    }

    /// What this login said.
    pub fn said_by(&self, login: &str, pull: u64) -> Vec<String> {
        let threads = self.0.iter().filter(|one| one.0 == pull);
        let all = threads.flat_map(|one| one.1["comments"]["nodes"].as_array().unwrap());
        let own = all.filter(|one| one["author"]["login"] == login);
        own.map(|one| one["body"].as_str().unwrap().to_owned())
            .collect()
    }

    pub fn answer(&mut self, asked: &Asked) -> Said {
        let body = asked.json();
        let (query, given) = (body["query"].as_str().unwrap(), &body["variables"]);
        if given["id"].is_null() {
            let number = given["number"].as_u64().unwrap();
            let threads: Vec<Value> = self.of(number).map(|thread| thread.clone()).collect();
            let pull = json!({"pullRequest": {"reviewThreads": page(&threads)}});
            return Said::json(200, &json!({"data": {"repository": pull}}));
        }
        let mut all = self.0.iter_mut().map(|one| &mut one.1);
        let Some(thread) = all.find(|thread| thread["id"] == given["id"]) else {
            let error = json!({"type": "NOT_FOUND", "message": "Could not resolve to a node"});
            return Said::json(200, &json!({"data": null, "errors": [error]}));
        };
        if query.contains("resolveReviewThread") {
            thread["isResolved"] = json!(true);
        } else {
            add(thread, &login(asked), given["body"].as_str().unwrap());
        }
        Said::json(200, &json!({"data": {}}))
    }
}

/// Who asks.
fn login(asked: &Asked) -> String {
    let token = asked.headers[AUTHORIZATION].to_str().unwrap();
    match token.trim_start_matches("Bearer token_of_") {
        "carson" => "carson-bot".to_owned(),
        login => login.to_owned(),
    }
}

fn add(thread: &mut Value, login: &str, body: &str) {
    let nodes = thread["comments"]["nodes"].as_array_mut().unwrap();
    nodes.push(json!({
        "databaseId": nodes.len() + 1, "author": {"login": login}, "body": body,
        "createdAt": "2026-01-01T00:00:00Z", "authorAssociation": "COLLABORATOR",
    }));
}

fn page(nodes: &[Value]) -> Value {
    json!({"nodes": nodes, "pageInfo": {"hasNextPage": false, "endCursor": null}})
}
