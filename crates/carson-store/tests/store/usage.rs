//! Usage windows, spending, probes and refusals.

use carson_core::admission::{BLOCK_HORIZON, Block, Spent, UsageWindow};
use carson_core::work::WorkKey;
use carson_core::{AccountName, Outcome, RepoName, RoleName};
use carson_store::{BlockSetter, Claim, NewFiring, Progress, Store, Used};
use chrono::{DateTime, Utc};

use crate::fixture::{Place, at, claimed, ending, gate, new_firing, on_both};

on_both!(
    the_newest_word_on_a_window_counts,
    spending_is_summed_by_role_and_by_time,
    what_was_used_is_told_by_role_and_account,
    second_tries_are_counted_by_account,
    an_open_breaker_lets_one_of_two_hosts_probe,
    two_writers_of_a_block_agree_on_the_longer,
    a_block_that_no_provider_could_mean_is_held_to_the_horizon,
    a_refusal_is_remembered_once,
);

fn window(utilization: f64, seen: i64) -> UsageWindow {
    UsageWindow {
        account: "claude".parse().unwrap(),
        name: "five_hour".into(),
        utilization,
        resets_at: Some(at(9_000)),
        seen_at: at(seen),
    }
}

async fn the_newest_word_on_a_window_counts(place: Place) {
    let store = place.open().await;
    for (used, seen) in [(0.5, 10), (0.92, 20), (0.1, 15)] {
        store.note_window(&window(used, seen)).await.unwrap();
    }
    let other = place.open().await.windows().await.unwrap();
    assert_eq!(other, [window(0.92, 20)]);
    let gate = gate(
        &store,
        &"one".parse().unwrap(),
        &[],
        &"here".parse().unwrap(),
        (at(0), at(9)),
    )
    .await;
    assert_eq!(gate.windows, other);
    // Whoever lifts the block of an account knows better than its CLI did.
    let account = "claude".parse().unwrap();
    assert!(!store.clear_block(&account, at(30)).await.unwrap());
    assert!(store.windows().await.unwrap().is_empty());
}

async fn cost(store: &Store, role: &str, slot: i64, cost: Option<f64>, outcome: Outcome) {
    let id = claimed(store, role, slot).await;
    let (widget, work) = ("widget".parse().unwrap(), WorkKey::None);
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .take_work(&widget, work, "Work")
            .await
            .unwrap()
    );
    let so_far = Progress {
        cost_usd: cost,
        ..Progress::default()
    };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .progress(&so_far, true)
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&ending(outcome, "", slot + 1))
        .await
        .unwrap();
}

async fn spending_is_summed_by_role_and_by_time(place: Place) {
    let store = place.open().await;
    cost(&store, "one", 0, Some(1.0), Outcome::Ok).await;
    cost(&store, "one", 10, None, Outcome::Silent).await;
    // A firing that met a limit counts as none, but its money is gone all the same.
    cost(&store, "one", 20, Some(0.5), Outcome::RateLimited).await;
    cost(&store, "two", 30, Some(4.0), Outcome::Failed).await;
    let (one, day): (RoleName, _) = ("one".parse().unwrap(), (at(0), at(30)));
    assert!((store.spent(day).await.unwrap().usd - 1.5).abs() < 1e-9);
    assert!((store.spent((at(0), at(31))).await.unwrap().usd - 5.5).abs() < 1e-9);
    assert_eq!(
        store.spent((at(100), at(200))).await.unwrap(),
        Spent::default()
    );
    assert!((store.spent_by(&one, (at(0), at(31))).await.unwrap().usd - 1.5).abs() < 1e-9);
    let gate = gate(&store, &one, &[], &"here".parse().unwrap(), day).await;
    assert_eq!(gate.fired_today, 2);
    assert!((gate.spent_today.usd - 1.5).abs() < 1e-9);
}

fn used(account: &str, sessions: u32, cost_usd: Option<f64>) -> Used {
    Used {
        sessions,
        turns: 2,
        tokens: 1_000,
        cost_usd,
        cost_estimated: account == "codex",
        untold: u32::from(cost_usd.is_none()),
        ..Used::with(account.parse().unwrap())
    }
}

async fn what_was_used_is_told_by_role_and_account(place: Place) {
    let store = place.open().await;
    assert!(store.used((at(0), at(900))).await.unwrap().is_empty());
    for (role, slot) in [("one", 0), ("one", 10), ("two", 20), ("two", 30)] {
        let id = claimed(&store, role, slot).await;
        let mut so_far = Progress {
            sessions: 3,
            turns: 4,
            tokens_in: 1_500,
            tokens_out: 500,
            cost_usd: Some(1.5),
            account: Some("claude".parse().unwrap()),
            used: vec![used("claude", 1, None)],
            ..Progress::default()
        };
        // The last is as an older Carson leaves one: nothing is told by account.
        if slot == 30 {
            so_far.used.clear();
        }
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .progress(&so_far, true)
            .await
            .unwrap();
        if slot != 30 {
            so_far.used = vec![used("claude", 2, Some(1.0)), used("codex", 1, Some(0.5))];
        }
        for _ in 0..2 {
            store
                .as_firing(id, carson_store::Epoch::FIRST)
                .progress(&so_far, true)
                .await
                .unwrap();
        }
        let ending = ending(Outcome::Ok, "", slot + 1);
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending)
            .await
            .unwrap();
    }
    let found = store.used((at(0), at(900))).await.unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|row| {
            let Used {
                account,
                sessions,
                turns,
                tokens,
                cost_usd,
                cost_estimated,
                untold,
            } = &row.used;
            let cents = cost_usd.map(|usd| (usd * 100.0).round() as i64);
            let names = (row.role.as_str(), account.as_str());
            (
                names,
                row.firings,
                *sessions,
                *turns,
                *tokens,
                cents,
                *cost_estimated,
                *untold,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (("one", "claude"), 2, 4, 4, 2_000, Some(200), false, 0),
            (("one", "codex"), 2, 2, 4, 2_000, Some(100), true, 0),
            (("two", "claude"), 2, 5, 6, 3_000, Some(250), false, 0),
            (("two", "codex"), 1, 1, 2, 1_000, Some(50), true, 0),
        ]
    );
    assert_eq!(store.used((at(0), at(10))).await.unwrap().len(), 2);
}

fn probe(slot: i64, host: &str, opened: DateTime<Utc>) -> NewFiring {
    NewFiring {
        host: host.parse().unwrap(),
        probes: Some(opened),
        ..new_firing("one", Some(slot), slot)
    }
}

async fn second_tries_are_counted_by_account(place: Place) {
    let store = place.open().await;
    let claude: AccountName = "claude".parse().unwrap();
    for (slot, account, first) in [
        (10, Some(&claude), Some(7)),
        (20, Some(&claude), None),
        (30, None, Some(7)),
        (40, Some(&claude), Some(8)),
    ] {
        let role = format!("role-{slot}");
        let new = NewFiring {
            account: account.cloned(),
            ..new_firing(&role, None, slot)
        };
        assert_eq!(store.claim_firing(&new).await.unwrap(), Claim::Won);
        if let Some(first) = first {
            store
                .as_firing(new.id, carson_store::Epoch::FIRST)
                .set_second_try(first)
                .await
                .unwrap();
        }
        let row = store.firing(new.id).await.unwrap().unwrap();
        assert_eq!(row.second_try, first);
    }
    for (since, tries) in [(0, 2), (11, 1), (41, 0)] {
        let counted = store.second_tries(&claude, at(since)).await.unwrap();
        assert_eq!(counted, tries, "{since}");
    }
}

async fn an_open_breaker_lets_one_of_two_hosts_probe(place: Place) {
    let store = place.open().await;
    let role: RoleName = "one".parse().unwrap();
    for slot in [0, 10, 20] {
        cost(&store, "one", slot, None, Outcome::Failed).await;
    }
    let opened = store.breaker(&role).await.unwrap().opened_at.unwrap();

    // Both hosts saw the same open breaker, and each has a slot of its own.
    let (here, there) = (place.open().await, place.open().await);
    let wishes = [probe(100, "here", opened), probe(101, "there", opened)];
    let (first, second) = tokio::join!(
        here.claim_firing(&wishes[0]),
        there.claim_firing(&wishes[1])
    );
    let claims = [first.unwrap(), second.unwrap()];
    let won = claims.iter().filter(|claim| **claim == Claim::Won).count();
    assert_eq!(won, 1, "{claims:?}");
    let live = &store.live_firings(None).await.unwrap()[0];
    store
        .as_firing(live.id, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Failed, "still", 110))
        .await
        .unwrap();
    let breaker = store.breaker(&role).await.unwrap();
    assert_eq!(breaker.opened_at, Some(at(110)), "a bad end opens it anew");

    // The other host still believes what it read before: too late.
    let late = probe(120, "there", opened);
    assert_ne!(there.claim_firing(&late).await.unwrap(), Claim::Won);
    let next = probe(130, "there", at(110));
    assert_eq!(there.claim_firing(&next).await.unwrap(), Claim::Won);
    store
        .as_firing(next.id, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Silent, "", 131))
        .await
        .unwrap();
    assert!(
        store.breaker(&role).await.unwrap().is_open(),
        "nothing was tried"
    );
    let last = probe(140, "here", at(110));
    assert_eq!(here.claim_firing(&last).await.unwrap(), Claim::Won);
    store
        .as_firing(last.id, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "", 141))
        .await
        .unwrap();
    let breaker = store.breaker(&role).await.unwrap();
    assert_eq!((breaker.is_open(), breaker.streak), (false, 0));
}

async fn two_writers_of_a_block_agree_on_the_longer(place: Place) {
    let account: AccountName = "claude".parse().unwrap();
    for round in 0..8 {
        let (one, two) = (place.open().await, place.open().await);
        let block = |until: i64| Block {
            account: account.clone(),
            until: Some(at(round * 1_000 + until)),
            reason: until.to_string(),
            kind: None,
        };
        let (long, short) = (block(900), block(100));
        let by = BlockSetter::Firing(carson_core::FiringId::new());
        let (first, second) = tokio::join!(
            one.set_block(&long, by, at(round)),
            two.set_block(&short, by, at(round))
        );
        assert!(first.unwrap() || second.unwrap());
        let [set] = &one.block_rows().await.unwrap()[..] else {
            panic!("one row")
        };
        assert_eq!((set.until, set.reason.as_str()), (long.until, "900"));
    }
}

/// F28: a value of a broken clock, or of a hand in the database.
async fn a_block_that_no_provider_could_mean_is_held_to_the_horizon(place: Place) {
    let store = place.open().await;
    let far = "9999-12-31T00:00:00Z".parse().unwrap();
    let block = Block {
        account: "claude".parse().unwrap(),
        until: Some(far),
        reason: "limit".into(),
        kind: None,
    };
    let by = BlockSetter::Firing(carson_core::FiringId::new());
    assert!(store.set_block(&block, by, at(0)).await.unwrap());
    let held = store.blocks().await.unwrap().remove(0);
    assert_eq!(held.until, Some(at(0) + BLOCK_HORIZON));
    // A person may mean it.
    assert!(
        store
            .set_block(&block, BlockSetter::Operator, at(1))
            .await
            .unwrap()
    );
    assert_eq!(store.blocks().await.unwrap()[0].until, Some(far));
}

async fn a_refusal_is_remembered_once(place: Place) {
    let store = place.open().await;
    let repo: RepoName = "widget".parse().unwrap();
    let work = WorkKey::Issue(7);
    assert!(
        store
            .remember_refusal(&repo, work, 12, at(0))
            .await
            .unwrap()
    );
    assert!(
        !store
            .remember_refusal(&repo, work, 12, at(1))
            .await
            .unwrap()
    );
    assert!(
        store
            .remember_refusal(&repo, work, 13, at(1))
            .await
            .unwrap()
    );

    let id = claimed(&store, "one", 0).await;
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .take_work(&repo, work, "t")
        .await
        .unwrap();
    assert!(
        store.firings_of(&repo, work).await.unwrap().is_empty(),
        "it runs"
    );
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_pull(12, "u")
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "", 5))
        .await
        .unwrap();
    let [row] = &store.firings_of(&repo, work).await.unwrap()[..] else {
        panic!("one row")
    };
    assert_eq!((row.id, row.pr_number), (id, Some(12)));
}
