//! Breakers, blocks and pauses, and what admission reads of them.

use carson_core::admission::{Block, LastFiring};
use carson_core::work::WorkKey;
use carson_core::{BlockKind, FiringId, Outcome, RepoName, RoleName};
use carson_store::{BlockSetter, Ending, PauseScope, PostKind, Store};
use sqlx::{PgPool, SqlitePool};

use crate::fixture::{Place, at, claimed, ending, gate, on_both, post, too_late};

on_both!(
    the_breaker_opens_in_the_transaction_of_the_ending,
    an_ending_happens_whole_or_not_at_all,
    a_block_only_grows_but_for_the_operator,
    pauses_are_set_changed_and_ended,
    the_gate_counts_what_admission_asks,
    the_gate_sees_the_pause_that_stands_longest,
    a_paused_account_is_blocked_for_sessions,
    repositories_are_paused_one_by_one,
);

async fn fail(store: &Store, slot: i64) -> FiringId {
    let id = claimed(store, "one", slot).await;
    let reason = format!("failed at {slot}");
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Failed, &reason, slot + 1))
        .await
        .unwrap();
    id
}

async fn the_breaker_opens_in_the_transaction_of_the_ending(place: Place) {
    let store = place.open().await;
    let role: RoleName = "one".parse().unwrap();
    assert!(store.breakers().await.unwrap().is_empty());
    for slot in [0, 10] {
        fail(&store, slot).await;
    }
    let breaker = store.breaker(&role).await.unwrap();
    assert_eq!((breaker.streak, breaker.is_open()), (2, false));
    fail(&store, 20).await;
    let breaker = store.breaker(&role).await.unwrap();
    assert_eq!((breaker.streak, breaker.opened_at), (3, Some(at(21))));
    assert_eq!(breaker.reason.as_deref(), Some("failed at 20"));
    assert_eq!(
        place.open().await.breakers().await.unwrap()[0].breaker,
        breaker
    );

    assert!(store.reset_breaker(&role).await.unwrap());
    assert!(!store.reset_breaker(&role).await.unwrap());
    fail(&store, 30).await;
    assert_eq!(store.breaker(&role).await.unwrap().streak, 1);
    let good = claimed(&store, "one", 40).await;
    store
        .as_firing(good, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "", 41))
        .await
        .unwrap();
    assert_eq!(store.breaker(&role).await.unwrap().streak, 0);
    assert!(
        store
            .breaker(&"two".parse().unwrap())
            .await
            .unwrap()
            .opened_at
            .is_none()
    );
}

async fn an_ending_happens_whole_or_not_at_all(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    run(&place, "ALTER TABLE outbox RENAME TO away").await;
    let posts = vec![post(Some(id), PostKind::Root, "ended", 1)];
    let failed = Ending {
        posts,
        ..ending(Outcome::Failed, "x", 1)
    };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&failed)
        .await
        .unwrap_err();
    let row = store.firing(id).await.unwrap().unwrap();
    assert_eq!((row.ended_at, row.outcome), (None, None), "it still lives");
    assert_eq!(store.breaker(&row.role).await.unwrap().streak, 0);

    run(&place, "ALTER TABLE away RENAME TO outbox").await;
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&failed)
            .await
            .unwrap()
    );
    assert_eq!(store.breaker(&row.role).await.unwrap().streak, 1);
    assert_eq!(store.pending_posts().await.unwrap(), 1);
}

async fn run(place: &Place, statement: &'static str) {
    match place {
        Place::Sqlite(_) => {
            let pool = SqlitePool::connect(&place.url()).await.unwrap();
            sqlx::query(statement).execute(&pool).await.unwrap();
        }
        Place::Postgres(_) => {
            let pool = PgPool::connect(&place.url()).await.unwrap();
            sqlx::query(statement).execute(&pool).await.unwrap();
        }
    }
}

/// Read before the reset and written after it, the old streak would open the breaker again.
#[tokio::test]
async fn a_reset_between_the_reading_and_the_writing_is_not_lost_on_postgres() {
    let place = Place::postgres();
    let store = place.open().await;
    for slot in [0, 10] {
        fail(&store, slot).await;
    }
    let id = claimed(&store, "one", 20).await;
    let pool = PgPool::connect(&place.url()).await.unwrap();
    let mut reset = pool.begin().await.unwrap();
    sqlx::query("DELETE FROM breaker")
        .execute(&mut *reset)
        .await
        .unwrap();
    let ending = ending(Outcome::Failed, "third", 21);
    let (ender, waits) = (
        store.clone(),
        "SELECT COUNT(*) FROM pg_locks WHERE NOT granted",
    );
    let ended = tokio::spawn(async move {
        ender
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending)
            .await
            .unwrap()
    });
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while sqlx::query_scalar::<_, i64>(waits)
        .fetch_one(&pool)
        .await
        .unwrap()
        == 0
    {
        assert!(
            std::time::Instant::now() < deadline,
            "the ending does not wait for the reset"
        );
    }
    reset.commit().await.unwrap();
    assert!(ended.await.unwrap());
    let breaker = store.breaker(&"one".parse().unwrap()).await.unwrap();
    assert_eq!((breaker.streak, breaker.is_open()), (1, false));
}

fn block(until: Option<i64>, reason: &str) -> Block {
    Block {
        account: "claude".parse().unwrap(),
        until: until.map(at),
        reason: reason.into(),
        kind: Some(BlockKind::Limit),
    }
}

async fn a_block_only_grows_but_for_the_operator(place: Place) {
    let store = place.open().await;
    let firing = BlockSetter::Firing(FiringId::new());
    let account = "claude".parse().unwrap();
    assert_eq!(store.last_block(&account).await.unwrap(), None);
    // What is set, by whom, whether it takes, and what stands then.
    let steps = [
        (Some(100), firing, true, Some(100)),
        (Some(50), firing, false, Some(100)),
        (Some(100), firing, false, Some(100)),
        (Some(101), firing, true, Some(101)),
        (Some(7), BlockSetter::Operator, true, Some(7)),
        (None, firing, true, None),
        (Some(10_000), firing, false, None),
        (None, firing, false, None),
        (Some(8), BlockSetter::Operator, true, Some(8)),
    ];
    for (now, (until, by, takes, stands)) in steps.into_iter().enumerate() {
        let (now, reason) = (i64::try_from(now).unwrap(), format!("step {now}"));
        let taken = store
            .set_block(&block(until, &reason), by, at(now))
            .await
            .unwrap();
        assert_eq!(taken, takes, "{reason}");
        let row = store.block_rows().await.unwrap().remove(0);
        assert_eq!(row.until, stands.map(at), "{reason}");
        assert_eq!(row.reason == reason, takes, "{reason}");
    }
    let row = store.block_rows().await.unwrap().remove(0);
    assert_eq!((row.set_by.as_str(), row.set_at), ("operator", at(8)));

    assert!(store.clear_block(&account, at(9)).await.unwrap());
    assert!(!store.clear_block(&account, at(9)).await.unwrap());
    assert!(store.blocks().await.unwrap().is_empty());
    assert_eq!(
        store.last_block(&account).await.unwrap(),
        Some((at(8), Some(at(8))))
    );
    assert!(
        store
            .set_block(&block(Some(1), "short"), firing, at(0))
            .await
            .unwrap(),
        "cleared"
    );
    assert_eq!(store.blocks().await.unwrap(), [block(Some(1), "short")]);
}

async fn pauses_are_set_changed_and_ended(place: Place) {
    let store = place.open().await;
    for scope in ["fleet", "role one", "repo widget", "account claude"] {
        let scope: PauseScope = scope.parse().unwrap();
        store
            .set_pause(&scope, "a", None, "operator", at(0))
            .await
            .unwrap();
        store
            .set_pause(&scope, "b", Some(at(9)), "operator", at(1))
            .await
            .unwrap();
    }
    let rows = place.open().await.pauses().await.unwrap();
    let scopes: Vec<String> = rows.iter().map(|row| row.scope.to_string()).collect();
    assert_eq!(
        scopes,
        ["account claude", "fleet", "repo widget", "role one"]
    );
    assert!(
        rows.iter()
            .all(|row| row.reason == "b" && row.until == Some(at(9))),
        "{rows:?}"
    );
    assert!(store.resume(&PauseScope::Fleet).await.unwrap());
    assert!(!store.resume(&PauseScope::Fleet).await.unwrap());
    assert_eq!(store.pauses().await.unwrap().len(), 3);
}

async fn the_gate_counts_what_admission_asks(place: Place) {
    let store = place.open().await;
    let (here, there) = ("here".parse().unwrap(), "there".parse().unwrap());
    let one: RoleName = "one".parse().unwrap();
    let slots = [
        (-1, Outcome::Ok),
        (0, Outcome::Ok),
        (5, Outcome::RateLimited),
        (9, Outcome::Failed),
    ];
    for (slot, outcome) in slots {
        let id = claimed(&store, "one", slot).await;
        let (widget, work) = ("widget".parse().unwrap(), WorkKey::None);
        assert!(
            store
                .as_firing(id, carson_store::Epoch::FIRST)
                .take_work(&widget, work, "Work")
                .await
                .unwrap()
        );
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending(outcome, "", slot))
            .await
            .unwrap();
    }
    // A look that found nothing is no firing of the day.
    let silent = claimed(&store, "one", 8).await;
    store
        .as_firing(silent, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Silent, "", 8))
        .await
        .unwrap();
    store
        .record_skips(&here, &[too_late("one", 6)], at(6))
        .await
        .unwrap();
    claimed(&store, "two", 0).await;
    let repos = ["widget".parse().unwrap()];
    let found = gate(&store, &one, &repos, &here, (at(0), at(10))).await;
    assert_eq!(
        (found.fired_today, found.last, found.running_here),
        (2, LastFiring::Ended, 1)
    );
    assert_eq!((found.breaker.streak, found.pause.is_none()), (1, true));

    claimed(&store, "one", 9_000).await;
    let setter = BlockSetter::Operator;
    store
        .set_block(&block(None, "limit"), setter, at(1))
        .await
        .unwrap();
    let widget = PauseScope::Repo("widget".parse().unwrap());
    store
        .set_pause(&widget, "freeze", None, "operator", at(1))
        .await
        .unwrap();
    let found = gate(&store, &one, &repos, &there, (at(0), at(10))).await;
    assert_eq!(
        (found.fired_today, found.last, found.running_here),
        (2, LastFiring::Runs, 0)
    );
    assert_eq!(found.blocks, [block(None, "limit")]);
    assert_eq!(found.pause.unwrap().what, "repo widget");
    let both = ["widget".parse().unwrap(), "gadget".parse().unwrap()];
    assert!(
        gate(&store, &one, &both, &there, (at(0), at(10)))
            .await
            .pause
            .is_none()
    );
}

async fn the_gate_sees_the_pause_that_stands_longest(place: Place) {
    let store = place.open().await;
    let (role, here) = ("one".parse().unwrap(), "here".parse().unwrap());
    let pause = async |scope: &str, until: Option<i64>| {
        let scope: PauseScope = scope.parse().unwrap();
        store
            .set_pause(&scope, "r", until.map(at), "operator", at(0))
            .await
            .unwrap();
        let found = gate(&store, &role, &[], &here, (at(0), at(10))).await;
        found.pause.unwrap().what
    };
    assert_eq!(pause("fleet", Some(1)).await, "fleet");
    assert_eq!(pause("role one", Some(5)).await, "role one");
    assert_eq!(pause("fleet", Some(6)).await, "fleet");
    assert_eq!(pause("role one", None).await, "role one");
    assert_eq!(pause("role two", None).await, "role one");
}

async fn a_paused_account_is_blocked_for_sessions(place: Place) {
    let store = place.open().await;
    let account: PauseScope = "account main".parse().unwrap();
    store
        .set_pause(&account, "a holiday", Some(at(9)), "me", at(0))
        .await
        .unwrap();
    let blocks = store.blocks().await.unwrap();
    assert_eq!(blocks.len(), 1);
    assert_eq!(
        (blocks[0].account.as_str(), blocks[0].until),
        ("main", Some(at(9)))
    );
    assert!(blocks[0].reason.contains("a holiday"));
    // It is no block that an operator could clear.
    assert!(store.block_rows().await.unwrap().is_empty());
    store.resume(&account).await.unwrap();
    assert!(store.blocks().await.unwrap().is_empty());
}

async fn repositories_are_paused_one_by_one(place: Place) {
    let store = place.open().await;
    let widget = PauseScope::Repo("widget".parse().unwrap());
    store
        .set_pause(&widget, "freeze", Some(at(9)), "operator", at(0))
        .await
        .unwrap();
    let paused = store.paused_repos(at(8)).await.unwrap();
    let paused: Vec<&str> = paused.keys().map(RepoName::as_str).collect();
    assert_eq!(paused, ["widget"]);
    assert!(store.paused_repos(at(9)).await.unwrap().is_empty());
    // A role is stopped when all its repositories are, until the first is over.
    let both = ["widget".parse().unwrap(), "gadget".parse().unwrap()];
    let (role, here) = ("one".parse().unwrap(), "here".parse().unwrap());
    let stopped = async || {
        let gate = gate(&store, &role, &both, &here, (at(0), at(10))).await;
        gate.pause.map(|pause| pause.what)
    };
    assert_eq!(stopped().await, None);
    let gadget = PauseScope::Repo("gadget".parse().unwrap());
    store
        .set_pause(&gadget, "moved", None, "operator", at(0))
        .await
        .unwrap();
    assert_eq!(stopped().await.as_deref(), Some("repo widget"));
}
