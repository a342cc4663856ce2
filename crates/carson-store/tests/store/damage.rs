//! Files that are no database of ours, or no longer: refused, and left as they are.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_store::{Opening, Store, StoreError, Trouble};
use sqlx::SqlitePool;
use sqlx::sqlite::SqliteConnectOptions;

use crate::fixture::{Place, at, claimed};

fn file(place: &Place) -> PathBuf {
    place.url().replace("sqlite:", "").into()
}

/// Every file of the database and beside it.
fn all(db: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let items = fs::read_dir(db.parent().unwrap()).unwrap();
    let mut all: Vec<_> = items
        .map(|item| item.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    all.sort();
    all
}

async fn refused(place: &Place) -> StoreError {
    Store::open(&place.url()).await.unwrap_err()
}

#[tokio::test]
async fn a_foreign_database_is_named_and_left_as_it_is() {
    let place = Place::sqlite();
    let db = file(&place);
    fs::create_dir_all(db.parent().unwrap()).unwrap();
    let options = SqliteConnectOptions::new().filename(&db);
    let pool = SqlitePool::connect_with(options.create_if_missing(true))
        .await
        .unwrap();
    sqlx::query("CREATE TABLE recipes (name TEXT)")
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
    let before = all(&db);

    let error = refused(&place).await;

    assert!(error.is_damage());
    let said = error.to_string();
    assert!(
        said.contains("another program's (tables recipes)"),
        "{said}"
    );
    assert!(all(&db) == before);
}

#[tokio::test]
async fn a_schema_from_the_future_is_not_written_to() {
    let place = Place::sqlite();
    let db = file(&place);
    let store = place.open().await;
    drop(store);
    let pool = SqlitePool::connect(&place.url()).await.unwrap();
    let future = "INSERT INTO _sqlx_migrations \
                  (version, description, success, checksum, execution_time) \
                  SELECT 9999, 'future', success, checksum, 0 FROM _sqlx_migrations LIMIT 1";
    sqlx::query(future).execute(&pool).await.unwrap();
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
    let before = fs::read(&db).unwrap();
    assert!(matches!(refused(&place).await, StoreError::Schema { .. }));
    assert!(fs::read(&db).unwrap() == before);
}

/// A database with some hundred rows and no log beside it, and a backup of it.
async fn full(place: &Place) -> PathBuf {
    let store = place.open().await;
    for number in 0..300 {
        claimed(&store, &format!("role-{number}"), number).await;
    }
    store.checkpoint().await.unwrap();
    store.back_up(at(1_000)).await.unwrap().unwrap();
    store.close().await;
    file(place)
}

#[tokio::test]
async fn damaged_pages_are_found_and_the_newest_backup_is_named() {
    let place = Place::sqlite();
    let db = full(&place).await;
    let pages = db.metadata().unwrap().len() / 4_096;
    assert!(pages > 10);
    let open = fs::OpenOptions::new().write(true).open(&db).unwrap();
    for page in pages - 5..pages {
        open.write_all_at(&[0xa5; 4_096], page * 4_096).unwrap();
    }
    drop(open);
    let before = fs::read(&db).unwrap();

    // Its first page is whole, so it opens; the daemon looks at all of it before it starts.
    let store = Store::open(&place.url()).await.unwrap();
    let error = store.must_be_whole(true).await.unwrap_err();

    let StoreError::Unusable { backup, .. } = &error else {
        panic!("{error:?}");
    };
    let backup = backup.as_ref().unwrap().to_string_lossy();
    assert!(
        backup.ends_with("backups/carson-20260921T143000Z.db"),
        "{backup}"
    );
    assert!(error.hint().contains("carson backup restore"));
    store.close().await;
    assert!(fs::read(&db).unwrap() == before);
}

#[tokio::test]
async fn a_first_page_that_is_damaged_is_refused_at_once() {
    let place = Place::sqlite();
    let db = full(&place).await;
    for (at, bytes) in [(0, &[0_u8; 100][..]), (100, &[0xff; 3_000])] {
        let good = fs::read(&db).unwrap();
        let open = fs::OpenOptions::new().write(true).open(&db).unwrap();
        open.write_all_at(bytes, at).unwrap();
        let before = fs::read(&db).unwrap();
        let error = refused(&place).await;
        assert!(error.is_damage(), "{error:?}");
        assert!(fs::read(&db).unwrap() == before);
        let log = fs::metadata(format!("{}-wal", db.display()));
        assert_eq!(log.map_or(0, |found| found.len()), 0);
        fs::write(&db, good).unwrap();
    }
}

#[tokio::test]
async fn a_file_that_is_gone_or_empty_is_not_begun_anew_while_there_are_backups() {
    let place = Place::sqlite();
    let db = full(&place).await;
    fs::remove_file(&db).unwrap();
    let error = refused(&place).await;
    assert!(error.to_string().contains("the file is gone"), "{error}");
    assert!(!db.exists());
    fs::write(&db, "").unwrap();
    let error = refused(&place).await;
    assert!(error.to_string().contains("the file is empty"), "{error}");
    assert_eq!(fs::read(&db).unwrap(), b"");
}

#[tokio::test]
async fn who_only_takes_part_makes_no_new_database() {
    let place = Place::sqlite();
    let opening = Opening {
        create: false,
        ..Opening::default()
    };
    let error = Store::open_as(&place.url(), opening).await.unwrap_err();
    assert!(error.to_string().contains("the file is gone"), "{error}");
    assert!(!file(&place).exists());
}

#[tokio::test]
async fn a_file_that_was_deleted_or_replaced_in_use_is_noticed_and_can_be_saved() {
    let place = Place::sqlite();
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    store.still_there().unwrap();
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", file(&place).display()));
    }
    let error = store.still_there().unwrap_err();
    assert!(
        error.to_string().contains("deleted while it was in use"),
        "{error}"
    );
    // Its rows are still there for who has it open.
    let saved = store.back_up(at(5)).await.unwrap().unwrap();
    fs::copy(saved, file(&place)).unwrap();
    assert!(
        store
            .still_there()
            .unwrap_err()
            .to_string()
            .contains("replaced")
    );
    store.close().await;
    let store = Store::open(&place.url()).await.unwrap();
    assert!(store.firing(id).await.unwrap().is_some());
}

#[tokio::test]
async fn a_lock_held_by_another_is_waited_for_as_long_as_was_asked() {
    let place = Place::sqlite();
    drop(place.open().await);
    let open = |patience| {
        let opening = Opening {
            patience,
            ..Opening::default()
        };
        let url = place.url();
        async move { Store::open_as(&url, opening).await.unwrap() }
    };
    let (short, long) = (
        open(Duration::from_millis(50)).await,
        open(Duration::from_secs(60)).await,
    );
    let holder = SqlitePool::connect(&place.url()).await.unwrap();
    let lock = holder.begin_with("BEGIN EXCLUSIVE").await.unwrap();
    let event = carson_core::Event::BreakerReset { by: "operator" };
    let error = short.event(&event, None, None, at(0)).await.unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Trouble {
                trouble: Trouble::Locked,
                ..
            }
        ),
        "{error:?}"
    );
    // Who only reads waits for nobody.
    assert_eq!(short.events(1).await.unwrap().len(), 0);
    let waits = tokio::spawn(async move { long.event(&event, None, None, at(0)).await });
    lock.rollback().await.unwrap();
    waits.await.unwrap().unwrap();
    assert_eq!(short.events(9).await.unwrap().len(), 1);
}
