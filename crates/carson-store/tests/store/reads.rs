//! What is asked of the rows of many firings, and what text and times they give back.

use carson_core::admission::Spent;
use carson_core::settle::{Facts, settle};
use carson_core::work::WorkKey;
use carson_core::{FiringId, Outcome};
use carson_store::{Filter, Found, NewSkip, PostKind, Progress};
use serde_json::json;

use crate::fixture::{Place, at, claimed, ending, new_firing, on_both, post, stopped, too_late};

on_both!(
    lists_are_filtered,
    a_span_of_time_has_its_firings,
    the_quiet_ones_are_counted_only,
    a_short_id_finds_its_firing,
    odd_text_is_kept_readable,
    times_order_as_they_should,
);

async fn a_span_of_time_has_its_firings(place: Place) {
    let store = place.open().await;
    let here = "here".parse().unwrap();
    let mut ids = Vec::new();
    for (role, slot) in [("one", 0), ("two", 60), ("one", 120), ("one", 240)] {
        let id = claimed(&store, role, slot).await;
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending(Outcome::Failed, "", slot + 1))
            .await
            .unwrap();
        ids.push(id);
    }
    store
        .record_skips(&here, &[too_late("one", 180)], at(181))
        .await
        .unwrap();
    let (one, two, none) = (
        "one".parse().unwrap(),
        "two".parse().unwrap(),
        "none".parse().unwrap(),
    );
    let roles = [&one, &two, &none];
    let drawn = async |from, until, quiet, each| -> Vec<(String, Option<Outcome>)> {
        let span = (at(from), at(until));
        let rows = store.drawn(&roles, span, quiet, each).await.unwrap();
        let short = |row: carson_store::Drawn| (row.role.to_string(), row.outcome);
        rows.into_iter().map(short).collect()
    };
    let of = |role: &str, outcome| (role.to_owned(), Some(outcome));
    let (failed, skipped) = (of("one", Outcome::Failed), of("one", Outcome::Skipped));
    let other = of("two", Outcome::Failed);
    let all = [&skipped, &failed, &failed, &other].map(Clone::clone);
    assert_eq!(drawn(0, 240, true, 10).await, all);
    assert_eq!(drawn(0, 240, false, 10).await, all[1..]);
    assert_eq!(
        drawn(1, 241, true, 2).await,
        [failed.clone(), skipped, other.clone()]
    );
    assert_eq!(drawn(0, 241, false, 1).await, [failed, other]);
    assert!(drawn(61, 120, true, 10).await.is_empty());
    for (most, more) in [(0, true), (3, true), (4, false)] {
        let are_more = store.are_more(&roles, (at(0), at(240)), most).await;
        assert_eq!(are_more.unwrap(), more, "{most}");
    }
    let quiet = store.quiet(&roles, (at(0), at(241))).await.unwrap();
    let wanted = carson_store::Quiet {
        role: one.clone(),
        silent: 0,
        skipped: 1,
        first: at(181),
        last: at(181),
    };
    assert_eq!(quiet, [wanted]);
    let ends = store.ends_between((at(0), at(240))).await.unwrap();
    let ends: std::collections::BTreeMap<_, _> = ends.into_iter().collect();
    assert_eq!(ends, [(Outcome::Failed, 3), (Outcome::Skipped, 1)].into());

    let older = async |role, before| -> Vec<FiringId> {
        let rows = store.firings_before(role, before, 3).await.unwrap();
        rows.into_iter().map(|row| row.id).collect()
    };
    let newest = older(None, None).await;
    assert_eq!(newest[1..], [ids[3], ids[2]]);
    assert_eq!(older(None, Some(ids[2])).await, [ids[1], ids[0]]);
    assert_eq!(older(Some(&one), Some(ids[2])).await, [ids[0]]);

    let histories = store.histories(&roles, at(0), 2).await.unwrap();
    let firings = |of: &carson_core::RoleName| {
        let found = histories.iter().find(|(role, _)| role == of);
        found.map(|(_, history)| (history.firings, history.known, history.ran_seconds))
    };
    assert_eq!(firings(&one), Some((2, 2, 2)), "a skipped slot is none");
    assert_eq!(firings(&two), Some((1, 1, 1)));
    assert_eq!(firings(&none), None);
}

async fn lists_are_filtered(place: Place) {
    let store = place.open().await;
    let here = "here".parse().unwrap();
    let mut ids = Vec::new();
    for (role, slot) in [("one", 0), ("two", 60), ("one", 120)] {
        let id = claimed(&store, role, slot).await;
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending(Outcome::Ok, "", slot + 1))
            .await
            .unwrap();
        ids.push(id);
    }
    let two = "two".parse().unwrap();
    for written in [1, 0] {
        let skips = [NewSkip {
            missed: 2,
            ..too_late("two", 180)
        }];
        let done = store.record_skips(&here, &skips, at(181)).await.unwrap();
        assert_eq!(done, written, "a slot has one row");
    }
    assert_eq!(store.last_slot(&two).await.unwrap(), Some(at(180)));

    let all = Filter {
        role: None,
        since: None,
        skipped: true,
        outcome: None,
        limit: 10,
    };
    let list = async |filter: Filter| -> Vec<FiringId> {
        let rows = store.firings(&filter).await.unwrap();
        rows.into_iter().map(|row| row.id).collect()
    };
    assert_eq!(list(all.clone()).await.len(), 4);
    let newest = store.firings(&all).await.unwrap().remove(0);
    assert_eq!((newest.slot, newest.missed), (Some(at(180)), 2));
    let loud = Filter {
        skipped: false,
        ..all.clone()
    };
    assert_eq!(list(loud.clone()).await, [ids[2], ids[1], ids[0]]);
    assert_eq!(
        list(Filter {
            limit: 1,
            ..loud.clone()
        })
        .await,
        [ids[2]]
    );
    assert_eq!(
        list(Filter {
            since: Some(at(60)),
            ..loud.clone()
        })
        .await,
        [ids[2], ids[1]]
    );
    for (outcome, rows) in [
        (Outcome::Ok, 3),
        (Outcome::Skipped, 1),
        (Outcome::Partial, 0),
    ] {
        let ended = Filter {
            outcome: Some(outcome),
            ..all.clone()
        };
        assert_eq!(list(ended).await.len(), rows, "{outcome}");
    }
    let one = Filter {
        role: "one".parse().ok(),
        ..loud
    };
    assert_eq!(list(one.clone()).await, [ids[2], ids[0]]);
    assert_eq!(
        list(Filter {
            since: Some(at(1)),
            ..one
        })
        .await,
        [ids[2]]
    );
}

async fn the_quiet_ones_are_counted_only(place: Place) {
    let store = place.open().await;
    let here = "here".parse().unwrap();
    let ends = [
        Outcome::Ok,
        Outcome::Silent,
        Outcome::Failed,
        Outcome::Silent,
    ];
    let mut ids = Vec::new();
    for (slot, outcome) in (0..).step_by(60).zip(ends) {
        let id = claimed(&store, "one", slot).await;
        let spent = Progress {
            cost_usd: Some(0.25),
            cost_estimated: slot == 0,
            ..Progress::default()
        };
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .progress(&spent, true)
            .await
            .unwrap();
        let ending = ending(outcome, "", slot + 1);
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending)
            .await
            .unwrap();
        ids.push(id);
    }
    let skips = [too_late("two", 180)];
    store.record_skips(&here, &skips, at(181)).await.unwrap();
    claimed(&store, "two", 240).await;

    let busy = async |since, limit| -> Vec<FiringId> {
        let rows = store.busy_since(at(since), limit).await.unwrap();
        rows.into_iter().map(|row| row.id).collect()
    };
    assert_eq!(busy(0, 10).await, [ids[2], ids[0]]);
    assert_eq!(busy(0, 1).await, [ids[2]]);
    assert_eq!(busy(1, 10).await, [ids[2]]);
    let sums = [
        (0, (2, 1, 1.0, true)),
        (61, (1, 1, 0.5, false)),
        (900, (0, 0, 0.0, false)),
    ];
    for (since, (silent, skipped, usd, estimated)) in sums {
        let quiet = store.quiet_since(at(since)).await.unwrap();
        assert_eq!(quiet, (silent, skipped, Spent { usd, estimated }));
    }
}

async fn a_short_id_finds_its_firing(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let two = claimed(&store, "two", 0).await;
    let whole = id.to_string();
    let parts = [&whole[..], &whole[28..], &whole[19..], &whole[9..33]];
    let parts = parts.map(str::to_owned);
    for text in [id.short().to_uppercase()].into_iter().chain(parts) {
        let Found::One(row) = store.find_firing(&text).await.unwrap() else {
            panic!("{text} is not found");
        };
        assert_eq!(row.id, id);
    }
    // However few, where no other has them.
    let (digits, others) = (whole.replace('-', ""), two.to_string().replace('-', ""));
    let mut few = (0..29).map(|at| &digits[at..at + 3]);
    let few = few.find(|few| !others.contains(few)).unwrap();
    let found = store.find_firing(few).await.unwrap();
    assert!(matches!(found, Found::One(row) if row.id == id), "{few}");
    for text in ["", "-", "xyz", "no such", "%", &FiringId::new().to_string()] {
        assert!(
            matches!(store.find_firing(text).await.unwrap(), Found::Nothing),
            "{text}"
        );
    }
    // The first digits are the time.
    let found = store.find_firing(&whole[..8]).await.unwrap();
    assert!(matches!(found, Found::Many(ids) if ids.len() == 2 && ids.contains(&id)));
}

/// PostgreSQL refuses the character NUL in any text, and models do write it.
async fn odd_text_is_kept_readable(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let odd = "a\0b '; DROP TABLE firing; -- \u{1f600} $1 ?";
    let kept = odd.replace('\0', "\u{fffd}");
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .add_blocked_calls(&[stopped(odd, odd, odd)], at(1))
        .await
        .unwrap();
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .take_work(&"widget".parse().unwrap(), WorkKey::Issue(1), odd)
            .await
            .unwrap()
    );
    let event = carson_core::Event::PauseEnded { scope: odd.into() };
    store.event(&event, None, None, at(1)).await.unwrap();
    let odd_post = post(None, PostKind::Root, odd, 1);
    store.file_post(&odd_post).await.unwrap();
    store.post_failed(odd_post.id, odd, None).await.unwrap();
    let failed = Facts {
        halt: Some(carson_core::settle::Halt::Broken(odd.to_owned())),
        ..Facts::default()
    };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .settle_firing(&settle(&failed), None, &failed)
        .await
        .unwrap();
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Failed, odd, 2))
        .await
        .unwrap();

    let row = store.firing(id).await.unwrap().unwrap();
    assert_eq!(
        (row.reason.as_ref(), row.title.as_ref()),
        (Some(&kept), Some(&kept))
    );
    assert_eq!(row.facts, Some(failed));
    assert_eq!(store.blocked_calls(id).await.unwrap()[0].call, kept);
    assert_eq!(
        store.events(1).await.unwrap()[0].data,
        json!({ "scope": odd })
    );
    assert_eq!(
        store
            .lease_post("slack", at(2))
            .await
            .unwrap()
            .unwrap()
            .body,
        json!({ "title": odd })
    );
}

/// SQLite keeps times as text and compares them as text.
async fn times_order_as_they_should(place: Place) {
    let store = place.open().await;
    let micros = [
        0, 1, 10, 999, 1_000, 1_001, 500_000, 500_001, 999_999, 1_000_000, 10_000_000,
    ];
    let time = |micros| at(0) + chrono::TimeDelta::microseconds(micros);
    for (index, micros) in micros.into_iter().enumerate() {
        let mut new = new_firing(&format!("role-{index}"), None, 0);
        new.claimed_at = time(micros);
        store.claim_firing(&new).await.unwrap();
    }
    for (index, since) in micros.into_iter().enumerate() {
        let filter = Filter {
            role: None,
            since: Some(time(since)),
            skipped: true,
            outcome: None,
            limit: 100,
        };
        let rows = store.firings(&filter).await.unwrap();
        assert_eq!(rows.len(), micros.len() - index, "since {since} µs");
        assert_eq!(rows.last().unwrap().claimed_at, time(since));
    }
}
