//! What people decide, and the faces of daemons.

use std::collections::BTreeMap;

use carson_core::Event;
use carson_store::{Decision, NewApproval, Store};

use crate::fixture::{Place, at, on_both};

on_both!(
    a_decision_and_its_event_stand_together_once,
    what_is_answered_no_more_has_buttons_until_they_are_off,
    faces_are_exactly_those_that_are_shut,
);

async fn asked(store: &Store, id: &str) {
    let new = NewApproval {
        id: id.to_owned(),
        plan: None,
        repo: "widget".parse().unwrap(),
        issue: None,
        body: "Say hello".to_owned(),
        hash: "h".to_owned(),
        asked_at: at(0),
        expires_at: at(100),
    };
    assert!(store.ask_approval(&new).await.unwrap());
    store.approval_asked(id, ("C1", id), at(1)).await.unwrap();
}

async fn decided(store: &Store, id: &str, hash: &str, seconds: i64) -> bool {
    let event = Event::ApprovalDecided {
        what: id.to_owned(),
        decision: "approved",
        by: "ann".to_owned(),
    };
    let said = (Decision::Approved, "ann");
    store
        .decide_approval(id, hash, said, (&event, None), at(seconds))
        .await
        .unwrap()
}

async fn a_decision_and_its_event_stand_together_once(place: Place) {
    let store = place.open().await;
    asked(&store, "one").await;
    asked(&store, "late").await;
    assert!(!decided(&store, "one", "other", 2).await);
    assert!(!decided(&store, "late", "h", 100).await);
    assert_eq!(
        store.events(9).await.unwrap().len(),
        0,
        "nothing was decided"
    );
    assert!(decided(&store, "one", "h", 3).await);
    assert!(!decided(&store, "one", "h", 4).await);
    let events = store.events(9).await.unwrap();
    let events: Vec<_> = events
        .iter()
        .map(|row| (row.kind.as_str(), row.at))
        .collect();
    assert_eq!(events, [("approval.decided", at(3))]);
    let row = store.approval("one").await.unwrap().unwrap();
    assert_eq!(row.decided_at, Some(at(3)));
}

async fn what_is_answered_no_more_has_buttons_until_they_are_off(place: Place) {
    let store = place.open().await;
    for id in ["a", "b", "c"] {
        asked(&store, id).await;
    }
    let with = async |seconds| {
        let rows = store.approvals_with_buttons(at(seconds)).await.unwrap();
        let mut ids: Vec<_> = rows.into_iter().map(|row| row.id).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(with(2).await, [""; 0]);
    decided(&store, "a", "h", 3).await;
    store.close_approval("b", at(4)).await.unwrap();
    assert_eq!(with(5).await, ["a", "b"]);
    assert_eq!(with(100).await, ["a", "b", "c"], "one has expired");
    store.approval_is_bare("a", at(101)).await.unwrap();
    assert_eq!(with(101).await, ["b", "c"]);
    assert_eq!(with(86_500).await, [""; 0], "after a day they stay");
}

async fn faces_are_exactly_those_that_are_shut(place: Place) {
    let store = place.open().await;
    let host = "box".parse().unwrap();
    let set = async |shut: &[(&'static str, &str)], seconds| {
        let shut: BTreeMap<_, _> = shut
            .iter()
            .map(|(n, why)| (*n, (*why).to_owned()))
            .collect();
        store.set_faces(&host, &shut, at(seconds)).await.unwrap();
        let rows = store.faces().await.unwrap();
        let of_us = rows.into_iter().filter(|row| row.host == "box");
        of_us
            .map(|row| (row.name, row.why, row.since))
            .collect::<Vec<_>>()
    };
    let row = |name: &str, why: &str, seconds| (name.to_owned(), why.to_owned(), at(seconds));
    let elsewhere = BTreeMap::from([("page", "taken".to_owned())]);
    let other = "other".parse().unwrap();
    store.set_faces(&other, &elsewhere, at(0)).await.unwrap();
    assert_eq!(set(&[("chat", "no")], 1).await, [row("chat", "no", 1)]);
    let two = [row("chat", "no", 1), row("page", "taken", 2)];
    assert_eq!(set(&[("chat", "no"), ("page", "taken")], 2).await, two);
    assert_eq!(set(&[("page", "away")], 3).await, [row("page", "away", 3)]);
    assert_eq!(set(&[], 4).await, []);
    assert_eq!(
        store.faces().await.unwrap().len(),
        1,
        "another host's stays"
    );
}
