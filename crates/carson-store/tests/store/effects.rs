//! What an ended firing owes the forge.

use carson_core::effect::Release;
use carson_core::settle::Settled;
use carson_core::work::WorkKey;
use carson_core::{Effect, Outcome, Page};
use carson_store::{EffectState, Store, Tried};
use chrono::{DateTime, Utc};

use crate::fixture::{Place, at, claimed, ending, on_both};

on_both!(
    a_list_is_decided_once,
    who_knows_more_decides_anew_until_something_is_done,
    a_pull_request_is_noted_with_the_effect_that_made_it,
    what_is_owed_comes_back_at_its_time_and_only_once_the_firing_ended,
    issues_are_counted_by_role_and_time,
);

fn close(issue: u64) -> Effect {
    Effect::CloseIssue { issue }
}

fn release() -> Effect {
    let release = Release {
        outcome: "OK".into(),
        note: Page::from("done\0here"),
        attempt_counts: true,
        add: vec!["a".into()],
        remove: vec!["b".into()],
    };
    Effect::Release {
        issue: 7,
        without_pull: Some(release.clone()),
        release,
    }
}

fn tried(state: EffectState, next_at: Option<DateTime<Utc>>) -> Tried<'static> {
    Tried {
        state,
        said: Some("said"),
        next_at,
    }
}

async fn owing(store: &Store, second: i64) -> usize {
    let host = "here".parse().unwrap();
    store.owing(&host, at(second)).await.unwrap().len()
}

async fn a_list_is_decided_once(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let first = Settled::new(Outcome::Ok, "first");
    let planned = store
        .as_firing(id, carson_store::Epoch::FIRST)
        .plan_effects(&first, &[release(), close(7)])
        .await
        .unwrap();
    assert_eq!(planned.delivered, first);
    assert_eq!(planned.effects.len(), 2);
    // Whoever comes again decides nothing.
    let second = Settled::new(Outcome::Partial, "second");
    let planned = store
        .as_firing(id, carson_store::Epoch::FIRST)
        .plan_effects(&second, &[close(8)])
        .await
        .unwrap();
    assert_eq!(planned.delivered, first);
    let kinds: Vec<_> = planned
        .effects
        .iter()
        .map(|row| row.effect.kind())
        .collect();
    assert_eq!(kinds, ["release", "close-issue"]);
}

async fn who_knows_more_decides_anew_until_something_is_done(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let as_firing = store.as_firing(id, carson_store::Epoch::FIRST);
    let [first, second, third] =
        ["first", "second", "third"].map(|why| Settled::new(Outcome::Partial, why));
    as_firing
        .plan_effects(&first, &[release(), close(7)])
        .await
        .unwrap();
    let trouble = tried(EffectState::Owed, None);
    as_firing.note_effect(0, &trouble).await.unwrap();
    let planned = as_firing
        .plan_effects_anew(&second, &[close(8)])
        .await
        .unwrap();
    assert_eq!(
        (planned.delivered, planned.effects.len()),
        (second.clone(), 1)
    );
    as_firing
        .note_effect(0, &tried(EffectState::Done, None))
        .await
        .unwrap();
    let planned = as_firing
        .plan_effects_anew(&third, &[close(9), close(10)])
        .await
        .unwrap();
    assert_eq!((planned.delivered, planned.effects.len()), (second, 1));
}

async fn a_pull_request_is_noted_with_the_effect_that_made_it(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let as_firing = store.as_firing(id, carson_store::Epoch::FIRST);
    let settled = Settled::new(Outcome::Ok, "done");
    let list = [close(7)];
    let planned = as_firing.plan_effects(&settled, &list);
    planned.await.unwrap();
    let done = tried(EffectState::Done, None);
    let noted = as_firing.note_pull_effect(0, &done, (9, "url"));
    assert!(noted.await.unwrap());
    let row = store.firing(id).await.unwrap().unwrap();
    assert_eq!(
        (row.pr_number, row.pr_url.as_deref()),
        (Some(9), Some("url"))
    );
    assert!(!store.owes(id).await.unwrap());
    // Whoever comes again changes nothing of what became of it.
    let again = as_firing.note_pull_effect(0, &done, (9, "url"));
    assert!(!again.await.unwrap());
}

async fn what_is_owed_comes_back_at_its_time_and_only_once_the_firing_ended(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let (repo, other) = ("widget".parse().unwrap(), "gadget".parse().unwrap());
    let taken = store
        .as_firing(id, carson_store::Epoch::FIRST)
        .take_work(&repo, WorkKey::Issue(7), "t")
        .await;
    assert!(taken.unwrap());
    assert!(store.owing_in(&repo).await.unwrap().is_empty());
    let settled = Settled::new(Outcome::Ok, "done");
    let list = [close(7), close(8)];
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .plan_effects(&settled, &list)
        .await
        .unwrap();
    assert!(store.owes(id).await.unwrap());
    assert_eq!(store.owing_in(&repo).await.unwrap()[0].id, id);
    assert!(store.owing_in(&other).await.unwrap().is_empty());
    // While it lives it does that itself.
    assert_eq!(owing(&store, 100).await, 0);
    let later = tried(EffectState::Owed, Some(at(50)));
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .note_effect(0, &later)
            .await
            .unwrap()
    );
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "r", 1))
        .await
        .unwrap();
    assert_eq!(owing(&store, 49).await, 0);
    assert_eq!(owing(&store, 50).await, 1);
    let done = tried(EffectState::Done, None);
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .note_effect(0, &done)
            .await
            .unwrap()
    );
    // Somebody else was faster.
    assert!(
        !store
            .as_firing(id, carson_store::Epoch::FIRST)
            .note_effect(0, &later)
            .await
            .unwrap()
    );
    assert_eq!(owing(&store, 2).await, 1);
    let refused = tried(EffectState::Refused, None);
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .note_effect(1, &refused)
            .await
            .unwrap()
    );
    assert_eq!(owing(&store, 100).await, 0);
    assert!(!store.owes(id).await.unwrap());
    assert!(store.owing_in(&repo).await.unwrap().is_empty());
    let rows = store.effects(id).await.unwrap();
    let states: Vec<_> = rows.iter().map(|row| (row.state, row.tries)).collect();
    assert_eq!(states, [(EffectState::Done, 2), (EffectState::Refused, 1)]);
}

async fn issues_are_counted_by_role_and_time(place: Place) {
    let store = place.open().await;
    let file = || Effect::FileIssue {
        topic: None,
        repo: None,
        after: Vec::new(),
        title: Page::from("a \"title\" with {\"kind\":\"file-issue\"} in it"),
        body: Page::from("body"),
        labels: Vec::new(),
    };
    let filed = async |role: &str, since| {
        let role = role.parse().unwrap();
        store.filed_since(&role, at(since)).await.unwrap()
    };
    let settled = Settled::new(Outcome::Ok, "done");
    for (role, slot, list) in [
        ("one", 0, vec![file(), close(7), file()]),
        ("two", 10, vec![file()]),
    ] {
        let id = claimed(&store, role, slot).await;
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .plan_effects(&settled, &list)
            .await
            .unwrap();
        let refused = tried(EffectState::Refused, None);
        assert!(
            store
                .as_firing(id, carson_store::Epoch::FIRST)
                .note_effect(0, &refused)
                .await
                .unwrap()
        );
    }
    assert_eq!((filed("one", 0).await, filed("two", 0).await), (1, 0));
    assert_eq!(filed("one", 100_000).await, 0);
}
