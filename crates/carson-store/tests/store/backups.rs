//! Backups: made in use, whole, few, and restorable.

use std::fs;
use std::path::PathBuf;

use carson_store::{Store, StoreError, backup};

use crate::fixture::{Place, at, claimed};

fn file(place: &Place) -> PathBuf {
    place.url().replace("sqlite:", "").into()
}

#[tokio::test]
async fn what_was_backed_up_can_be_restored_and_what_was_there_is_kept() {
    let place = Place::sqlite();
    let store = place.open().await;
    let before = claimed(&store, "before", 0).await;
    let saved = store.back_up(at(60)).await.unwrap().unwrap();
    let after = claimed(&store, "after", 1).await;
    store.close().await;

    let aside = backup::restore(&file(&place), &saved, at(120))
        .await
        .unwrap()
        .unwrap();

    let store = place.open().await;
    assert!(store.firing(before).await.unwrap().is_some());
    assert!(store.firing(after).await.unwrap().is_none());
    claimed(&store, "goes-on", 2).await;
    let old = Store::open(&format!("sqlite:{}/carson.db", aside.display()))
        .await
        .unwrap();
    assert!(old.firing(after).await.unwrap().is_some());
}

#[tokio::test]
async fn the_newest_stay() {
    let place = Place::sqlite();
    let store = place.open().await;
    let mut made = Vec::new();
    for hour in 0..5 {
        made.extend(store.back_up(at(hour * 3_600)).await.unwrap());
    }
    assert_eq!(store.drop_old_backups(2).unwrap(), 3);
    assert_eq!(backup::beside(&file(&place)), made[3..]);
    assert_eq!(store.drop_old_backups(2).unwrap(), 0);
}

#[tokio::test]
async fn a_backup_that_is_not_whole_is_not_restored() {
    let place = Place::sqlite();
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let saved = store.back_up(at(0)).await.unwrap().unwrap();
    let bytes = fs::read(&saved).unwrap();
    for broken in [&bytes[..bytes.len() / 2], b"", &[b'x'; 9_000]] {
        fs::write(&saved, broken).unwrap();
        let error = backup::restore(&file(&place), &saved, at(1))
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::Backup { .. }), "{error:?}");
    }
    store.still_there().unwrap();
    assert!(store.firing(id).await.unwrap().is_some());
}

#[tokio::test]
async fn a_backup_of_a_busy_database_holds_a_moment_of_it() {
    let place = Place::sqlite();
    let store = place.open().await;
    let writer = {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..200 {
                claimed(&store, &format!("r{number}"), number).await;
            }
        })
    };
    let mut sizes = Vec::new();
    for hour in 0..5 {
        let saved = store.back_up(at(hour * 3_600)).await.unwrap().unwrap();
        let copy = Store::open(&format!("sqlite:{}", saved.display()))
            .await
            .unwrap();
        sizes.push(copy.live_firings(None).await.unwrap().len());
        copy.close().await;
    }
    writer.await.unwrap();
    assert!(sizes.is_sorted(), "{sizes:?}");
}
