//! Opening: by many at once, with a schema from the future, with nobody there.

use std::error::Error;
use std::os::unix::fs::PermissionsExt;

use carson_store::{Store, StoreError};
use sqlx::{PgPool, SqlitePool};
use tokio::task::JoinSet;

use crate::fixture::{Place, claimed, on_both};

on_both!(
    many_may_open_a_new_database_together,
    a_schema_from_the_future_is_refused
);

async fn many_may_open_a_new_database_together(place: Place) {
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let url = place.url();
        tasks.spawn(async move { Store::open(&url).await.map(drop) });
    }
    for opened in tasks.join_all().await {
        opened.unwrap();
    }
    claimed(&place.open().await, "one", 0).await;
}

async fn a_schema_from_the_future_is_refused(place: Place) {
    place.open().await;
    let future = "INSERT INTO _sqlx_migrations \
                  (version, description, success, checksum, execution_time) \
                  SELECT 9999, 'future', success, checksum, 0 FROM _sqlx_migrations LIMIT 1";
    let url = place.url();
    match &place {
        Place::Sqlite(_) => {
            let pool = SqlitePool::connect(&url).await.unwrap();
            sqlx::query(future).execute(&pool).await.unwrap();
        }
        Place::Postgres(_) => {
            let pool = PgPool::connect(&url).await.unwrap();
            sqlx::query(future).execute(&pool).await.unwrap();
        }
    }
    let error = Store::open(&url).await.unwrap_err();
    assert!(matches!(error, StoreError::Schema { .. }), "{error:?}");
}

#[tokio::test]
async fn only_its_owner_reads_a_sqlite_file() {
    let place = Place::sqlite();
    let _store = place.open().await;
    let file = place.url().replace("sqlite:", "");
    let dir = std::path::Path::new(&file).parent().unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(dir), 0o700);
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn an_address_that_is_no_database_is_refused_without_its_password() {
    for url in [
        "mysql://me:hidden@host/db",
        "postgres://me:hidden@localhost/db?host=/nowhere",
        "postgres://me@localhost/db?host=/nowhere&password=hidden",
        "sqlite:/dev/null/hid.den",
        "",
    ] {
        let error = Store::open(url).await.unwrap_err();
        let mut said = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            said.push_str(&error.to_string());
            cause = error.source();
        }
        assert!(!said.contains("hidden"), "{said}");
        assert!(!error.hint().is_empty());
    }
}
