//! Streaks of failed preflights, kept facts, and whether the database can be written.

use carson_store::{Claim, PreflightRow};

use crate::fixture::{Place, at, new_firing, on_both};

fn failed(role: &str, streak: i64, seconds: i64) -> PreflightRow {
    PreflightRow {
        host: "here".into(),
        role: role.into(),
        failed: "disk.space".into(),
        why: "the disk is full".into(),
        streak,
        since: at(1),
        last_at: at(seconds),
        told_at: (streak > 2).then(|| at(seconds)),
    }
}

async fn a_streak_is_one_row_until_it_ends(place: Place) {
    let store = place.open().await;
    let (host, role) = ("here".parse().unwrap(), "hand".parse().unwrap());
    assert!(!store.end_preflight(&host, &role).await.unwrap());
    store.set_preflight(&failed("hand", 1, 1)).await.unwrap();
    store.set_preflight(&failed("eye", 1, 5)).await.unwrap();
    store.set_preflight(&failed("hand", 3, 9)).await.unwrap();
    let rows = store.preflights().await.unwrap();
    assert_eq!(rows, [failed("eye", 1, 5), failed("hand", 3, 9)]);
    assert!(store.end_preflight(&host, &role).await.unwrap());
    assert_eq!(store.preflights().await.unwrap(), [failed("eye", 1, 5)]);
}

async fn a_trial_leaves_nothing_and_a_fact_stays(place: Place) {
    let store = place.open().await;
    let host = "here".parse().unwrap();
    store.try_writing(&host, at(1)).await.unwrap();
    assert_eq!(store.measured(&host, "try").await.unwrap(), None);
    for (value, seconds) in [("2.39", 1), ("2.47", 2)] {
        let kept = store.keep_measured(&host, "git", value, at(seconds)).await;
        kept.unwrap();
    }
    let kept = store.measured(&host, "git").await.unwrap();
    assert_eq!(kept, Some(("2.47".to_owned(), at(2))));
    let elsewhere = "there".parse().unwrap();
    assert_eq!(store.measured(&elsewhere, "git").await.unwrap(), None);
}

async fn the_newest_claim_is_the_last_that_was_written(place: Place) {
    let store = place.open().await;
    assert_eq!(store.newest_claim().await.unwrap(), None);
    for (role, claimed) in [("a", 50), ("b", 20)] {
        let won = store.claim_firing(&new_firing(role, None, claimed)).await;
        assert_eq!(won.unwrap(), Claim::Won);
    }
    assert_eq!(store.newest_claim().await.unwrap(), Some(at(20)));
}

on_both!(
    a_streak_is_one_row_until_it_ends,
    a_trial_leaves_nothing_and_a_fact_stays,
    the_newest_claim_is_the_last_that_was_written
);
