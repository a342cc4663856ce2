//! A fleet with something of everything, and its page.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use carson_config::{LoadOptions, load};
use carson_core::breaker::Thresholds;
use carson_core::work::WorkKey;
use carson_core::{Clock, FiringId, Outcome, Stage};
use carson_home::Home;
use carson_operator::{Ask, issues, memory};
use carson_proc::inspector::Inspector;
use carson_redact::Redactor;
use carson_store::{Claim, Ending, NewFiring, Progress, Stopped, Store};
use chrono::{DateTime, TimeDelta, Utc};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::client::{Got, send};

/// The token of a scene.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// What an issue, a model or a program may write.
pub const HOSTILE: &str =
    "<script>alert(1)</script><img src=x onerror=alert(1)>\"' & \u{202e}dlrow\u{200b}";

/// A home of this directory, with these lines more in `[page]`.
pub async fn home(dir: &Path, more: &str) -> Home {
    let settings = format!(
        "[fleet]\nname = \"attic\"\nhost = \"box\"\nmax_cost_usd_per_day = 20.0\n\
         [accounts.claude]\nengine = \"claude\"\n\
         [repos.widget]\nurl = \"/nowhere/widget.git\"\nforge = \"local\"\n\
         [page]\nlisten = \"127.0.0.1:7420\"\n{more}"
    );
    std::fs::write(dir.join("carson.toml"), settings).unwrap();
    for (name, cadence) in [("hand", "*/20 * * * *"), ("docs", "0 3 * * *")] {
        let role = dir.join("roles").join(name);
        std::fs::create_dir_all(&role).unwrap();
        let text = format!(
            "title = \"The {name}\"\nrepos = [\"widget\"]\nengines = [\"claude\"]\ncadence = [\"{cadence}\"]\n\
             work = {{ from = \"issues\", label = \"{name}:ready\" }}\n[limits]\nmax_cost_usd = 5.0\n"
        );
        std::fs::write(role.join("role.toml"), text).unwrap();
    }
    let token = dir.join("page.token");
    std::fs::write(&token, TOKEN).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&token, mode).unwrap();
    let options = LoadOptions {
        home: dir.to_owned(),
        files: None,
        env: Vec::new(),
        user_home: None,
        machine: "box".into(),
    };
    let fleet = load(&options).unwrap().fleet;
    fleet.layout.create().unwrap();
    Home {
        inspector: Inspector::of("/nowhere/carson"),
        store: Store::open(&fleet.database).await.unwrap(),
        fleet: Arc::new(fleet),
        clock: Clock::system(),
        program: "/nowhere/carson".into(),
        environ: Vec::new(),
        user_home: None,
        redactor: Redactor::default(),
        vectors: Default::default(),
    }
}

/// A page that is served.
pub struct Scene {
    pub dir: TempDir,
    pub home: Home,
    pub at: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Somebody who is signed in.
pub struct Signed<'s> {
    scene: &'s Scene,
    pub cookie: String,
}

impl Scene {
    /// Of a home in which nothing happened.
    pub async fn empty() -> Self {
        Self::with("").await
    }

    pub async fn with(more: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = home(dir.path(), more).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let given = home.clone();
        let homes: carson_page::Homes = Arc::new(move || given.clone());
        let task = tokio::spawn(async move {
            carson_page::serve(listener, homes).await.unwrap();
        });
        Self {
            dir,
            home,
            at,
            task,
        }
    }

    /// One request as a browser of this machine sends it.
    pub async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let host = self.at.to_string();
        send(
            self.at,
            method,
            path,
            &[&[("host", host.as_str())], headers].concat(),
            body,
        )
        .await
    }

    /// A form of this page.
    pub async fn post(&self, path: &str, cookie: &str, body: &str) -> Got {
        let origin = format!("http://{}", self.at);
        let headers = [
            ("cookie", cookie),
            ("origin", origin.as_str()),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        self.ask("POST", path, &headers, body).await
    }

    /// Fills in the form of signing in.
    pub async fn sign_in_with(&self, token: &str) -> Got {
        let form = self.ask("GET", "/sign-in", &[], "").await;
        let body = format!("csrf={}&then=/stops&token={token}", form.field("csrf"));
        self.post("/sign-in", &form.cookie(), &body).await
    }

    pub async fn signed_in(&self) -> Signed<'_> {
        let entered = self.sign_in_with(TOKEN).await;
        assert_eq!(
            (entered.status, entered.header("location")),
            (303, Some("/stops")),
            "{entered:#?}"
        );
        Signed {
            scene: self,
            cookie: entered.cookie(),
        }
    }
}

impl Signed<'_> {
    pub async fn get(&self, path: &str) -> Got {
        self.scene
            .ask("GET", path, &[("cookie", &self.cookie)], "")
            .await
    }

    /// Looks at a page that asks once more, and sends its form with what it has, and these fields.
    pub async fn confirm(&self, path: &str, more: &str) -> Got {
        let asked = self.get(path).await;
        assert_eq!(asked.status, 200, "{asked:#?}");
        let (action, named) = path.split_once('?').unwrap_or((path, ""));
        let body = format!("csrf={}&{named}&{more}", asked.field("csrf"));
        self.scene.post(action, &self.cookie, &body).await
    }
}

/// What happened in a scene.
pub struct Story {
    /// Ended as OK, with transcripts, a stopped call and a pull request.
    pub done: FiringId,
    /// Runs.
    pub runs: FiringId,
    /// A candidate that can be promoted, and one that was.
    pub lessons: [String; 2],
}

/// Claims a firing of a role, so long ago.
pub async fn claimed(store: &Store, role: &str, at: DateTime<Utc>) -> FiringId {
    let new = NewFiring {
        id: FiringId::new(),
        role: role.parse().unwrap(),
        slot: Some(at),
        host: "box".parse().unwrap(),
        account: Some("claude".parse().unwrap()),
        deadline_at: at + TimeDelta::minutes(45),
        claimed_at: at,
        missed: 0,
        repo: None,
        work: None,
        probes: None,
    };
    assert_eq!(store.claim_firing(&new).await.unwrap(), Claim::Won);
    new.id
}

fn ending(outcome: Outcome, reason: &str, at: DateTime<Utc>) -> Ending {
    Ending {
        outcome,
        reason: reason.to_owned(),
        skip: None,
        at,
        thresholds: Some(Thresholds {
            fail_streak: 3,
            max_rejections: 2,
        }),
        posts: Vec::new(),
    }
}

/// A firing that took some minutes and ended so.
pub async fn fired(
    store: &Store,
    role: &str,
    (at, outcome, reason): (DateTime<Utc>, Outcome, &str),
) -> FiringId {
    let id = claimed(store, role, at).await;
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .start_firing((1, 1), None, at)
        .await
        .unwrap();
    let used = Progress {
        sessions: 2,
        turns: 9,
        tokens_in: 4_000,
        tokens_out: 700,
        cost_usd: Some(0.42),
        ..Progress::default()
    };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .progress(&used, false)
        .await
        .unwrap();
    let ended = at + TimeDelta::minutes(7);
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending(outcome, reason, ended))
            .await
            .unwrap()
    );
    id
}

/// Writes what a session of a firing said.
pub fn transcript(home: &Home, id: FiringId, session: &str, lines: &[&str]) {
    let dir = home.fleet.layout.transcripts(&id);
    std::fs::create_dir_all(&dir).unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(dir.join(format!("{session}.jsonl")), text).unwrap();
}

/// Something of everything, with hostile words in all of it.
pub async fn story(home: &Home) -> Story {
    story_of(home, HOSTILE).await
}

/// The same with these words.
pub async fn story_of(home: &Home, words: &str) -> Story {
    let (store, now) = (&home.store, home.clock.now());
    let ago = |minutes: i64| now - TimeDelta::minutes(minutes);
    for (at, outcome) in [
        (540, Outcome::Ok),
        (420, Outcome::Silent),
        (300, Outcome::TimedOut),
        (240, Outcome::Rejected),
    ] {
        fired(store, "hand", (ago(at), outcome, "as it was")).await;
    }
    for at in [200, 160, 120] {
        fired(store, "docs", (ago(at), Outcome::Failed, words)).await;
    }
    let done = claimed(store, "hand", ago(60)).await;
    store
        .as_firing(done, carson_store::Epoch::FIRST)
        .start_firing((1, 1), None, ago(60))
        .await
        .unwrap();
    for (stage, at) in [
        (Stage::Plan, 60),
        (Stage::Execute, 55),
        (Stage::DiffReview, 40),
    ] {
        store
            .as_firing(done, carson_store::Epoch::FIRST)
            .set_stage(stage, ago(at))
            .await
            .unwrap();
    }
    let widget = "widget".parse().unwrap();
    store
        .as_firing(done, carson_store::Epoch::FIRST)
        .take_work(&widget, WorkKey::Issue(1), words)
        .await
        .unwrap();
    let call = Stopped {
        rule: "protected-branch".into(),
        tool: "Bash".into(),
        call: format!("git push origin main # {words}"),
    };
    store
        .as_firing(done, carson_store::Epoch::FIRST)
        .add_blocked_calls(&[call], ago(50))
        .await
        .unwrap();
    store
        .as_firing(done, carson_store::Epoch::FIRST)
        .set_pull(41, "javascript:alert(1)")
        .await
        .unwrap();
    let say = |text: &str| serde_json::json!({"type": "say", "text": text}).to_string();
    let call =
        serde_json::json!({"type": "tool", "name": "shell", "call": words, "denied": "not here"})
            .to_string();
    transcript(
        home,
        done,
        "01-plan",
        &[
            &say("The plan: write it down."),
            &say("1. Look.\n2. Mend it.\n\n[OK]"),
        ],
    );
    transcript(home, done, "02-execute", &[&call, &say(words)]);
    transcript(
        home,
        done,
        "03-diff-review",
        &[&say("Finding: the second line says nothing.")],
    );
    store
        .as_firing(done, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "it is done", ago(35)))
        .await
        .unwrap();
    let runs = claimed(store, "hand", ago(4)).await;
    store
        .as_firing(runs, carson_store::Epoch::FIRST)
        .start_firing((1, 1), None, ago(4))
        .await
        .unwrap();
    store
        .as_firing(runs, carson_store::Epoch::FIRST)
        .set_stage(Stage::Execute, ago(3))
        .await
        .unwrap();
    transcript(home, runs, "01-execute", &[&say("I begin.")]);
    let account = carson_operator::block::Set {
        account: "claude".to_owned(),
        r#for: Some("2h".to_owned()),
        reason: words.to_owned(),
    };
    account.answer(home).await.unwrap();
    for title in ["Say hello", words] {
        let new = issues::Create {
            title: title.to_owned(),
            body: String::new(),
            labels: vec!["hand:ready".to_owned()],
            repo: None,
        };
        new.answer(home).await.unwrap();
    }
    let first = propose(
        home,
        "The tests of the parser need the fixtures of docs/fixtures to be there",
    )
    .await;
    let second = propose(
        home,
        "Releases are cut from the branch stable and from no other one",
    )
    .await;
    let promote = memory::decide::Promote {
        id: second.clone(),
        confidence: None,
        reason: None,
    };
    promote.answer(home).await.unwrap();
    Story {
        done,
        runs,
        lessons: [first, second],
    }
}

async fn propose(home: &Home, text: &str) -> String {
    let propose = memory::propose::Propose {
        text: text.to_owned(),
        scope: "fleet".to_owned(),
        evidence: vec!["note:an operator saw it in the last two nights".to_owned()],
        severity: None,
        kind: None,
        confidence: None,
        repo: None,
        valid_from: None,
        valid_to: None,
    };
    propose.answer(home).await.unwrap().id.to_string()
}
