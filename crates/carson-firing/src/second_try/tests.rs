use carson_core::settle::Settled;
use carson_core::{FiringId, RepoName};
use carson_store::{Claim, Ending, NewFiring, Progress, Store};
use chrono::{DateTime, TimeDelta, Utc};

use super::*;
use crate::queue::rests_until;

const ISSUE: u64 = 3;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

fn spare_since(minutes: i64) -> Spare {
    Spare {
        account: "claude".parse().unwrap(),
        window: "five_hour".into(),
        left: 0.5,
        per_token: Some(0.001),
        begins: now() - TimeDelta::minutes(minutes),
        until: now() + TimeDelta::minutes(10),
    }
}

struct Scene {
    store: Store,
    repo: RepoName,
    _dir: tempfile::TempDir,
}

impl Scene {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("carson.db").display());
        Self {
            store: Store::open(&url).await.unwrap(),
            repo: "widget".parse().unwrap(),
            _dir: dir,
        }
    }

    /// A firing of the role that ended so many minutes ago, with a pull request or as a second try beside one.
    async fn fired(&self, ago: i64, pull: Option<u64>, second: Option<u64>) {
        let (store, at) = (&self.store, now() - TimeDelta::minutes(ago));
        let new = NewFiring {
            id: FiringId::new(),
            role: "hand".parse().unwrap(),
            slot: None,
            host: "box".parse().unwrap(),
            account: Some("claude".parse().unwrap()),
            deadline_at: at,
            claimed_at: at,
            missed: 0,
            repo: None,
            work: None,
            probes: None,
        };
        assert_eq!(store.claim_firing(&new).await.unwrap(), Claim::Won);
        let (repo, key) = (&self.repo, WorkKey::Issue(ISSUE));
        assert!(
            store
                .as_firing(new.id, carson_store::Epoch::FIRST)
                .take_work(repo, key, "t")
                .await
                .unwrap()
        );
        let branch = format!("carson/hand/{ago}");
        let bench = std::path::Path::new("/nowhere");
        store
            .as_firing(new.id, carson_store::Epoch::FIRST)
            .set_place(&branch, "0", bench)
            .await
            .unwrap();
        let so_far = Progress {
            tokens_in: 300,
            tokens_out: 100,
            ..Progress::default()
        };
        store
            .as_firing(new.id, carson_store::Epoch::FIRST)
            .progress(&so_far, true)
            .await
            .unwrap();
        if let Some(pull) = pull {
            store
                .as_firing(new.id, carson_store::Epoch::FIRST)
                .set_pull(pull, "url")
                .await
                .unwrap();
        }
        if let Some(first) = second {
            store
                .as_firing(new.id, carson_store::Epoch::FIRST)
                .set_second_try(first)
                .await
                .unwrap();
        }
        let settled = Settled::new(Outcome::Partial, "half");
        let ending = Ending {
            outcome: settled.outcome,
            reason: settled.reason,
            skip: None,
            at,
            thresholds: None,
            posts: Vec::new(),
        };
        store
            .as_firing(new.id, carson_store::Epoch::FIRST)
            .end_firing(&ending)
            .await
            .unwrap();
    }

    async fn rows(&self) -> Vec<Row> {
        let key = WorkKey::Issue(ISSUE);
        self.store.firings_of(&self.repo, key).await.unwrap()
    }

    async fn found(&self, spare: &Spare) -> Option<(FirstTry, String)> {
        let rows = self.rows().await;
        let found = first_try(&rows, &"hand".parse().unwrap(), spare);
        found.map(|(first, branch)| (first, branch.to_owned()))
    }
}

#[tokio::test]
async fn there_is_one_second_try_beside_a_draft_and_one_of_an_issue_in_a_window() {
    let scene = Scene::new().await;
    let spare = spare_since(60);
    assert_eq!(scene.found(&spare).await, None, "nothing was tried at all");
    scene.fired(300, None, None).await;
    assert_eq!(scene.found(&spare).await, None, "it left no draft");
    scene.fired(200, Some(7), None).await;
    let first = FirstTry { pull: 7, failed: 2 };
    let draft = Some((first, "carson/hand/200".to_owned()));
    assert_eq!(scene.found(&spare).await, draft);
    // In the window before.
    scene.fired(100, None, Some(7)).await;
    assert_eq!(scene.found(&spare).await, None, "there was one beside it");
    scene.fired(90, Some(9), None).await;
    let (first, _) = scene.found(&spare).await.expect("there is a new draft");
    assert_eq!(first.pull, 9);
    assert_eq!(
        scene.found(&spare_since(110)).await,
        None,
        "the window is the same"
    );
}

#[tokio::test]
async fn what_took_more_than_is_left_over_is_not_begun_again() {
    let scene = Scene::new().await;
    scene.fired(200, Some(7), None).await;
    let narrow = Spare {
        left: 0.39,
        ..spare_since(60)
    };
    assert_eq!(scene.found(&narrow).await, None);
    assert!(scene.found(&spare_since(60)).await.is_some());
}

#[tokio::test]
async fn no_first_try_rests_because_a_second_one_failed() {
    let scene = Scene::new().await;
    scene.fired(200, Some(7), None).await;
    scene.fired(0, None, Some(7)).await;
    let long_ago = now() - TimeDelta::minutes(190);
    assert!(rests_until(&scene.rows().await).is_some_and(|until| until < long_ago));
    scene.fired(0, Some(7), None).await;
    assert!(rests_until(&scene.rows().await).is_some_and(|until| until > now()));
}
