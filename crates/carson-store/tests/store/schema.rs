//! The two migrations make the same tables, but for those by which each finds words.

use std::collections::BTreeSet;

use sqlx::{PgPool, Row, SqlitePool};

use crate::fixture::Place;

/// Table, column, kind of value, whether it may be missing.
type Column = (String, String, &'static str, bool);

#[tokio::test]
async fn both_databases_have_the_same_tables_columns_and_indexes() {
    let (sqlite, postgres) = (Place::sqlite(), Place::postgres());
    sqlite.open().await;
    postgres.open().await;
    let sqlite = SqlitePool::connect(&sqlite.url()).await.unwrap();
    let server = PgPool::connect(&postgres.url()).await.unwrap();
    let (ours, theirs) = (
        sqlite_columns(&sqlite).await,
        postgres_columns(&server).await,
    );
    assert!(ours.len() > 60, "{ours:?}");
    let differing: Vec<&Column> = ours.symmetric_difference(&theirs).collect();
    assert!(differing.is_empty(), "only in one of them: {differing:#?}");

    let (ours, theirs) = (
        sqlite_indexes(&sqlite).await,
        postgres_indexes(&server).await,
    );
    assert!(ours.contains(&("firing_slot".to_owned(), true)), "{ours:?}");
    assert_eq!(ours, theirs);
    server.close().await;
}

async fn sqlite_columns(pool: &SqlitePool) -> BTreeSet<Column> {
    let rows = sqlx::query(
        "SELECT t.name, c.name, c.type, c.\"notnull\" = 0 AND c.type || c.pk <> 'INTEGER1' \
         FROM sqlite_master t JOIN pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND t.name NOT LIKE '\\_sqlx%' ESCAPE '\\' \
         AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
         AND t.name NOT LIKE 'lesson\\_words%' ESCAPE '\\'",
    );
    let rows = rows.fetch_all(pool).await.unwrap();
    rows.iter()
        .map(|row| (row.get(0), row.get(1), kind(row.get(2)), row.get(3)))
        .collect()
}

async fn postgres_columns(pool: &PgPool) -> BTreeSet<Column> {
    let rows = sqlx::query(
        "SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES' \
         FROM information_schema.columns \
         WHERE table_schema = 'public' AND table_name <> '_sqlx_migrations'",
    );
    let rows = rows.fetch_all(pool).await.unwrap();
    rows.iter()
        .map(|row| (row.get(0), row.get(1), kind(row.get(2)), row.get(3)))
        .collect()
}

/// SQLite has no type for times and ids.
fn kind(declared: &str) -> &'static str {
    match declared {
        "INTEGER" | "bigint" => "whole number",
        "REAL" | "double precision" => "number",
        "TEXT" | "text" | "timestamp with time zone" => "text or time",
        "BLOB" | "uuid" | "bytea" => "id or bytes",
        other => panic!("neither migration should say {other}"),
    }
}

async fn sqlite_indexes(pool: &SqlitePool) -> BTreeSet<(String, bool)> {
    let rows = sqlx::query(
        "SELECT name, sql LIKE 'CREATE UNIQUE%' FROM sqlite_master \
         WHERE type = 'index' AND sql IS NOT NULL",
    );
    let rows = rows.fetch_all(pool).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn postgres_indexes(pool: &PgPool) -> BTreeSet<(String, bool)> {
    let rows = sqlx::query(
        "SELECT indexname::text, indexdef LIKE 'CREATE UNIQUE%' FROM pg_indexes \
         WHERE schemaname = 'public' AND indexname NOT LIKE '%\\_pkey' \
         AND indexname NOT LIKE '%\\_key' \
         AND indexname <> 'lesson_words'",
    );
    let rows = rows.fetch_all(pool).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}
