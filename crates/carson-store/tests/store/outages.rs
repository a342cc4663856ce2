//! Providers that are down: the count, the block, and who asks again.

use carson_core::admission::Block;
use carson_core::{AccountName, BlockKind, FiringId};
use carson_store::{BlockRow, BlockSetter, Outage, Probe, Store};
use chrono::{DateTime, TimeDelta, Utc};

use crate::fixture::{Place, at, on_both};

on_both!(
    five_in_a_row_block_the_account_and_more_change_nothing,
    any_answer_begins_the_count_anew,
    all_that_fail_at_once_are_counted,
    of_many_one_asks_whether_it_is_back,
    each_wait_is_twice_the_one_before_up_to_an_hour,
    a_longer_block_of_another_kind_stands,
    the_operator_has_the_last_word_on_an_outage_too,
);

fn account() -> AccountName {
    "claude".parse().unwrap()
}

async fn fails(store: &Store, now: i64) -> Option<DateTime<Utc>> {
    fails_as(store, FiringId::new(), at(now)).await
}

async fn fails_as(store: &Store, firing: FiringId, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let why = "outage: away";
    store
        .note_unreached(&account(), firing, why, now)
        .await
        .unwrap()
}

/// Five sessions fail, the last one four seconds after the first: blocked until 304.
async fn goes_down(store: &Store) {
    for now in 0..4 {
        assert_eq!(fails(store, now).await, None);
    }
    assert_eq!(fails(store, 4).await, Some(at(304)));
}

async fn only_block(store: &Store) -> BlockRow {
    let mut rows = store.block_rows().await.unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

async fn five_in_a_row_block_the_account_and_more_change_nothing(place: Place) {
    let store = place.open().await;
    goes_down(&store).await;
    let first = only_block(&store).await;
    assert_eq!((first.kind, first.set_at), (Some(BlockKind::Outage), at(4)));
    // They were on their way.
    assert_eq!(fails(&place.open().await, 100).await, Some(at(304)));
    let second = only_block(&store).await;
    assert_eq!((second.until, second.set_by), (Some(at(304)), first.set_by));
    // Nor does one that comes in when everybody may ask again.
    assert_eq!(fails(&store, 305).await, None);
    assert_eq!(only_block(&store).await.until, Some(at(304)));
    // It says nothing of the account's limits.
    assert_eq!(store.last_block(&account()).await.unwrap(), None);
}

async fn any_answer_begins_the_count_anew(place: Place) {
    let store = place.open().await;
    for now in 0..4 {
        fails(&store, now).await;
    }
    assert!(!store.note_reached(&account(), at(4)).await.unwrap());
    goes_down(&store).await;
    assert!(store.note_reached(&account(), at(5)).await.unwrap());
    assert!(store.blocks().await.unwrap().is_empty());
    assert!(!store.note_reached(&account(), at(6)).await.unwrap());
    assert_eq!(fails(&store, 7).await, None);
}

async fn all_that_fail_at_once_are_counted(place: Place) {
    let mut firings = Vec::new();
    for _ in 0..8 {
        let store = place.open().await;
        firings.push(tokio::spawn(async move { fails(&store, 1).await }));
    }
    let mut blocked = 0;
    for firing in firings {
        blocked += usize::from(firing.await.unwrap().is_some());
    }
    assert_eq!(blocked, 4, "the fifth, and those after it");
    only_block(&place.open().await).await;
}

async fn of_many_one_asks_whether_it_is_back(place: Place) {
    let store = place.open().await;
    let outage = async |now| store.outage(&account(), at(now)).await.unwrap();
    let take = async |now| store.take_probe(&account(), FiringId::new(), at(now)).await;
    assert_eq!(take(0).await.unwrap(), Probe::Unneeded);
    goes_down(&store).await;
    assert_eq!(outage(10).await, Some(Outage::Waits));
    assert_eq!(
        take(10).await.unwrap(),
        Probe::Others,
        "the wait is not over"
    );
    assert_eq!(outage(304).await, None);

    let mut asking = Vec::new();
    for _ in 0..8 {
        let (store, firing) = (place.open().await, FiringId::new());
        asking.push(tokio::spawn(async move {
            let probe = store.take_probe(&account(), firing, at(305)).await.unwrap();
            (probe, firing)
        }));
    }
    let mut ours = Vec::new();
    for one in asking {
        let (probe, firing) = one.await.unwrap();
        ours.extend((probe == Probe::Ours).then_some(firing));
    }
    let [firing] = ours[..] else {
        panic!("{} ask", ours.len())
    };
    assert_eq!(outage(306).await, Some(Outage::IsAsked));
    assert_eq!(only_block(&store).await.until, Some(at(305 + 600)));

    let failed = fails_as(&store, firing, at(310)).await;
    assert_eq!(failed, Some(at(310 + 600)));
    assert_eq!(outage(311).await, Some(Outage::Waits));
    let row = only_block(&store).await;
    assert_ne!(row.set_by, firing.to_string(), "one alert is enough");
}

async fn each_wait_is_twice_the_one_before_up_to_an_hour(place: Place) {
    let store = place.open().await;
    goes_down(&store).await;
    let mut now = at(304);
    for minutes in [10, 20, 40, 60, 60] {
        let firing = FiringId::new();
        let probe = store.take_probe(&account(), firing, now).await.unwrap();
        assert_eq!(probe, Probe::Ours);
        let next = now + TimeDelta::minutes(minutes);
        assert_eq!(fails_as(&store, firing, now).await, Some(next));
        now = next;
    }
}

async fn a_longer_block_of_another_kind_stands(place: Place) {
    let store = place.open().await;
    let limit = Block {
        account: account(),
        until: Some(at(9_000)),
        reason: "rate limit".into(),
        kind: Some(BlockKind::Limit),
    };
    let by = BlockSetter::Firing(FiringId::new());
    assert!(store.set_block(&limit, by, at(0)).await.unwrap());
    for now in 1..8 {
        assert_eq!(fails(&store, now).await, None);
    }
    assert_eq!(only_block(&store).await.kind, Some(BlockKind::Limit));
    assert_eq!(fails(&store, 9_001).await, Some(at(9_301)));
    assert_eq!(only_block(&store).await.kind, Some(BlockKind::Outage));
}

async fn the_operator_has_the_last_word_on_an_outage_too(place: Place) {
    let store = place.open().await;
    goes_down(&store).await;
    assert!(store.clear_block(&account(), at(5)).await.unwrap());
    let probe = store.take_probe(&account(), FiringId::new(), at(6)).await;
    assert_eq!(probe.unwrap(), Probe::Unneeded);
    goes_down(&store).await;
}
