//! What the emulator does not have: GraphQL, statuses, links of issues, and git.

use std::path::Path;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Value, json};

use super::branches::Branches;
use super::graphql::Threads;
use super::http::{self, Asked, Said};

/// What it keeps of its own.
#[derive(Clone, Default)]
pub struct Back(Arc<Mutex<Has>>);

#[derive(Default)]
struct Has {
    threads: Threads,
    /// With the commit of each.
    statuses: Vec<(String, Value)>,
    /// Where branches are those of a repository, and not the emulator's own.
    branches: Option<Branches>,
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

    /// From now on its branches are those of this bare repository.
    pub fn has_branches_of(&self, repository: &Path) {
        let branches = Branches::of(repository.to_owned());
        self.0.lock().unwrap().branches = Some(branches);
    }

    /// Somebody says something about a line of a pull request.
    pub fn say(&self, pull: u64, body: &str) {
        self.0.lock().unwrap().threads.say(pull, body);
    }

    /// Somebody settles what was said there.
    pub fn settle(&self, pull: u64) {
        self.0.lock().unwrap().threads.settle(pull);
    }

    /// What this login said about lines of a pull request.
    pub fn said_by(&self, login: &str, pull: u64) -> Vec<String> {
        self.0.lock().unwrap().threads.said_by(login, pull)
    }

    /// A program sets a status of a commit.
    pub fn status(&self, sha: &str, context: &str, state: &str) {
        let status = json!({
            "context": context, "state": state, "target_url": null,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:10Z",
        });
        let mut has = self.0.lock().unwrap();
        // The newest of each context counts.
        has.statuses
            .retain(|(of, one)| of != sha || one["context"] != context);
        has.statuses.push((sha.to_owned(), status));
    }

    async fn answer(&self, client: &reqwest::Client, asked: Asked) -> Said {
        let path = asked.path.split('?').next().unwrap().to_owned();
        let emulator = self.0.lock().unwrap().emulator.clone();
        if path == "/graphql" {
            return self.graphql(client, &emulator, &asked).await;
        }
        let has = |name: &str| path.ends_with(name) && asked.method == "GET";
        if has("/status") {
            return self.statuses(&path);
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
        let own_branches = self.0.lock().unwrap().branches.is_none();
        if own_branches && has("/files") {
            let file = json!({
                "filename": "new.txt", "status": "added", "additions": 1, "deletions": 0,
            });
            return Said::json(200, &json!([file]));
        }
        if own_branches {
            return http::pass_on(client, &emulator, asked).await;
        }
        let asking = Asking {
            back: self,
            client,
            emulator: &emulator,
        };
        asking.answer(&path, asked).await
    }

    /// Those of the commit that the path names before its last word.
    fn statuses(&self, path: &str) -> Said {
        let sha = path.rsplit('/').nth(1).unwrap();
        let has = self.0.lock().unwrap();
        let own = has.statuses.iter().filter(|one| one.0 == sha);
        let own: Vec<&Value> = own.map(|one| &one.1).collect();
        Said::json(200, &json!({"state": "pending", "statuses": own}))
    }

    async fn graphql(&self, client: &reqwest::Client, emulator: &str, asked: &Asked) -> Said {
        let body = asked.json();
        if !body["query"]
            .as_str()
            .unwrap()
            .contains("markPullRequestReadyForReview")
        {
            return self.0.lock().unwrap().threads.answer(asked);
        }
        // The emulator takes by REST what GitHub takes only so.
        let number = number(&body);
        let ready = client
            .patch(format!("{emulator}/repos/acme/widget/pulls/{number}"))
            .bearer_auth("token_of_acme")
            .json(&json!({"draft": false}));
        assert!(ready.send().await.unwrap().status().is_success());
        Said::json(200, &json!({"data": {}}))
    }
}

/// A request about a repository whose branches are git's.
struct Asking<'a> {
    back: &'a Back,
    client: &'a reqwest::Client,
    emulator: &'a str,
}

impl Asking<'_> {
    async fn answer(&self, path: &str, asked: Asked) -> Said {
        let method = asked.method.clone();
        let words: Vec<&str> = path.split('/').skip(4).collect();
        match (method.as_str(), &words[..]) {
            ("PUT", ["pulls", number, "merge"]) => self.merge(number, asked).await,
            ("GET", ["pulls", number, what @ ("files" | "commits")]) => {
                let pull = self.pull(number).await;
                self.git(|git| {
                    let ends = git.ends(&pull);
                    let all = match *what {
                        "files" => git.files(&ends),
                        _ => git.commits(&ends),
                    };
                    Said::json(200, &all)
                })
            }
            ("POST", ["pulls", number, "reviews"]) => self.review(number, asked).await,
            ("POST", ["pulls"]) => {
                let head = asked.json()["head"].as_str().unwrap_or_default().to_owned();
                match self.git(|git| git.has(&head)) {
                    true => self.pulls(asked).await,
                    false => refused(422, "Validation Failed"),
                }
            }
            (_, ["pulls"] | ["pulls", _]) => self.pulls(asked).await,
            ("POST", ["check-runs"]) => {
                let said = self.pass_on(asked).await;
                self.git(|git| git.is_checked(&said.read()));
                said
            }
            ("GET", ["commits", sha, "check-runs"]) => self.checks(sha, asked).await,
            _ => self.pass_on(asked).await,
        }
    }

    async fn pass_on(&self, asked: Asked) -> Said {
        http::pass_on(self.client, self.emulator, asked).await
    }

    fn git<T>(&self, does: impl FnOnce(&mut Branches) -> T) -> T {
        let mut has = self.back.0.lock().unwrap();
        does(has.branches.as_mut().unwrap())
    }

    /// One as the emulator tells it.
    async fn pull(&self, number: &str) -> Value {
        let url = format!("{}/repos/acme/widget/pulls/{number}", self.emulator);
        let asked = self.client.get(url).bearer_auth("token_of_acme");
        asked.send().await.unwrap().json().await.unwrap()
    }

    /// Pull requests with the commits that they have.
    async fn pulls(&self, asked: Asked) -> Said {
        let said = self.pass_on(asked).await;
        if !said.status.is_success() {
            return said;
        }
        let mut body = said.read();
        self.git(|git| match body.as_array_mut() {
            Some(all) => all.iter_mut().for_each(|pull| git.correct(pull)),
            None => git.judge(&mut body),
        });
        said.with(&body)
    }

    /// A review of no commit in particular is one of the newest.
    async fn review(&self, number: &str, mut asked: Asked) -> Said {
        let mut body = asked.json();
        if body["commit_id"].is_null() {
            let pull = self.pull(number).await;
            body["commit_id"] = json!(self.git(|git| git.ends(&pull).head));
            asked.body = body.to_string().into();
        }
        self.pass_on(asked).await
    }

    /// Of those of a name the newest.
    async fn checks(&self, sha: &str, mut asked: Asked) -> Said {
        let Some(suite) = self.git(|git| git.suite(sha)) else {
            return Said::json(200, &json!({"total_count": 0, "check_runs": []}));
        };
        let place = format!("/commits/{sha}/");
        asked.path = asked
            .path
            .replace(&place, &format!("/check-suites/{suite}/"));
        let said = self.pass_on(asked).await;
        let mut body = said.read();
        let mut names = Vec::new();
        let runs = body["check_runs"].as_array_mut().unwrap();
        runs.retain(|run| {
            let new = !names.contains(&run["name"]);
            names.push(run["name"].clone());
            new
        });
        said.with(&body)
    }

    /// Exactly the commit that whoever asks has seen.
    async fn merge(&self, number: &str, mut asked: Asked) -> Said {
        let wanted = asked.json();
        let pull = self.pull(number).await;
        let (ends, tree) = self.git(|git| {
            let ends = git.ends(&pull);
            let tree = git.joined(&ends);
            (ends, tree)
        });
        if pull["state"] == "open" && wanted["sha"].as_str().is_some_and(|sha| sha != ends.head) {
            let why = "Head branch was modified. Review and try the merge again.";
            return refused(409, why);
        }
        let Some(tree) = tree else {
            return refused(405, "Pull Request is not mergeable");
        };
        // The emulator takes note of it, with a commit of its own.
        let mut of_its_own = wanted.clone();
        of_its_own["sha"] = json!(null);
        asked.body = of_its_own.to_string().into();
        let said = self.pass_on(asked).await;
        if !said.status.is_success() {
            return said;
        }
        let method = wanted["merge_method"].as_str().unwrap_or("merge");
        let sha = self.git(|git| git.merge(&pull, (&ends, &tree), method));
        let mut body = said.read();
        body["sha"] = json!(sha);
        said.with(&body)
    }
}

fn refused(status: u16, message: &str) -> Said {
    Said::json(status, &json!({"message": message}))
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
