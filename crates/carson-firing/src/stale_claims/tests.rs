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

fn write(home: &Path, file: &str, text: &str) {
    let path = home.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
}

struct Scene {
    house: Home,
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
        fleet.home.create().unwrap();
        let house = Home {
            inspector: carson_proc::inspector::Inspector::here(),
            store: Store::open(&fleet.database).await.unwrap(),
            fleet: Arc::new(fleet),
            clock: Clock::system(),
            program: "/nowhere/carson".into(),
            environ: Vec::new(),
            user_home: None,
            redactor: Redactor::default(),
        };
        let repo = house.fleet.repos.values().next().unwrap();
        let forge = house.forge(repo).await.unwrap();
        Self {
            house,
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
            at: self.house.clock.now(),
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
        let claimed = self.house.store.claim_firing(&firing).await.unwrap();
        assert_eq!(claimed, carson_store::Claim::Won);
    }

    async fn end(&self, claim: &Claim, outcome: Outcome) {
        let ending = Ending {
            outcome,
            reason: String::new(),
            skip: None,
            at: self.house.clock.now(),
            thresholds: Thresholds {
                fail_streak: 0,
                max_rejections: 0,
            },
            posts: Vec::new(),
        };
        assert!(
            self.house
                .store
                .end_firing(claim.firing, &ending)
                .await
                .unwrap()
        );
    }

    async fn sweep(&self) -> u32 {
        sweep(&self.house).await.unwrap()
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
    let home = Scene::new().await;
    for (outcome, labels, attempts) in [
        (Outcome::Failed, vec![READY], 1),
        (Outcome::Crashed, vec![READY], 1),
        (Outcome::RateLimited, vec![READY], 0),
        (Outcome::Ok, vec!["carson:pr-open"], 0),
        (Outcome::AlreadyDone, vec!["carson:done"], 0),
    ] {
        let number = home.issue().await;
        let claim = home.won(number, "box").await;
        assert_eq!(home.sweep().await, 0, "it lives");
        assert_eq!(home.labels(number).await, [IN_FLIGHT]);

        home.end(&claim, outcome).await;
        assert_eq!(home.sweep().await, 1);
        assert_eq!(home.sweep().await, 0, "once");
        assert_eq!(home.labels(number).await, labels, "{outcome}");
        assert_eq!(home.attempts(number).await, attempts, "{outcome}");
        let closed = home.forge.issue(number).await.unwrap().state == carson_forge::State::Closed;
        assert_eq!(closed, outcome == Outcome::AlreadyDone);
    }
}

#[tokio::test]
async fn what_others_hold_is_theirs_until_it_is_stale() {
    let home = Scene::new().await;
    let (other, unknown) = (home.issue().await, home.issue().await);
    let claim = home.won(other, "another").await;
    home.end(&claim, Outcome::Failed).await;
    // Of another fleet, perhaps: no row knows it.
    let strange = home.claim("box");
    home.forge.claim(unknown, READY, &strange).await.unwrap();
    assert_eq!(home.sweep().await, 0);

    let mut later = home.house.clone();
    later.clock = Clock::manual(home.house.clock.now() + TimeDelta::hours(25));
    assert_eq!(sweep(&later).await.unwrap(), 2);
    for number in [other, unknown] {
        assert_eq!(home.labels(number).await, [READY]);
        assert_eq!(home.attempts(number).await, 1);
    }
}

#[tokio::test]
async fn a_dead_claim_beside_a_living_one_changes_no_label() {
    let home = Scene::new().await;
    let number = home.issue().await;
    let dead = home.won(number, "box").await;
    home.end(&dead, Outcome::Ok).await;
    let living = home.claim("box");
    home.row(&living, number).await;
    let history = home.forge.history(number).await.unwrap();
    let both = [history.unreleased[0].clone(), living.clone()];
    let count = release_dead(&home.house, &home.forge, number, &both).await;
    assert_eq!(count.unwrap(), 1);
    assert_eq!(home.labels(number).await, [IN_FLIGHT]);
}

#[tokio::test]
async fn a_claim_that_could_not_be_withdrawn_costs_the_issue_nothing() {
    let home = Scene::new().await;
    let (tried, worked) = (home.issue().await, home.issue().await);
    // It claimed one, could not withdraw, and worked on another.
    let claim = home.claim("box");
    home.row(&claim, worked).await;
    home.forge.claim(tried, READY, &claim).await.unwrap();
    home.forge
        .set_labels(tried, &[READY], &[IN_FLIGHT])
        .await
        .unwrap();
    let blocked = home
        .forge
        .claim(tried, READY, &home.claim("box"))
        .await
        .unwrap();
    assert!(matches!(blocked, Claimed::Lost { .. }));

    home.end(&claim, Outcome::Failed).await;
    let history = home.forge.history(tried).await.unwrap();
    let count = release_dead(&home.house, &home.forge, tried, &history.unreleased).await;
    assert_eq!(count.unwrap(), 1);
    assert_eq!(home.labels(tried).await, [READY]);
    assert_eq!(home.attempts(tried).await, 0);
    let free = home
        .forge
        .claim(tried, READY, &home.claim("box"))
        .await
        .unwrap();
    assert_eq!(free, Claimed::Won);
}
