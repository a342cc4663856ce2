//! What is counted of all firings.

use carson_core::Outcome;
use carson_store::{BOUNDS, EndedCount, LastedCount, Progress, Store};

use crate::fixture::{Place, at, claimed, ending, on_both};

on_both!(
    what_ended_is_counted_by_role_and_outcome,
    what_had_a_session_is_counted_by_how_long_it_took,
    the_size_is_that_of_the_database,
);

/// A firing that began at its slot and ended so many seconds later.
async fn lasted(store: &Store, role: &str, slot: i64, seconds: i64) {
    let id = claimed(store, role, slot).await;
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .start_firing((7, 1), None, at(slot))
            .await
            .unwrap()
    );
    let so_far = Progress {
        sessions: 1,
        ..Progress::default()
    };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .progress(&so_far, true)
        .await
        .unwrap();
    let end = ending(Outcome::Ok, "", slot + seconds);
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&end)
        .await
        .unwrap();
}

async fn what_ended_is_counted_by_role_and_outcome(place: Place) {
    let store = place.open().await;
    for (role, slot, outcome) in [
        ("one", 0, Outcome::Ok),
        ("one", 10, Outcome::Ok),
        ("one", 20, Outcome::Silent),
        ("two", 30, Outcome::Failed),
    ] {
        let id = claimed(&store, role, slot).await;
        let end = ending(outcome, "", slot + 1);
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&end)
            .await
            .unwrap();
    }
    // One that runs is in no count.
    claimed(&store, "two", 40).await;
    let count = |role: &str, outcome: &str, firings| EndedCount {
        role: role.to_owned(),
        outcome: outcome.to_owned(),
        firings,
    };
    let ever = [
        count("one", "OK", 2),
        count("one", "SILENT", 1),
        count("two", "FAILED", 1),
    ];
    assert_eq!(store.ended_counts(None).await.unwrap(), ever);
    let lately = [count("one", "SILENT", 1), count("two", "FAILED", 1)];
    assert_eq!(store.ended_counts(Some(at(20))).await.unwrap(), lately);
}

async fn what_had_a_session_is_counted_by_how_long_it_took(place: Place) {
    let store = place.open().await;
    let mut slot = 0;
    // At each bound, and just above it.
    for bound in BOUNDS {
        for seconds in [i64::from(bound), i64::from(bound) + 1] {
            lasted(&store, "one", slot, seconds).await;
            slot += 1;
        }
    }
    // The clock was set back while it ran.
    lasted(&store, "two", 500, -30).await;
    // It found nothing: no session.
    let id = claimed(&store, "two", 600).await;
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .start_firing((7, 1), None, at(600))
        .await
        .unwrap();
    let end = ending(Outcome::Silent, "", 601);
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&end)
        .await
        .unwrap();

    let found = store.lasted_counts(None).await.unwrap();
    let (two, one): (Vec<LastedCount>, Vec<LastedCount>) =
        found.into_iter().partition(|row| row.role == "two");
    let in_each: Vec<(i64, i64)> = one.iter().map(|row| (row.bound, row.firings)).collect();
    let last = i64::try_from(BOUNDS.len()).unwrap();
    let expected: Vec<(i64, i64)> = (0..=last)
        .map(|bound| (bound, if bound == 0 || bound == last { 1 } else { 2 }))
        .collect();
    assert_eq!(in_each, expected);
    let sum: f64 = one.iter().map(|row| row.seconds).sum();
    let bounds: u32 = BOUNDS.iter().map(|bound| 2 * bound + 1).sum();
    assert!((sum - f64::from(bounds)).abs() < 0.01, "{sum}");
    let only = |row: &LastedCount| (row.bound, row.firings, row.seconds);
    assert_eq!(two.iter().map(only).collect::<Vec<_>>(), [(0, 1, 0.0)]);
    assert!(store.lasted_counts(Some(at(900))).await.unwrap().is_empty());
}

async fn the_size_is_that_of_the_database(place: Place) {
    let store = place.open().await;
    assert!(store.bytes().await.unwrap() > Some(4_096));
}
