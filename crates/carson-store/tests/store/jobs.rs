//! Jobs and what they clear away.

use std::time::Duration;

use carson_core::Outcome;
use carson_core::admission::Block;
use carson_store::{BlockSetter, JobRow, PauseScope, PostKind, Stale};

use crate::fixture::{Place, at, claimed, ending, on_both, post};

on_both!(
    a_job_is_known_by_its_last_run,
    pauses_that_ran_out_go_and_others_stay,
    only_old_rows_go
);

fn ran(host: &str, said: &str, seconds: i64) -> JobRow {
    JobRow {
        host: host.into(),
        name: "benches".into(),
        started_at: at(seconds),
        ended_at: at(seconds + 1),
        next_at: at(seconds + 60),
        did: 3,
        failures: 0,
        said: said.into(),
    }
}

async fn a_job_is_known_by_its_last_run(place: Place) {
    let store = place.open().await;
    for (host, said, when) in [
        ("here", "one", 0),
        ("there", "two", 5),
        ("here", "three", 60),
    ] {
        store.job_ran(&ran(host, said, when)).await.unwrap();
    }
    let here = store.jobs(Some(&"here".parse().unwrap())).await.unwrap();
    assert_eq!(here, [ran("here", "three", 60)]);
    assert_eq!(store.jobs(None).await.unwrap().len(), 2);
}

async fn pauses_that_ran_out_go_and_others_stay(place: Place) {
    let store = place.open().await;
    for (role, until) in [("past", Some(10)), ("future", Some(30)), ("ever", None)] {
        let scope = PauseScope::Role(role.parse().unwrap());
        let until = until.map(at);
        store
            .set_pause(&scope, "r", until, "operator", at(0))
            .await
            .unwrap();
    }
    assert_eq!(store.drop_ended_pauses(at(9)).await.unwrap(), [""; 0]);
    assert_eq!(
        store.drop_ended_pauses(at(10)).await.unwrap(),
        ["role past"]
    );
    assert_eq!(store.pauses().await.unwrap().len(), 2);
}

async fn only_old_rows_go(place: Place) {
    let store = place.open().await;
    let (live, dead) = (
        claimed(&store, "live", 0).await,
        claimed(&store, "dead", 1).await,
    );
    store
        .as_firing(dead, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "", 2))
        .await
        .unwrap();
    for (thread, title) in [(live, "kept"), (dead, "goes")] {
        let post = post(Some(thread), PostKind::Root, title, 3);
        store.file_post(&post).await.unwrap();
        store.post_sent(post.id, Some("1.2"), at(4)).await.unwrap();
        let event = carson_core::Event::BreakerReset { by: "operator" };
        store.event(&event, None, None, at(4)).await.unwrap();
    }
    for (account, until) in [("a", Some(5)), ("b", Some(50)), ("c", None)] {
        let block = Block {
            account: account.parse().unwrap(),
            until: until.map(at),
            reason: "r".into(),
            kind: None,
        };
        store
            .set_block(&block, BlockSetter::Operator, at(0))
            .await
            .unwrap();
    }
    let drop = |kind, before| {
        let store = store.clone();
        async move { store.drop_stale(kind, at(before)).await.unwrap() }
    };
    assert_eq!(drop(Stale::SentPosts, 4).await, 0);
    assert_eq!(drop(Stale::SentPosts, 5).await, 1);
    assert!(store.thread_ts("slack", live).await.unwrap().is_some());
    assert_eq!(
        (drop(Stale::Events, 4).await, drop(Stale::Events, 5).await),
        (0, 2)
    );
    assert_eq!(drop(Stale::EndedBlocks, 20).await, 1);
    assert_eq!(store.blocks().await.unwrap().len(), 2);

    let account = "a".parse().unwrap();
    let patient = store.clone().patient(Duration::from_secs(60));
    let noted = patient.note_unreached(&account, live, "away", at(5));
    noted.await.unwrap();
    let left = u64::from(store.has_leases());
    let ever = 1 << 32;
    assert_eq!(
        (
            drop(Stale::CommitKeys, 0).await,
            drop(Stale::CommitKeys, ever).await
        ),
        (0, left)
    );
}
