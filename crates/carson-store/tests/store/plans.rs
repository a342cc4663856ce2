//! No query reads a table that grows from end to end.
//!
//! The statements are those that the store really sends: they are overheard while it works, and
//! SQLite is asked how it would go about each.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use carson_core::settle::{Facts, settle};
use carson_core::work::WorkKey;
use carson_core::{Outcome, Stage};
use carson_store::{Filter, PostKind, Progress, Store};
use sqlx::{Row, SqlitePool};
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::fixture::{Place, at, claimed, ending, gate, new_firing, post, stopped};

/// They have a row for each role, account, host or pause, and no more; or are a list of ours.
const SMALL: [&str; 6] = [
    "breaker",
    "account_block",
    "usage_window",
    "pause",
    "host",
    "json_each",
];

#[derive(Clone, Default)]
struct Overheard(Arc<Mutex<BTreeSet<String>>>);

impl<S: tracing::Subscriber> Layer<S> for Overheard {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "sqlx::query" {
            event.record(&mut self.clone());
        }
    }
}

impl Visit for Overheard {
    fn record_str(&mut self, field: &Field, value: &str) {
        // A short statement is told in its summary alone.
        if ["summary", "db.statement"].contains(&field.name()) && !value.ends_with('…') {
            self.0.lock().unwrap().insert(value.trim().to_owned());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

#[tokio::test]
async fn every_query_finds_its_rows_by_an_index() {
    let overheard = Overheard::default();
    let subscriber = tracing_subscriber::registry().with(overheard.clone());
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let place = Place::sqlite();
    let store = place.open().await;
    overheard.0.lock().unwrap().clear();
    work(&store).await;

    let pool = SqlitePool::connect(&place.url()).await.unwrap();
    let statements = overheard.0.lock().unwrap().clone();
    let known = |verb: &str| {
        statements
            .iter()
            .filter(|text| text.starts_with(verb))
            .count()
    };
    assert!(
        known("SELECT") >= 15 && known("UPDATE") >= 10,
        "{statements:#?}"
    );
    for statement in statements.iter().filter(|text| !text.starts_with("BEGIN")) {
        for step in plan(&pool, statement).await {
            assert!(is_cheap(&step, statement), "{step}\n{statement}");
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the statements are the store's own"
)]
async fn plan(pool: &SqlitePool, statement: &str) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {statement}");
    let rows = sqlx::query(sqlx::AssertSqlSafe(explain))
        .fetch_all(pool)
        .await
        .unwrap();
    rows.iter().map(|row| row.get("detail")).collect()
}

fn is_cheap(step: &str, statement: &str) -> bool {
    let Some(rest) = step.strip_prefix("SCAN ") else {
        return step != "USE TEMP B-TREE FOR ORDER BY" || !statement.ends_with("DESC LIMIT 1");
    };
    let table = rest.split(' ').next().unwrap_or_default();
    // A partial index has a row for each living firing, each unsent post, each effect that is owed.
    let partial = ["firing_live", "outbox_unsent", "effect_owed"]
        .iter()
        .any(|index| rest.contains(index));
    // The newest first, up to a limit; and the ids alone, for the eight digits of one.
    let newest = statement.contains(" ORDER BY seq DESC");
    partial || SMALL.contains(&table) || ["CONSTANT", "json_each"].contains(&table) || newest
}

async fn work(store: &Store) {
    let (role, repo) = ("one".parse().unwrap(), "widget".parse().unwrap());
    let widget = "widget".parse().unwrap();
    let host = "here".parse().unwrap();
    let id = claimed(store, "one", 0).await;
    store
        .claim_firing(&new_firing("one", Some(0), 1))
        .await
        .unwrap();
    store
        .claim_firing(&new_firing("one", Some(1), 1))
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .start_firing((1, 1), None, at(0))
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_stage(Stage::Pick, at(0))
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .take_work(&repo, WorkKey::Issue(1), "t")
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .progress(&Progress::default(), true)
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_place("b", "s", std::path::Path::new("/b"))
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_sandbox(&serde_json::Value::Null)
        .await
        .unwrap();
    let row = store.firing(id).await.unwrap().unwrap();
    store.events_of(id).await.unwrap();
    store.sandbox_before(&row).await.unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_pull(1, "u")
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_salvage_ref("r")
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .add_blocked_calls(&[stopped("r", "t", "c")], at(0))
        .await
        .unwrap();
    let event = carson_core::Event::BreakerReset { by: "operator" };
    store.event(&event, None, None, at(0)).await.unwrap();
    gate(store, &role, &[repo], &host, (at(-9), at(9))).await;
    store.live_firings(Some(&host)).await.unwrap();
    store.live_firings(None).await.unwrap();
    let facts = Facts::default();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .settle_firing(&settle(&facts), None, &facts)
        .await
        .unwrap();
    let close = carson_core::Effect::CloseIssue { issue: 1 };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .plan_effects(&settle(&facts), &[close])
        .await
        .unwrap();
    store.last_in(&role, &widget).await.unwrap();
    store.owing(&host, at(9)).await.unwrap();
    store.owes(id).await.unwrap();
    store.effects(id).await.unwrap();
    let tried = carson_store::Tried {
        state: carson_store::EffectState::Done,
        said: None,
        next_at: None,
    };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .note_effect(0, &tried)
        .await
        .unwrap();
    store
        .file_post(&post(Some(id), PostKind::Root, "t", 0))
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Failed, "r", 1))
        .await
        .unwrap();
    store.firing(id).await.unwrap();
    let day = (at(0), at(9));
    store.spent(day).await.unwrap();
    store.spent_by(&role, day).await.unwrap();
    store.windows().await.unwrap();
    store.firings_of(&widget, WorkKey::Issue(1)).await.unwrap();
    store
        .remember_refusal(&widget, WorkKey::Issue(1), 1, at(0))
        .await
        .unwrap();
    store.firings_that_opened(at(0)).await.unwrap();
    store.firings_of_pull(&widget, 1).await.unwrap();
    store.firing_of_pull(&widget, 1).await.unwrap();
    store.pull_end(&widget, 1).await.unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_prompt_version("v")
        .await
        .unwrap();
    store.find_firing(&id.short()).await.unwrap();
    store.last_slot(&role).await.unwrap();
    store.firings_before(Some(&role), None, 5).await.unwrap();
    store.owing_in(&widget).await.unwrap();
    for (role, since) in [(None, None), (Some(role), None), (None, Some(at(0)))] {
        let filter = Filter {
            role,
            since,
            skipped: false,
            outcome: None,
            limit: 5,
        };
        store.firings(&filter).await.unwrap();
    }
    store.stages(id).await.unwrap();
    store.blocked_calls(id).await.unwrap();
    store.events(5).await.unwrap();
    let post = store.lease_post("slack", at(2)).await.unwrap().unwrap();
    store.post_failed(post.id, "e", Some(at(3))).await.unwrap();
    store.post_sent(post.id, Some("1.1"), at(3)).await.unwrap();
    store.thread_ts("slack", id).await.unwrap();
    remember(store, id).await;
    store.pending_posts().await.unwrap();
    store.threads(id).await.unwrap();
    store.has_posts_for("slack", id).await.unwrap();
    store.waiting_posts().await.unwrap();
}

/// What is asked of lessons in a firing, and of one of them.
async fn remember(store: &Store, id: carson_core::FiringId) {
    let new = crate::lessons::believed(store, "cache", 1).await;
    let seq = store.lesson(new.id).await.unwrap().unwrap().seq;
    let change = crate::lessons::change(3, 3, carson_core::lesson::LessonState::Held);
    store.change_lesson(new.id, &change).await.unwrap();
    store.lesson_history(seq).await.unwrap();
    store.lesson_evidence(seq).await.unwrap();
    store.lessons_alike("cache").await.unwrap();
    store.judgements(seq).await.unwrap();
    store.judges_asked_since(at(1)).await.unwrap();
    store.firings_told(seq, 5).await.unwrap();
    store.firings_with_recall(at(1), 5).await.unwrap();
    store.recall_of(id).await.unwrap();
    store.vectors_after("m", 0, 5).await.unwrap();
}
