//! A home that listens to a Slack of the test's own.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use carson_core::settle::Settled;
use carson_core::work::WorkKey;
use carson_core::{Clock, Effect, FiringId, Outcome};
use carson_home::{Home, testing};
use carson_notify::Chat;
use carson_operator::plans;
use carson_store::{ApprovalRow, Ending, NewFiring};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tempfile::TempDir;
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::desk::deal;
use crate::inbox::Inbox;
use crate::newest::chat_of;

/// Whom the settings trust, who may also let roles fire, and somebody else.
pub(super) const ANN: &str = "U0ANN00001";
pub(super) const OPE: &str = "U0OPE00001";
pub(super) const EVE: &str = "U0EVE00001";

pub(super) fn start() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 0).unwrap()
}

pub(super) struct Stage {
    dir: TempDir,
    pub slack: MockServer,
    pub home: Home,
    pub chat: Chat,
    envelopes: u32,
}

fn secret(dir: &Path, name: &str, text: &str) {
    let file = dir.join(name);
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
}

fn role(home: &Path, name: &str, label: &str) {
    let role = home.join("roles").join(name);
    std::fs::create_dir_all(&role).unwrap();
    let text = format!(
        "repos = [\"widget\"]\nengines = [\"claude\"]\ncadence = [\"0 0 * * *\"]\n\
         work = {{ from = \"issues\", label = {label:?} }}\n"
    );
    std::fs::write(role.join("role.toml"), text).unwrap();
}

impl Stage {
    pub(super) async fn new() -> Self {
        // The tests of a crate have no binary that would choose one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let slack = MockServer::start().await;
        for (verb, answer) in [
            (
                "/chat.postMessage",
                json!({"ok": true, "channel": "C1", "ts": "7.000001"}),
            ),
            ("/chat.update", json!({"ok": true})),
        ] {
            let answer = ResponseTemplate::new(200).set_body_json(answer);
            let mock = Mock::given(path(verb)).respond_with(answer);
            mock.with_priority(10).mount(&slack).await;
        }
        let dir = tempfile::tempdir().unwrap();
        secret(dir.path(), "bot", "xoxb-hidden-1");
        secret(dir.path(), "app", "xapp-hidden-2");
        let settings = format!(
            "[fleet]\nhost = \"box\"\n[accounts.claude]\nengine = \"claude\"\n\
             [repos.widget]\nurl = \"/nowhere/widget.git\"\nforge = \"local\"\n\
             [slack]\nchannel = \"#fleet\"\ntoken_file = \"bot\"\napp_token_file = \"app\"\n\
             api_base = {:?}\ntrusted = [{ANN:?}]\noperators = [{OPE:?}]\n",
            slack.uri()
        );
        std::fs::write(dir.path().join("carson.toml"), settings).unwrap();
        role(dir.path(), "hand", "carson:ready");
        let home = open(dir.path()).await;
        let chat = chat_of(&home).unwrap();
        Self {
            dir,
            slack,
            home,
            chat,
            envelopes: 0,
        }
    }

    /// The same home, as a daemon opens it that was started anew.
    pub(super) async fn restart(&mut self) {
        let clock = self.home.clock.clone();
        let root = self.home.fleet.layout.root.clone();
        self.home = open(&root).await;
        self.home.clock = clock;
    }

    /// Another role that works there, with a label of its own.
    pub(super) async fn another_role(&mut self) {
        role(self.dir.path(), "other", "other:ready");
        self.restart().await;
    }

    /// Another app token is written into the file.
    pub(super) fn app_token(&self, text: &str) {
        secret(self.dir.path(), "app", text);
    }

    /// What posts were changed to: their first lines.
    pub(super) async fn updated(&self) -> Vec<String> {
        let all = self.slack.received_requests().await.unwrap();
        let posts = all.iter().filter(|one| one.url.path() == "/chat.update");
        let text = |one: &wiremock::Request| {
            let body: Value = one.body_json().unwrap();
            assert!(!body["blocks"].to_string().contains("button"), "{body}");
            body["text"].as_str().unwrap().to_owned()
        };
        posts.map(text).collect()
    }

    pub(super) fn after(&self, span: TimeDelta) {
        self.home.clock.set(self.home.clock.now() + span);
    }

    pub(super) fn ts(&self) -> String {
        format!("{}.000100", self.home.clock.now().timestamp())
    }

    /// What a daemon of this home keeps arrivals in.
    pub(super) fn inbox(&self) -> Inbox {
        let home = self.home.clone();
        Inbox::of(Arc::new(move || home.clone()))
    }

    /// Keeps an envelope, and deals with all that is kept.
    pub(super) async fn take(&self, envelope: &Value) {
        self.inbox().keep(envelope).await.unwrap();
        self.deal().await;
    }

    /// Deals with all that is kept, one after the other.
    pub(super) async fn deal(&self) {
        let (store, now) = (&self.home.store, self.home.clock.now());
        loop {
            let row = match store.take_heard(true, now).await.unwrap() {
                Some(row) => Some(row),
                None => store.take_heard(false, now).await.unwrap(),
            };
            let Some(row) = row else { return };
            let errands = deal(&self.home, &self.chat, &row).await.unwrap();
            store.heard_is_dealt_with(row.seq).await.unwrap();
            for errand in errands {
                errand.run(&self.home, &self.chat).await;
            }
        }
    }

    /// Somebody says something to the bot.
    pub(super) async fn say(&mut self, user: &str, text: &str) {
        let envelope = self.mention(user, text);
        self.take(&envelope).await;
    }

    pub(super) fn mention(&mut self, user: &str, text: &str) -> Value {
        let ts = self.ts();
        self.event(
            &json!({"type": "app_mention", "user": user, "channel": "C1", "ts": ts,
            "text": format!("<@UBOT> {text}")}),
        )
    }

    pub(super) fn event(&mut self, event: &Value) -> Value {
        self.envelopes += 1;
        json!({"type": "events_api", "envelope_id": format!("env{}", self.envelopes), "payload": {
            "event_id": format!("Ev{}", self.envelopes), "authorizations": [{"user_id": "UBOT"}],
            "event": event}})
    }

    pub(super) fn click(&mut self, user: &str, action: &str, value: &str) -> Value {
        self.envelopes += 1;
        let ts = self.ts();
        json!({"type": "interactive", "envelope_id": format!("env{}", self.envelopes), "payload": {
            "type": "block_actions", "user": {"id": user}, "channel": {"id": "C1"},
            "message": {"ts": "7.000001"},
            "actions": [{"action_id": action, "value": value, "action_ts": format!("{ts}{}", self.envelopes)}]}})
    }

    /// What was posted: text of the sections, one a post.
    pub(super) async fn posted(&self) -> Vec<String> {
        let all = self.slack.received_requests().await.unwrap();
        let posts = all
            .iter()
            .filter(|one| one.url.path() == "/chat.postMessage");
        posts
            .map(|one| {
                let body: Value = one.body_json().unwrap();
                let blocks = body["blocks"].as_array().unwrap().iter();
                let texts = blocks.filter_map(|block| block["text"]["text"].as_str());
                texts.collect::<Vec<_>>().join("\n")
            })
            .collect()
    }

    /// The kinds of events, the oldest first, with why or which verb.
    pub(super) async fn events(&self) -> Vec<(String, String)> {
        let rows = self.home.store.events(200).await.unwrap().into_iter().rev();
        rows.map(|row| {
            let more = row.data["why"].as_str().or(row.data["verb"].as_str());
            (row.kind, more.unwrap_or_default().to_owned())
        })
        .collect()
    }

    /// A plan that waits on an issue of its own: what was asked about it.
    pub(super) async fn plan(&self, title: &str) -> ApprovalRow {
        let repo = &self.home.fleet.repos[&"widget".parse().unwrap()];
        let forge = self.home.forge(repo).await.unwrap();
        let new = carson_forge::NewIssue {
            title: title.to_owned(),
            body: "b".to_owned(),
            labels: vec![carson_forge::PLAN_PENDING.to_owned()],
        };
        let issue = forge.create_issue(&new).await.unwrap().number;
        self.plan_on(issue, title).await
    }

    /// The same with this text.
    pub(super) async fn plan_saying(&self, title: &str, body: &str) -> ApprovalRow {
        let row = self.plan(title).await;
        let id = self.plan_of(row.issue.unwrap(), (title, body)).await;
        plans::follow(&self.home).await.unwrap();
        let row = self.home.store.approval_of((id, 0)).await.unwrap();
        row.unwrap()
    }

    pub(super) async fn plan_on(&self, issue: u64, title: &str) -> ApprovalRow {
        let id = self.plan_unseen(issue, title).await;
        plans::follow(&self.home).await.unwrap();
        let row = self.home.store.approval_of((id, 0)).await.unwrap();
        row.unwrap()
    }

    /// The same before anybody looked for it.
    pub(super) async fn plan_unseen(&self, issue: u64, title: &str) -> FiringId {
        self.plan_of(issue, (title, "its <!here> body")).await
    }

    async fn plan_of(&self, issue: u64, (title, body): (&str, &str)) -> FiringId {
        let (store, now) = (&self.home.store, self.home.clock.now());
        let id = FiringId::new();
        let new = NewFiring {
            id,
            role: "hand".parse().unwrap(),
            slot: None,
            host: "box".parse().unwrap(),
            account: None,
            deadline_at: now + TimeDelta::hours(1),
            claimed_at: now,
            missed: 0,
            repo: None,
            work: None,
            probes: None,
        };
        store.claim_firing(&new).await.unwrap();
        let repo = "widget".parse().unwrap();
        let taken = store
            .as_firing(id, carson_store::Epoch::FIRST)
            .take_work(&repo, WorkKey::Issue(issue), title)
            .await;
        assert!(taken.unwrap());
        let page = |text: &str| serde_json::from_value(json!(text)).unwrap();
        let effects = [
            Effect::AwaitApproval {
                issue,
                hash: "0".repeat(40),
                until: now + TimeDelta::hours(24),
            },
            Effect::FileIssue {
                topic: None,
                repo: None,
                after: Vec::new(),
                title: page(title),
                body: page(body),
                labels: Vec::new(),
            },
        ];
        let settled = Settled::new(Outcome::Ok, "planned");
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .plan_effects(&settled, &effects)
            .await
            .unwrap();
        let ending = Ending {
            outcome: Outcome::Ok,
            reason: "planned".to_owned(),
            skip: None,
            at: now,
            thresholds: None,
            posts: Vec::new(),
        };
        assert!(
            store
                .as_firing(id, carson_store::Epoch::FIRST)
                .end_firing(&ending)
                .await
                .unwrap()
        );
        id
    }

    pub(super) async fn row(&self, row: &ApprovalRow) -> ApprovalRow {
        self.home.store.approval(&row.id).await.unwrap().unwrap()
    }

    pub(super) async fn forge(&self) -> carson_forge::Forge {
        let repo = &self.home.fleet.repos[&"widget".parse().unwrap()];
        self.home.forge(repo).await.unwrap()
    }

    /// How many issues are there.
    pub(super) async fn issues(&self) -> usize {
        let forge = self.forge().await;
        forge.issues(None).await.unwrap().found.len()
    }
}

async fn open(root: &Path) -> Home {
    testing::open(root, Clock::manual(start())).await.unwrap()
}
