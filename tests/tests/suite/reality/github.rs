//! The story on GitHub, and what it does when GitHub is ill.

use std::sync::Arc;

use carson_forge::{Forge, ForgeError, NewIssue, NewPull, NewReview, Pull};
use serde_json::{Value, json};

use super::back::Back;
use super::front::{Fault, Front};
use super::house::{House, spec};
use super::http;
use super::programs::{self, Program};
use super::story::{self, Scene};

pub(super) struct GitHub {
    pub(super) front: Front,
    pub(super) back: Back,
    /// Past what fails.
    behind: String,
    _emulator: Program,
    _prism: Option<Program>,
    client: reqwest::Client,
    pub(super) base: String,
    key: String,
    dir: tempfile::TempDir,
    house: Arc<House>,
    forge: Forge,
}

impl GitHub {
    /// With Prism before it, or without.
    pub(super) async fn start(described: bool) -> Self {
        let key = programs::key();
        let (front, base) = Front::start().await;
        let (back, behind) = Back::start().await;
        let emulator = programs::emulator(&base, &key);
        back.stands_before(&emulator.base);
        let prism = described.then(|| programs::prism(&behind));
        let next = prism.as_ref().map_or(&behind, |prism| &prism.base);
        front.stands_before(next, &behind);
        let (dir, house) = (tempfile::tempdir().unwrap(), Arc::new(House::default()));
        let section = json!({"api_base": base, "token_file": "github.token"});
        let forge = spec("github", Some(section));
        let forge = house.open(forge.as_ref(), dir.path(), "token_of_carson");
        let github = Self {
            front,
            back,
            behind,
            _emulator: emulator,
            _prism: prism,
            client: http::client(),
            base,
            key,
            dir,
            house,
            forge,
        };
        let may = json!({"permission": "push"});
        for login in ["carson-bot", "ann"] {
            let path = format!("collaborators/{login}");
            github.does("acme", "PUT", &path, &may).await;
        }
        github
    }

    /// Somebody else does something there.
    pub(super) async fn does(&self, who: &str, verb: &str, path: &str, body: &Value) -> Value {
        let url = format!("{}/repos/acme/widget/{path}", self.behind);
        let request = self.client.request(verb.parse().unwrap(), url);
        let request = request.bearer_auth(format!("token_of_{who}"));
        let request = match verb {
            "GET" => request,
            _ => request.json(body),
        };
        let response = request.send().await.unwrap();
        let (status, body) = (response.status(), response.text().await.unwrap());
        assert!(status.is_success(), "{verb} {path}: {status} {body}");
        serde_json::from_str(&body).unwrap_or_default()
    }

    pub(super) async fn all(&self, path: &str) -> Vec<Value> {
        let all = self.does("acme", "GET", path, &Value::Null).await;
        all.as_array().unwrap().clone()
    }
}

impl Scene for GitHub {
    fn forge(&self) -> &Forge {
        &self.forge
    }

    async fn push(&self, branch: &str) -> String {
        let main = self.does("acme", "GET", "git/ref/heads/main", &Value::Null);
        let main = main.await["object"]["sha"].clone();
        let new = json!({"ref": format!("refs/heads/{branch}"), "sha": main});
        self.does("acme", "POST", "git/refs", &new).await;
        let file = json!({"message": "Add it", "content": "b25lCg==", "branch": branch});
        let made = self.does("acme", "PUT", "contents/new.txt", &file).await;
        made["commit"]["sha"].as_str().unwrap().to_owned()
    }

    async fn object(&self, pull: u64, body: &str) {
        let review = json!({"event": "REQUEST_CHANGES", "body": body});
        let path = format!("pulls/{pull}/reviews");
        self.does("ann", "POST", &path, &review).await;
    }

    async fn say(&self, pull: u64, body: &str) {
        self.back.say(pull, body);
    }

    async fn check(&self, sha: &str) {
        let build = json!({
            "name": "build", "head_sha": sha, "status": "completed", "conclusion": "failure",
        });
        self.does("acme", "POST", "check-runs", &build).await;
        self.back.status(sha, "lint", "pending");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_is_one_that_github_describes() {
    let github = GitHub::start(true).await;
    story::a_pull_request_is_opened_read_discussed_and_merged(&github).await;
    story::the_other_verbs(github.forge()).await;
    let links = github.forge().links(1).await.unwrap().unwrap();
    let blocked = &links.blocked_by[0];
    let told = (blocked.slug.as_deref(), blocked.number, blocked.open);
    assert_eq!(told, (Some("acme/gadget"), 9, false));
    // As an app too: the emulator believes only what its key signed.
    let app = json!({"api_base": github.base, "app_id": 123, "app_key_file": "app.pem"});
    let app = spec("github", Some(app));
    let app = github
        .house
        .open(app.as_ref(), github.dir.path(), &github.key);
    assert_eq!(app.me().await.unwrap(), "acme-carson[bot]");
    let said = app.comment_once(1, "hello", "Hello.").await.unwrap();
    assert!(said.body.ends_with("Hello."));
    assert_eq!(github.front.violations(), Vec::<String>::new());
    let asked = github.front.asked().len();
    assert!(asked > 50, "{asked} requests were held against it");

    // Such a check can fail.
    for (path, body) in [
        ("repos/acme/widget/pulls", json!({"title": "no branches"})),
        ("repos/acme/widget/issues", json!({"body": "no title"})),
        ("repos/acme/widget/issues/1/comments", json!({"text": "?"})),
        ("repos/acme/widget/nowhere", json!({})),
    ] {
        let before = github.front.violations().len();
        let url = format!("{}/{path}", github.base);
        let wrong = github.client.post(url).bearer_auth("token_of_acme");
        wrong.json(&body).send().await.unwrap();
        assert_eq!(github.front.violations().len(), before + 1, "{path}");
    }
}

fn new(branch: &str) -> NewPull {
    NewPull {
        title: "t".into(),
        body: "b".into(),
        head: branch.into(),
        base: "main".into(),
        draft: true,
        labels: vec!["carson".into()],
    }
}

fn review(sha: &str) -> NewReview {
    NewReview {
        head: sha.to_owned(),
        ship: true,
        body: "Fine.".into(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_lost_on_the_way_nothing_is_there_twice() {
    let github = GitHub::start(false).await;
    let (forge, front) = (github.forge(), &github.front);
    for (number, fault) in [
        Fault::BadGateway,
        Fault::Secondary,
        Fault::TooMany,
        Fault::LostAnswer,
        Fault::LostInGateway,
    ]
    .into_iter()
    .enumerate()
    {
        let branch = format!("carson/hand/{number}");
        github.push(&branch).await;
        for (verb, path) in [("GET", "/pulls"), ("POST", "/pulls"), ("POST", "/labels")] {
            front.fail(verb, path, fault);
        }
        // A firing tries again what it owes, until the forge takes it.
        let mut pull = forge.create_pull(&new(&branch)).await;
        for _ in 0..3 {
            if pull.is_err() {
                pull = forge.create_pull(&new(&branch)).await;
            }
        }
        let pull = pull.unwrap().number;
        front.fail("POST", "/comments", fault);
        let mut said = forge.comment_once(pull, "k", "Said.").await;
        if said.is_err() {
            said = forge.comment_once(pull, "k", "Said.").await;
        }
        said.unwrap();
        front.fail("POST", "/reviews", fault);
        let sha = forge.pull_head(pull).await.unwrap().sha;
        let mut judged = forge.review_once(pull, "k", &review(&sha)).await;
        if judged.is_err() {
            judged = forge.review_once(pull, "k", &review(&sha)).await;
        }
        judged.unwrap();
        assert_eq!(front.unmet(), [], "{fault:?}: each was met");
        let comments = github.all(&format!("issues/{pull}/comments")).await;
        assert_eq!(comments.len(), 1, "{fault:?}");
        let reviews = github.all(&format!("pulls/{pull}/reviews")).await;
        assert_eq!(reviews.len(), 1, "{fault:?}");
        let pulls = github.all("pulls?state=all").await;
        assert_eq!(pulls.len(), number + 1, "{fault:?}");
        let labels = github.all(&format!("issues/{pull}/labels")).await;
        assert_eq!(labels.len(), 1, "{fault:?}: {labels:?}");
    }
    // An issue that was made, and whose answer was lost, is the one.
    front.fail("POST", "/issues", Fault::LostAnswer);
    let issue = NewIssue {
        title: "Once".into(),
        body: "Only.".into(),
        labels: Vec::new(),
    };
    let made = forge.create_issue(&issue).await.unwrap();
    assert_eq!(forge.issues(None).await.unwrap().found, [made]);
    front.fail("POST", "/issues", Fault::LostInGateway);
    let marked = forge.create_issue_once("plan-1", &issue).await.unwrap();
    let again = forge.create_issue_once("plan-1", &issue).await.unwrap();
    assert_eq!(again.number, marked.number);
    assert_eq!(forge.issues(None).await.unwrap().found.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_label_is_made_once_and_stands_in_the_list() {
    let github = GitHub::start(false).await;
    let (forge, front) = (github.forge(), &github.front);
    let before = forge.labels().await.unwrap().unwrap();
    assert!(!before.contains(&"p0".to_owned()), "{before:?}");
    forge.make_label("p0", "Taken before p1").await.unwrap();
    forge.make_label("p0", "Taken before p1").await.unwrap();
    let after = forge.labels().await.unwrap().unwrap();
    assert_eq!(after.len(), before.len() + 1, "{after:?}");
    assert!(after.contains(&"p0".to_owned()), "{after:?}");
    assert_eq!(front.violations(), Vec::<String>::new());
}

fn labelled(pull: &Pull, label: &str) -> bool {
    pull.labels.iter().any(|own| own == label)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_there_are_no_drafts_a_label_says_it() {
    let github = GitHub::start(false).await;
    let (forge, front) = (github.forge(), &github.front);
    github.push("carson/hand/1").await;
    front.fail("POST", "/pulls", Fault::NoDrafts);
    let made = forge.create_pull(&new("carson/hand/1")).await.unwrap();
    assert!(made.draft, "{made:?}");
    let read = forge.pull(made.number).await.unwrap();
    assert!(read.draft && labelled(&read, "wip"), "{read:?}");
    let raw = github.all("pulls").await;
    assert_eq!(raw[0]["draft"], false);
    forge.ready_pull(made.number).await.unwrap();
    let read = forge.pull(made.number).await.unwrap();
    assert!(!read.draft && !labelled(&read, "wip"), "{read:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merge_whose_answer_is_lost_is_found_merged() {
    let github = GitHub::start(false).await;
    let (forge, front) = (github.forge(), &github.front);
    let sha = github.push("carson/hand/1").await;
    let mut ready = new("carson/hand/1");
    ready.draft = false;
    let number = forge.create_pull(&ready).await.unwrap().number;
    front.fail("PUT", "/merge", Fault::LostAnswer);
    let merge = carson_forge::Merge {
        expected: Some(sha),
        ..Default::default()
    };
    forge.merge_pull(number, &merge).await.unwrap();
    let missing = forge.pull_head(99).await;
    assert!(matches!(missing, Err(ForgeError::NotFound { .. })));
}
