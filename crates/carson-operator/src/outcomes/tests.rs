//! The rows, without a forge that could say more.

use carson_core::work::WorkKey;
use carson_core::{FiringId, Outcome};
use carson_store::{Claim, Ending, Judged, NewFiring, Progress, PullEndRow, Store};
use chrono::TimeDelta;

use carson_core::pull_end::PullEnd;

use super::*;
use crate::tests::home_with;

fn widget() -> RepoName {
    "widget".parse().unwrap()
}

/// A second of the day on which all of it happened.
fn at(second: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::seconds(second)
}

/// What a firing did on an issue.
struct Did {
    issue: u64,
    pull: Option<u64>,
    pushed: Option<&'static str>,
    cost_usd: Option<f64>,
}

async fn fired(store: &Store, second: i64, did: Did) -> FiringId {
    let new = NewFiring {
        id: FiringId::new(),
        role: "hand".parse().unwrap(),
        slot: None,
        host: "box".parse().unwrap(),
        account: Some("claude".parse().unwrap()),
        deadline_at: at(second + 60),
        claimed_at: at(second),
        missed: 0,
        repo: None,
        work: None,
        probes: None,
    };
    let id = new.id;
    assert_eq!(store.claim_firing(&new).await.unwrap(), Claim::Won);
    let work = WorkKey::Issue(did.issue);
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .take_work(&widget(), work, "t")
        .await
        .unwrap();
    let so_far = Progress {
        sessions: 1,
        cost_usd: did.cost_usd,
        ..Progress::default()
    };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .progress(&so_far, true)
        .await
        .unwrap();
    if let Some(sha) = did.pushed {
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .set_judged(Judged::Pushed, sha)
            .await
            .unwrap();
    }
    if let Some(pull) = did.pull {
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .set_pull(pull, "u")
            .await
            .unwrap();
    }
    let ending = Ending {
        outcome: Outcome::Ok,
        reason: String::new(),
        skip: None,
        at: at(second + 1),
        thresholds: None,
        posts: Vec::new(),
    };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&ending)
        .await
        .unwrap();
    id
}

fn did(issue: u64, pull: Option<u64>, pushed: Option<&'static str>) -> Did {
    Did {
        issue,
        pull,
        pushed,
        cost_usd: Some(0.5),
    }
}

fn ended(number: u64, end: PullEnd, second: i64) -> PullEndRow {
    PullEndRow {
        repo: widget(),
        number,
        end,
        base: "main".to_owned(),
        opened_at: at(0),
        ended_at: Some(at(second)),
        offered: None,
        landed: None,
        looked_at: at(second) + TimeDelta::days(20),
    }
}

#[tokio::test]
async fn the_newest_are_looked_at_and_put_down_to_who_pushed_last() {
    let (_dir, home) = home_with("", &[]).await;
    let store = &home.store;
    fired(store, 0, did(1, Some(11), Some("a"))).await;
    let opened = fired(store, 10, did(2, Some(12), None)).await;
    fired(store, 20, did(3, Some(13), Some("c"))).await;
    fired(store, 30, did(3, Some(13), None)).await;
    let pushed = fired(store, 40, did(3, Some(13), Some("d"))).await;
    fired(store, 50, did(3, Some(13), None)).await;
    let (found, left_out) = opened::since(&home, at(0), 2).await.unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.number, one.last.id)).collect();
    assert_eq!(found, [(13, pushed), (12, opened)]);
    assert_eq!(left_out, 1);
}

#[tokio::test]
async fn a_pull_request_costs_what_all_attempts_at_its_work_did_until_it_ended() {
    let (_dir, home) = home_with("", &[]).await;
    let store = &home.store;
    fired(store, 0, did(1, None, None)).await;
    fired(store, 10, did(1, Some(11), Some("a"))).await;
    // After the merge somebody opened the issue again.
    fired(store, 90, did(1, Some(12), Some("b"))).await;
    let untold = Did {
        cost_usd: None,
        ..did(2, Some(13), Some("c"))
    };
    fired(store, 95, untold).await;
    for row in [
        ended(11, PullEnd::Untouched, 60),
        ended(13, PullEnd::Closed, 99),
    ] {
        store.note_pull_end(&row).await.unwrap();
    }
    let ask = Outcomes {
        since: "2020-01-01".to_owned(),
        by: role(),
    };
    let ledger = ask.answer(&home).await.unwrap();
    let each = ledger.pulls.iter();
    let each: Vec<_> = each
        .map(|one| (one.number, one.end, one.firings, one.cost_usd))
        .collect();
    assert_eq!(
        each,
        [
            (13, Some(PullEnd::Closed), 1, None),
            (12, None, 3, Some(1.5)),
            (11, Some(PullEnd::Untouched), 2, Some(1.0)),
        ]
    );
    assert_eq!(ledger.all.cost_per_merged, Some(1.0));
    assert_eq!((ledger.all.untold, ledger.left_out), (1, 0));
    // What was noted is known though the repository is gone.
    let [untold] = &ledger.untold[..] else {
        panic!("{ledger:#?}")
    };
    assert_eq!(untold.pulls, [12]);
    assert!(untold.why.contains("no such repository"), "{untold:?}");
}
