//! Backups: made in use, whole, few, and restorable.

use std::fs;
use std::path::PathBuf;

use carson_store::{Store, StoreError, backup, restore};

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

    let aside = restore(&file(&place), &saved, at(120))
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

/// Killed with rows that are in its log alone: what was set aside has them, and so has what comes back.
#[tokio::test]
async fn what_a_crash_left_in_the_log_is_kept_and_comes_back() {
    let place = Place::sqlite();
    let db = file(&place);
    let store = place.open().await;
    let saved = store.back_up(at(0)).await.unwrap().unwrap();
    let late = claimed(&store, "late", 1).await;
    let crashed = db.with_file_name("crashed");
    fs::create_dir(&crashed).unwrap();
    for name in ["carson.db", "carson.db-wal"] {
        fs::copy(db.with_file_name(name), crashed.join(name)).unwrap();
    }
    store.close().await;
    assert!(crashed.join("carson.db-wal").metadata().unwrap().len() > 0);

    // A file with its log beside it is read with it.
    restore(&db, &crashed.join("carson.db"), at(10))
        .await
        .unwrap();
    let store = place.open().await;
    assert!(store.firing(late).await.unwrap().is_some());
    store.close().await;
    assert!(
        crashed.join("carson.db-wal").exists(),
        "what is named stays as it is"
    );

    // What is set aside is whole in its one file, also within the same second.
    let mut kept = Vec::new();
    for _ in 0..2 {
        for name in ["carson.db", "carson.db-wal"] {
            fs::copy(crashed.join(name), db.with_file_name(name)).unwrap();
        }
        kept.push(restore(&db, &saved, at(20)).await.unwrap().unwrap());
        let store = place.open().await;
        assert!(store.firing(late).await.unwrap().is_none());
        store.close().await;
    }
    assert_ne!(kept[0], kept[1]);
    for aside in kept {
        let one = aside.join("alone.db");
        fs::copy(aside.join("carson.db"), &one).unwrap();
        restore(&db, &one, at(30)).await.unwrap();
        let store = place.open().await;
        assert!(store.firing(late).await.unwrap().is_some());
        store.close().await;
    }
    assert!(!db.with_file_name("carson.db.reading").exists());
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
        let error = restore(&file(&place), &saved, at(1)).await.unwrap_err();
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
