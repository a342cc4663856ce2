//! Opening: by many at once, with a schema from the future, with nobody there.

use std::error::Error;
use std::os::unix::fs::PermissionsExt;

use carson_store::{Daemon, Opening, Store, StoreError};
use sqlx::{AssertSqlSafe, PgPool, SqlitePool};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::fixture::{Place, at, claimed, on_both};
use crate::postgres::TestDatabase;
use crate::wire::Wire;

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
        let (said, hint) = refused(url).await;
        assert!(!said.contains("hidden"), "{said}");
        assert!(!hint.is_empty());
    }
}

/// What is said of an address that cannot be opened, with its causes, and what to do.
async fn refused(url: &str) -> (String, &'static str) {
    let error = Store::open(url).await.unwrap_err();
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        said.push_str(&format!(": {error}"));
        cause = error.source();
    }
    (said, error.hint())
}

/// The same database, as somebody else.
fn signed_in_as(user: &str, url: &str) -> String {
    let (_, place) = url.rsplit_once('@').unwrap();
    format!("postgres://{user}@{place}")
}

#[expect(
    clippy::disallowed_methods,
    reason = "names of roles and databases cannot be bound as values"
)]
async fn does(pool: &PgPool, statement: String) {
    let done = sqlx::raw_sql(AssertSqlSafe(statement)).execute(pool).await;
    done.unwrap();
}

/// What a server says that lets nobody in, and what people are told to do.
#[tokio::test]
async fn a_server_that_lets_nobody_in_is_told_with_what_to_do() {
    let database = TestDatabase::new();
    let wire = Wire::to(&database.url());
    let server = PgPool::connect(&database.url()).await.unwrap();
    let (nothing, crowded) = (
        format!("n{}", Uuid::now_v7().simple()),
        format!("c{}", Uuid::now_v7().simple()),
    );
    does(&server, format!("CREATE ROLE {nothing} LOGIN")).await;
    does(
        &server,
        format!("CREATE ROLE {crowded} LOGIN CONNECTION LIMIT 0"),
    )
    .await;
    let url = wire.url();
    let (place, _) = url.rsplit_once('/').unwrap();
    let cases = [
        (signed_in_as(&nothing, &url), "does not allow it", "OWNER"),
        (
            signed_in_as(&crowded, &url),
            "too many connections",
            "max_connections",
        ),
        (
            signed_in_as("nobody_of_that_name", &url),
            "nobody_of_that_name",
            "CREATE ROLE",
        ),
        (
            format!("{place}/none_of_that_name"),
            "none_of_that_name",
            "CREATE DATABASE",
        ),
        (format!("{url}?sslmode=require"), "TLS", "sslmode"),
        (
            signed_in_as("me:hid#hidden", &url),
            "cannot be opened",
            "%23",
        ),
        (
            signed_in_as("me:hid/hidden", &url),
            "cannot be opened",
            "%2F",
        ),
    ];
    for (url, found, remedy) in cases {
        let (said, hint) = refused(&url).await;
        assert!(said.contains(found), "{said}");
        assert!(hint.contains(remedy), "{said}: {hint}");
        assert!(!said.contains("hid"), "{said}");
    }
    does(&server, format!("DROP ROLE {nothing}; DROP ROLE {crowded}")).await;
}

fn known(store: &Store) -> Opening {
    Opening {
        known: store.identity(),
        ..Opening::default()
    }
}

/// Everything of Carson's goes, as with a database that was dropped and made again.
const MADE_ANEW: &str = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";

#[tokio::test]
async fn a_database_that_was_made_anew_is_refused_before_anything_is_written_there() {
    let database = TestDatabase::new();
    let store = Store::open(&database.url()).await.unwrap();
    claimed(&store, "one", 0).await;
    let known = known(&store);
    assert!(known.known.is_some());
    let again = Store::open_as(&database.url(), known).await.unwrap();
    assert_eq!(again.identity(), store.identity());

    let server = PgPool::connect(&database.url()).await.unwrap();
    does(&server, MADE_ANEW.to_owned()).await;
    let error = Store::open_as(&database.url(), known).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Another { is_empty: true }),
        "{error:?}"
    );
    assert!(error.is_damage() && error.hint().contains("state/database"));
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    let tables: i64 = sqlx::query_scalar(tables).fetch_one(&server).await.unwrap();
    assert_eq!(tables, 0, "somebody began a new fleet there");
    // Who has it open is told so, too.
    let error = store.newest_claim().await.unwrap_err();
    assert!(error.to_string().contains("made anew"), "{error}");

    // Somebody who knows nothing of the old one fills it.
    Store::open(&database.url()).await.unwrap();
    let error = Store::open_as(&database.url(), known).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Another { is_empty: false }),
        "{error:?}"
    );
    let daemon = Daemon {
        pid: 1,
        pid_start: 1,
        version: "0",
        labels: &[],
    };
    let host = "here".parse().unwrap();
    let error = store.take_lease(&host, &daemon, at(0)).await.unwrap_err();
    assert!(error.is_damage(), "{error:?}");
}

/// A standby, or a role that may only read.
#[tokio::test]
async fn a_server_that_takes_no_row_can_still_be_asked() {
    let database = TestDatabase::new();
    let store = Store::open(&database.url()).await.unwrap();
    let (host, now) = ("here".parse().unwrap(), at(0));
    store.host_of(&host, "home", now).await.unwrap();
    assert!(!store.is_read_only().await.unwrap());
    let server = PgPool::connect(&database.url()).await.unwrap();
    let name: String = sqlx::query_scalar("SELECT current_database()::text")
        .fetch_one(&server)
        .await
        .unwrap();
    does(
        &server,
        format!("ALTER DATABASE {name} SET default_transaction_read_only = on"),
    )
    .await;
    let store = Store::open(&database.url()).await.unwrap();
    assert!(store.is_read_only().await.unwrap());
    assert_eq!(store.host_of(&host, "home", now).await.unwrap(), host);
    assert!(store.hosts().await.unwrap().is_empty());
}
