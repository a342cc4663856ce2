//! What was said in the chat is dealt with once, in its order, whoever ends meanwhile.

use std::collections::BTreeSet;

use carson_store::{Kept, NewHeard, Store};
use serde_json::json;
use tokio::task::JoinSet;

use crate::fixture::{Place, at, on_both};

on_both!(
    what_is_sent_again_is_kept_once,
    a_row_is_taken_by_one_and_again_where_that_one_ended,
    what_changes_keeps_its_order_and_waits_for_no_look,
    many_takers_share_all_rows,
    what_floods_in_is_not_kept_and_comes_again,
);

fn heard(names: &[&str], who: &str, place: &str, changes: bool) -> NewHeard {
    NewHeard {
        names: names.iter().map(|&name| name.to_owned()).collect(),
        who: who.to_owned(),
        place: place.to_owned(),
        changes,
        heard: json!({"text": names[0]}),
    }
}

async fn keep(store: &Store, name: &str, who: &str, place: &str, changes: bool) {
    let kept = store
        .keep_heard(&heard(&[name], who, place, changes), at(0))
        .await;
    assert_eq!(kept.unwrap(), Kept::New);
}

/// The number of what is taken, and what it is.
async fn take(store: &Store, changes: bool, now: i64) -> Option<(i64, String)> {
    let row = store.take_heard(changes, at(now)).await.unwrap()?;
    Some((row.seq, row.heard["text"].as_str().unwrap().to_owned()))
}

async fn text(store: &Store, changes: bool, now: i64) -> Option<String> {
    Some(take(store, changes, now).await?.1)
}

async fn what_is_sent_again_is_kept_once(place: Place) {
    let store = place.open().await;
    let one = heard(&["event 1", "envelope 1"], "ann", "t", true);
    assert_eq!(store.keep_heard(&one, at(0)).await.unwrap(), Kept::New);
    let again = heard(&["event 1", "envelope 2"], "ann", "t", true);
    assert_eq!(store.keep_heard(&again, at(1)).await.unwrap(), Kept::Known);
    let (seq, told) = take(&store, true, 1).await.unwrap();
    assert_eq!(told, "event 1");
    store.heard_is_dealt_with(seq).await.unwrap();
    let store = place.open().await;
    assert_eq!(store.keep_heard(&one, at(2)).await.unwrap(), Kept::Known);
    assert_eq!(take(&store, true, 9_999).await, None);
}

async fn a_row_is_taken_by_one_and_again_where_that_one_ended(place: Place) {
    let store = place.open().await;
    keep(&store, "run", "ann", "t", true).await;
    let row = store.take_heard(true, at(0)).await.unwrap().unwrap();
    assert!(!row.is_begun);
    store.begin_heard(row.seq, at(1)).await.unwrap();
    let other = place.open().await;
    assert_eq!(take(&other, true, 29).await, None);
    store.hold_heard(row.seq, at(20)).await.unwrap();
    assert_eq!(take(&other, true, 49).await, None, "it is held still");
    let again = other.take_heard(true, at(50)).await.unwrap().unwrap();
    assert!(again.is_begun, "it is known that it was begun");
    other.put_heard_back(row.seq, at(55)).await.unwrap();
    assert_eq!(take(&store, true, 54).await, None);
    assert!(take(&store, true, 55).await.is_some());
    // A clock that was set back holds nothing up.
    assert!(take(&store, true, -3_600).await.is_some());
}

async fn what_changes_keeps_its_order_and_waits_for_no_look(place: Place) {
    let store = place.open().await;
    keep(&store, "ann looks", "ann", "1", false).await;
    keep(&store, "ann changes", "ann", "2", true).await;
    keep(&store, "ann changes more", "ann", "3", true).await;
    keep(&store, "bob answers her", "bob", "2", true).await;
    keep(&store, "bob looks", "bob", "4", false).await;
    keep(&store, "eve looks at the first thread", "eve", "1", false).await;
    keep(&store, "ann looks again", "ann", "5", false).await;
    let look = take(&store, false, 0).await.unwrap();
    assert_eq!(look.1, "ann looks");
    assert_eq!(take(&store, false, 0).await, None, "each waits for others");
    let first = take(&store, true, 0).await.unwrap();
    assert_eq!(first.1, "ann changes", "it waits for no look");
    assert_eq!(take(&store, true, 0).await, None);
    store.heard_is_dealt_with(first.0).await.unwrap();
    let mut now = BTreeSet::new();
    while let Some(text) = text(&store, true, 1).await {
        now.insert(text);
    }
    let both = ["ann changes more", "bob answers her"].map(str::to_owned);
    assert_eq!(now, both.into());
    assert_eq!(take(&store, false, 1).await, None);
    store.heard_is_dealt_with(look.0).await.unwrap();
    let told = text(&store, false, 1).await.unwrap();
    assert_eq!(told, "eve looks at the first thread");
}

async fn many_takers_share_all_rows(place: Place) {
    let store = place.open().await;
    for n in 0..40 {
        keep(
            &store,
            &n.to_string(),
            &format!("U{n}"),
            &format!("t{n}"),
            true,
        )
        .await;
    }
    let mut takers = JoinSet::new();
    for _ in 0..6 {
        let store = place.open().await;
        takers.spawn(async move {
            let mut taken = Vec::new();
            let mut empty = 0;
            while empty < 20 {
                match take(&store, true, 1).await {
                    Some((seq, text)) => {
                        taken.push(text);
                        store.heard_is_dealt_with(seq).await.unwrap();
                    }
                    None => empty += 1,
                }
            }
            taken
        });
    }
    let taken: Vec<String> = takers.join_all().await.into_iter().flatten().collect();
    assert_eq!(taken.len(), 40, "each of them once");
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>().len(), 40);
}

async fn what_floods_in_is_not_kept_and_comes_again(place: Place) {
    let store = place.open().await;
    for n in 0..1_000 {
        keep(&store, &n.to_string(), "eve", "t", false).await;
    }
    let more = heard(&["more"], "ann", "t", true);
    assert_eq!(store.keep_heard(&more, at(1)).await.unwrap(), Kept::Full);
    let (seq, _) = take(&store, false, 1).await.unwrap();
    store.heard_is_dealt_with(seq).await.unwrap();
    assert_eq!(store.keep_heard(&more, at(2)).await.unwrap(), Kept::New);
}
