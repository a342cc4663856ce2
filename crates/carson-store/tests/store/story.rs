//! One firing, from its claim to the last read of its row.

use std::path::Path;

use carson_core::settle::{Facts, settle};
use carson_core::work::WorkKey;
use carson_core::{Event, FiringId, Outcome, Sentinel, Stage};
use carson_store::{Ending, Firing, PostKind, Progress, Store};
use serde_json::json;

use crate::fixture::{Place, at, claimed, ending, new_firing, on_both, post, stopped};

on_both!(a_firing_from_claim_to_end, nothing_is_done_twice,);

async fn a_firing_from_claim_to_end(place: Place) {
    let store = place.open().await;
    let mut new = new_firing("implementer", Some(0), 3);
    new.missed = 4;
    store.claim_firing(&new).await.unwrap();
    let id = new.id;
    run(&store, id).await;
    settle_and_end(&store, id).await;

    // Another process reads what is left.
    let store = place.open().await;
    let row = store.firing(id).await.unwrap().unwrap();
    assert_eq!(
        (row.id, row.role.as_str(), row.missed),
        (id, "implementer", 4)
    );
    assert_eq!((row.slot, row.claimed_at), (Some(at(0)), at(3)));
    assert_eq!((row.started_at, row.ended_at), (Some(at(4)), Some(at(90))));
    assert_eq!((row.pid, row.pid_start), (Some(4_194_303), Some(1 << 40)));
    assert_eq!(row.pid_space.as_deref(), Some("boot 7"));
    assert_eq!(
        (row.repo.unwrap().as_str(), row.work),
        ("widget", Some(WorkKey::Issue(7)))
    );
    assert_eq!(row.title.as_deref(), Some("Fix the Ärger"));
    assert_eq!((row.turns, row.attempts, row.sessions), (31, 2, 4));
    assert_eq!((row.tokens_in, row.tokens_out), (5_000_000_000, 17));
    assert_eq!(
        (row.cost_usd, row.engine.as_deref()),
        (Some(1.25), Some("claude"))
    );
    assert_eq!(row.account.unwrap().as_str(), "spare");
    assert_eq!(
        (row.branch.as_deref(), row.base_sha.as_deref()),
        (Some("carson/x/1"), Some("abc"))
    );
    assert_eq!(row.bench.as_deref(), Some("/benches/x"));
    assert_eq!(
        (row.pr_number, row.pr_url.as_deref()),
        (Some(12), Some("https://forge/12"))
    );
    assert_eq!(row.salvage_ref.as_deref(), Some("refs/carson/salvage/x"));
    assert_eq!(
        (row.stage, row.outcome),
        (Some(Stage::Execute), Some(Outcome::Ok))
    );
    assert_eq!(
        (row.sentinel.as_deref(), row.reason.as_deref()),
        (Some("[OK]"), Some("done"))
    );
    assert_eq!(
        (row.facts, row.settled),
        (Some(facts()), Some(settle(&facts())))
    );

    let stages = store.stages(id).await.unwrap();
    let ends: Vec<_> = stages
        .iter()
        .map(|s| (s.name, s.started_at, s.ended_at))
        .collect();
    let expected = [
        (Stage::Preflight, at(5), Some(at(6))),
        (Stage::Execute, at(6), Some(at(90))),
        (Stage::Teardown, at(91), Some(at(92))),
    ];
    assert_eq!(ends, expected);
    let blocked = store.blocked_calls(id).await.unwrap();
    assert_eq!(
        (blocked[0].rule.as_str(), blocked[0].at),
        ("rm-outside", at(10))
    );
    let events = store.events(1).await.unwrap();
    assert_eq!(
        (events[0].kind.as_str(), &events[0].data),
        (
            "session.left_behind",
            &json!({"stage": "execute", "processes": 2})
        )
    );
    assert_eq!((events[0].firing, events[0].at), (Some(id), at(12)));
    assert!(store.live_firings(None).await.unwrap().is_empty());
    assert_eq!(
        store
            .last_slot(&"implementer".parse().unwrap())
            .await
            .unwrap(),
        Some(at(0))
    );
    assert_eq!(
        store
            .lease_post("slack", at(91))
            .await
            .unwrap()
            .unwrap()
            .body,
        json!({"title": "ended"})
    );
}

fn facts() -> Facts {
    Facts {
        sentinel: Some(Sentinel::Ok("done".into())),
        commits: 2,
        ..Facts::default()
    }
}

async fn run(store: &Store, id: FiringId) {
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .start_firing((4_194_303, 1 << 40), Some("boot 7"), at(4))
            .await
            .unwrap()
    );
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_stage(Stage::Preflight, at(5))
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_stage(Stage::Execute, at(6))
        .await
        .unwrap();
    let widget = "widget".parse().unwrap();
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .take_work(&widget, WorkKey::Issue(7), "Fix the Ärger")
            .await
            .unwrap()
    );
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_place("carson/x/1", "abc", Path::new("/benches/x"))
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .add_blocked_calls(&[stopped("rm-outside", "Bash", "rm -rf /")], at(10))
        .await
        .unwrap();
    let first = Event::BreakerReset { by: "operator" };
    store.event(&first, None, None, at(11)).await.unwrap();
    let level = json!({"landlock_abi": 7, "weaker": ["ümläut"]});
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_sandbox(&level)
        .await
        .unwrap();
    let row = store.firing(id).await.unwrap().unwrap();
    assert_eq!(row.sandbox.as_ref(), Some(&level));
    assert_eq!(
        store.sandbox_before(&row).await.unwrap(),
        None,
        "its own is no earlier one"
    );
    let other = Firing {
        id: FiringId::new(),
        ..row
    };
    assert_eq!(store.sandbox_before(&other).await.unwrap(), Some(level));
    let role = "implementer".parse().unwrap();
    let second = Event::SessionLeftBehind {
        stage: Stage::Execute,
        processes: 2,
    };
    let noted = store.event(&second, Some(&role), Some(id), at(12)).await;
    noted.unwrap();
    let mut so_far = Progress {
        retries: 2,
        cost_estimated: true,
        turns: 31,
        tokens_in: 5_000_000_000,
        tokens_out: 17,
        cost_usd: Some(1.25),
        attempts: 2,
        sessions: 4,
        account: Some("spare".parse().unwrap()),
        engine: Some("claude".into()),
        reviewed_by: Some("other".parse().unwrap()),
        used: Vec::new(),
    };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .progress(&so_far, true)
        .await
        .unwrap();
    (so_far.account, so_far.engine) = (None, None);
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .progress(&so_far, true)
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_pull(12, "https://forge/12")
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_salvage_ref("refs/carson/salvage/x")
        .await
        .unwrap();
    let live = store
        .live_firings(Some(&"here".parse().unwrap()))
        .await
        .unwrap();
    assert_eq!(live.iter().map(|row| row.id).collect::<Vec<_>>(), [id]);
    assert!(
        store
            .live_firings(Some(&"there".parse().unwrap()))
            .await
            .unwrap()
            .is_empty()
    );
}

async fn settle_and_end(store: &Store, id: FiringId) {
    let settled = settle(&facts());
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .settle_firing(&settled, Some("[OK]"), &facts())
            .await
            .unwrap()
    );
    let posts = vec![post(Some(id), PostKind::Root, "ended", 90)];
    let done = Ending {
        posts,
        ..ending(Outcome::Ok, "done", 90)
    };
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&done)
            .await
            .unwrap()
    );
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_stage(Stage::Teardown, at(91))
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_stage(at(92))
        .await
        .unwrap();
}

async fn nothing_is_done_twice(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "implementer", 0).await;
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .start_firing((1, 1), None, at(1))
            .await
            .unwrap()
    );
    assert!(
        !store
            .as_firing(id, carson_store::Epoch::FIRST)
            .start_firing((2, 2), None, at(2))
            .await
            .unwrap(),
        "the first process has the row"
    );

    let (one, other) = (facts(), Facts::default());
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .settle_firing(&settle(&one), None, &one)
            .await
            .unwrap()
    );
    assert!(
        !store
            .as_firing(id, carson_store::Epoch::FIRST)
            .settle_firing(&settle(&other), None, &other)
            .await
            .unwrap()
    );

    let posts = vec![post(Some(id), PostKind::Root, "failed", 9)];
    let failed = Ending {
        posts,
        ..ending(Outcome::Failed, "first", 9)
    };
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&failed)
            .await
            .unwrap()
    );
    assert!(
        !store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending(Outcome::Ok, "second", 10))
            .await
            .unwrap()
    );
    let again = Ending {
        reason: "third".into(),
        ..failed
    };
    assert!(
        !store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&again)
            .await
            .unwrap()
    );

    let row = store.firing(id).await.unwrap().unwrap();
    assert_eq!(
        (row.outcome, row.reason.as_deref()),
        (Some(Outcome::Failed), Some("first"))
    );
    assert_eq!((row.pid, row.facts), (Some(1), Some(one)));
    assert_eq!(store.breaker(&row.role).await.unwrap().streak, 1);
    assert_eq!(store.pending_posts().await.unwrap(), 1);
    assert!(
        !store
            .as_firing(id, carson_store::Epoch::FIRST)
            .start_firing((3, 3), None, at(11))
            .await
            .unwrap(),
        "it has ended"
    );
}
