//! Rows say by a word which stop they met; older rows learnt it from their sentence, once.

use carson_core::admission::{Block, SkipReason};
use carson_core::{BlockKind, SkipKind};
use carson_store::{BlockSetter, Filter, NewSkip, Store};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgPool, SqlitePool};

use crate::fixture::{Place, at, on_both};

on_both!(
    a_skip_keeps_its_kind,
    older_rows_learn_theirs_from_their_sentence,
    older_blocks_learn_theirs_too,
);

/// As the facts of older rows hold them.
fn every_reason() -> Vec<SkipReason> {
    let all = json!([
        {"paused": "why"}, {"reserved": "why"}, {"low-priority": "why"}, {"blocked": "why"},
        {"breaker-open": "why"}, {"budget": "why"}, {"daily-cap": 3}, "overlap",
        {"open-pull-requests": 3}, "too-late", {"preflight": "why"},
    ]);
    serde_json::from_value(all).unwrap()
}

async fn record(store: &Store) -> Vec<SkipKind> {
    let reasons = every_reason();
    let kinds = reasons.iter().map(SkipReason::kind).collect();
    let skip = |(slot, reason)| NewSkip {
        role: "one".parse().unwrap(),
        slot: at(slot),
        missed: 0,
        reason,
    };
    let skips: Vec<NewSkip> = (0..).zip(reasons).map(skip).collect();
    let here = "here".parse().unwrap();
    assert_eq!(store.record_skips(&here, &skips, at(99)).await.unwrap(), 11);
    kinds
}

async fn kept(store: &Store) -> Vec<SkipKind> {
    let all = Filter {
        role: None,
        since: None,
        skipped: true,
        outcome: None,
        limit: 99,
    };
    let rows = store.firings(&all).await.unwrap().into_iter().rev();
    rows.map(|row| row.skip.unwrap()).collect()
}

async fn a_skip_keeps_its_kind(place: Place) {
    let store = place.open().await;
    let kinds = record(&store).await;
    // All but the one that waits in any case, and those that no older row knows.
    let others = [
        "host-full",
        "host-drained",
        "host-unfit",
        "stopped",
        "forge-limit",
        "withdrawn",
        "review-minutes",
        "setup-runs",
    ];
    let every = carson_core::stops::kinds().filter(|kind| !others.contains(&kind.as_str()));
    assert_eq!(kinds, every.collect::<Vec<_>>());
    assert_eq!(kept(&store).await, kinds);
    assert_eq!(
        store
            .record_skips(&"here".parse().unwrap(), &[], at(0))
            .await
            .unwrap(),
        0
    );
}

async fn older_rows_learn_theirs_from_their_sentence(place: Place) {
    let store = place.open().await;
    let kinds = record(&store).await;
    run(&place, "UPDATE firing SET skip = NULL").await;
    run(&place, &the_update_of("firing")).await;
    assert_eq!(kept(&store).await, kinds);
}

async fn older_blocks_learn_theirs_too(place: Place) {
    let store = place.open().await;
    let firing = || BlockSetter::Firing(carson_core::FiringId::new());
    let cases = [
        ("a", "usage window five_hour: x", firing(), BlockKind::Limit),
        ("b", "sign-in: x; then clear", firing(), BlockKind::Auth),
        ("c", "billing: x", firing(), BlockKind::Billing),
        ("d", "billing", BlockSetter::Operator, BlockKind::Operator),
    ];
    for (account, reason, by, kind) in cases {
        let block = Block {
            account: account.parse().unwrap(),
            until: None,
            reason: reason.into(),
            kind: Some(kind),
        };
        assert!(store.set_block(&block, by, at(0)).await.unwrap());
    }
    let wanted = cases.map(|(.., kind)| Some(kind));
    for forget in [false, true] {
        if forget {
            run(&place, "UPDATE account_block SET kind = NULL").await;
            run(&place, &the_update_of("account_block")).await;
        }
        let rows = store.block_rows().await.unwrap();
        let found: Vec<_> = rows.into_iter().map(|row| row.kind).collect();
        assert_eq!(found, wanted);
    }
}

/// What the migration does to a table's older rows; the same in both databases.
fn the_update_of(table: &str) -> String {
    let migrations = [
        include_str!("../../../../migrations/sqlite/0006_kinds.sql"),
        include_str!("../../../../migrations/postgres/0006_kinds.sql"),
    ];
    let begin = format!("UPDATE {table} ");
    let update = |migration: &str| {
        let mut statements = migration.split(';').map(str::trim);
        let found = statements.find(|text| text.starts_with(&begin));
        found.unwrap().to_owned()
    };
    let [ours, theirs] = migrations.map(update);
    assert_eq!(ours, theirs);
    ours
}

#[expect(
    clippy::disallowed_methods,
    reason = "the statements are the migration's own"
)]
async fn run(place: &Place, statement: &str) {
    let statement = AssertSqlSafe(statement.to_owned());
    match place {
        Place::Sqlite(_) => {
            let pool = SqlitePool::connect(&place.url()).await.unwrap();
            sqlx::query(statement).execute(&pool).await.unwrap();
        }
        Place::Postgres(_) => {
            let pool = PgPool::connect(&place.url()).await.unwrap();
            sqlx::query(statement).execute(&pool).await.unwrap();
            pool.close().await;
        }
    }
}
