use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use carson_config::{LoadOptions, load};
use carson_core::breaker::Thresholds;
use carson_core::{Clock, FiringId};
use carson_forge::{Claimed, NewIssue};
use carson_redact::Redactor;
use carson_store::{Ending, NewFiring, Store};
use chrono::TimeDelta;

use super::*;

const READY: &str = "carson:ready";

const SETTINGS: &str = r#"
[fleet]
name = "home"
zone = "UTC"
host = "box"

[repos.widget]
url = "/nowhere/widget.git"
forge = "local"
base = "main"

[accounts.claude]
engine = "claude"
"#;

const ROLE: &str = r#"
title = "Implementer"
repos = ["widget"]
cadence = ["*/20 * * * *"]
work = { from = "issues", label = "carson:ready" }
engines = ["claude"]
"#;

fn write(dir: &Path, file: &str, text: &str) {
    let path = dir.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
}

struct Scene {
    home: Home,
    forge: Forge,
    _dir: tempfile::TempDir,
}

impl Scene {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "carson.toml", SETTINGS);
        write(dir.path(), "roles/implementer/role.toml", ROLE);
        let options = LoadOptions {
            home: dir.path().to_owned(),
            files: None,
            env: Vec::new(),
            user_home: None,
            machine: "box".into(),
        };
        let fleet = load(&options).unwrap().fleet;
        fleet.layout.create().unwrap();
        let home = Home {
            inspector: carson_proc::inspector::Inspector::here(),
            store: Store::open(&fleet.database).await.unwrap(),
            fleet: Arc::new(fleet),
            clock: Clock::system(),
            program: "/nowhere/carson".into(),
            environ: Vec::new(),
            user_home: None,
            redactor: Redactor::default(),
            vectors: Default::default(),
        };
        let repo = home.fleet.repos.values().next().unwrap();
        let forge = home.forge(repo).await.unwrap();
        Self {
            home,
            forge,
            _dir: dir,
        }
    }

    async fn issue(&self) -> u64 {
        let new = NewIssue {
            title: "t".into(),
            body: String::new(),
            labels: vec![READY.into()],
        };
        self.forge.create_issue(&new).await.unwrap().number
    }

    fn claim(&self, host: &str) -> Claim {
        Claim {
            firing: FiringId::new(),
            role: "implementer".parse().unwrap(),
            host: host.parse().unwrap(),
            at: self.home.clock.now(),
        }
    }

    /// A claim that is won, with its row.
    async fn won(&self, number: u64, host: &str) -> Claim {
        let claim = self.claim(host);
        self.row(&claim, number).await;
        let result = self.forge.claim(number, READY, &claim).await.unwrap();
        assert_eq!(result, Claimed::Won);
        claim
    }

    async fn row(&self, claim: &Claim, number: u64) {
        let firing = NewFiring {
            id: claim.firing,
            role: claim.role.clone(),
            slot: None,
            host: claim.host.clone(),
            account: None,
            deadline_at: claim.at,
            claimed_at: claim.at,
            missed: 0,
            repo: None,
            work: Some(WorkKey::Issue(number)),
            probes: None,
        };
        let claimed = self.home.store.claim_firing(&firing).await.unwrap();
        assert_eq!(claimed, carson_store::Claim::Won);
    }

    async fn end(&self, claim: &Claim, outcome: Outcome) {
        let ending = Ending {
            outcome,
            reason: String::new(),
            skip: None,
            at: self.home.clock.now(),
            thresholds: Some(Thresholds {
                fail_streak: 0,
                max_rejections: 0,
            }),
            posts: Vec::new(),
        };
        assert!(
            self.home
                .store
                .as_firing(claim.firing, carson_store::Epoch::FIRST)
                .end_firing(&ending)
                .await
                .unwrap()
        );
    }

    async fn sweep(&self) -> u32 {
        sweep(&self.home).await.unwrap()
    }

    async fn labels(&self, number: u64) -> Vec<String> {
        self.forge.issue(number).await.unwrap().labels
    }

    async fn attempts(&self, number: u64) -> u32 {
        self.forge.history(number).await.unwrap().attempts
    }
}

#[tokio::test]
async fn the_claim_of_an_ended_firing_ends_as_the_firing_did() {
    let scene = Scene::new().await;
    for (outcome, labels, attempts) in [
        (Outcome::Failed, vec![READY], 1),
        (Outcome::Crashed, vec![READY], 1),
        (Outcome::RateLimited, vec![READY], 0),
        (Outcome::Auth, vec![READY], 0),
        (Outcome::Ok, vec!["carson:pr-open"], 0),
        (Outcome::AlreadyDone, vec!["carson:done"], 0),
    ] {
        let number = scene.issue().await;
        let claim = scene.won(number, "box").await;
        assert_eq!(scene.sweep().await, 0, "it lives");
        assert_eq!(scene.labels(number).await, [IN_FLIGHT]);

        scene.end(&claim, outcome).await;
        assert_eq!(scene.sweep().await, 1);
        assert_eq!(scene.sweep().await, 0, "once");
        assert_eq!(scene.labels(number).await, labels, "{outcome}");
        assert_eq!(scene.attempts(number).await, attempts, "{outcome}");
        let closed = scene.forge.issue(number).await.unwrap().state == carson_forge::State::Closed;
        assert_eq!(closed, outcome == Outcome::AlreadyDone);
    }
}

#[tokio::test]
async fn what_others_hold_is_theirs_until_nobody_can_be_there() {
    let scene = Scene::new().await;
    let (ended, silent) = (scene.issue().await, scene.issue().await);
    let unknown = scene.issue().await;
    let claim = scene.won(ended, "another").await;
    scene.end(&claim, Outcome::Failed).await;
    // Its host has gone, and no row says how it ended.
    let _ = scene.won(silent, "another").await;
    // Of another fleet, perhaps: no row knows it.
    let strange = scene.claim("box");
    scene.forge.claim(unknown, READY, &strange).await.unwrap();
    let after = async |hours: i64| {
        let mut later = scene.home.clone();
        later.clock = Clock::manual(scene.home.clock.now() + TimeDelta::hours(hours));
        sweep(&later).await.unwrap()
    };
    assert_eq!([after(0).await, after(3).await], [0, 0]);
    assert_eq!([after(5).await, after(5).await], [2, 0]);
    assert_eq!(after(25).await, 1);
    for number in [ended, silent, unknown] {
        assert_eq!(scene.labels(number).await, [READY]);
        assert_eq!(scene.attempts(number).await, 1);
    }
}

#[tokio::test]
async fn what_is_ours_is_concluded_when_it_is_dead_however_long_it_takes() {
    let scene = Scene::new().await;
    let number = scene.issue().await;
    let _ = scene.won(number, "box").await;
    let mut later = scene.home.clone();
    later.clock = Clock::manual(scene.home.clock.now() + TimeDelta::hours(48));
    assert_eq!(sweep(&later).await.unwrap(), 0);
    assert_eq!(scene.labels(number).await, [IN_FLIGHT]);
}

#[tokio::test]
async fn a_dead_claim_beside_a_living_one_changes_no_label() {
    let scene = Scene::new().await;
    let number = scene.issue().await;
    let dead = scene.won(number, "box").await;
    scene.end(&dead, Outcome::Ok).await;
    let living = scene.claim("box");
    scene.row(&living, number).await;
    let history = scene.forge.history(number).await.unwrap();
    let both = [history.unreleased[0].clone(), living.clone()];
    let count = release_dead(&scene.home, &scene.forge, number, &both).await;
    assert_eq!(count.unwrap(), 1);
    assert_eq!(scene.labels(number).await, [IN_FLIGHT]);
}

#[tokio::test]
async fn a_claim_that_could_not_be_withdrawn_costs_the_issue_nothing() {
    let scene = Scene::new().await;
    let (tried, worked) = (scene.issue().await, scene.issue().await);
    // It claimed one, could not withdraw, and worked on another.
    let claim = scene.claim("box");
    scene.row(&claim, worked).await;
    scene.forge.claim(tried, READY, &claim).await.unwrap();
    scene
        .forge
        .set_labels(tried, &[READY], &[IN_FLIGHT])
        .await
        .unwrap();
    let blocked = scene
        .forge
        .claim(tried, READY, &scene.claim("box"))
        .await
        .unwrap();
    assert!(matches!(blocked, Claimed::Lost { .. }));

    scene.end(&claim, Outcome::Failed).await;
    let history = scene.forge.history(tried).await.unwrap();
    let count = release_dead(&scene.home, &scene.forge, tried, &history.unreleased).await;
    assert_eq!(count.unwrap(), 1);
    assert_eq!(scene.labels(tried).await, [READY]);
    assert_eq!(scene.attempts(tried).await, 0);
    let free = scene
        .forge
        .claim(tried, READY, &scene.claim("box"))
        .await
        .unwrap();
    assert_eq!(free, Claimed::Won);
}
