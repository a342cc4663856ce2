//! Which pull requests firings opened, and what became of them.

use carson_core::pull_end::PullEnd;
use carson_core::work::WorkKey;
use carson_core::{FiringId, Outcome, RepoName};
use carson_store::{Judged, PullEndRow, Store};
use chrono::TimeDelta;

use crate::fixture::{Place, at, claimed, ending, on_both};

on_both!(
    who_opened_a_pull_request_is_told_apart_from_who_went_on_with_it,
    what_became_of_a_pull_request_is_noted_and_written_over,
    a_firing_notes_the_prompts_that_it_began_with,
);

fn widget() -> RepoName {
    "widget".parse().unwrap()
}

/// A firing that ended, with this pull request.
async fn fired(store: &Store, slot: i64, (issue, pull): (u64, Option<u64>)) -> FiringId {
    let id = claimed(store, "one", slot).await;
    let work = WorkKey::Issue(issue);
    assert!(
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .take_work(&widget(), work, "t")
            .await
            .unwrap()
    );
    if let Some(pull) = pull {
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .set_judged(Judged::Pushed, "s")
            .await
            .unwrap();
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .set_pull(pull, "u")
            .await
            .unwrap();
    }
    let end = ending(Outcome::Ok, "", slot + 1);
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&end)
        .await
        .unwrap();
    id
}

async fn who_opened_a_pull_request_is_told_apart_from_who_went_on_with_it(place: Place) {
    let store = place.open().await;
    let first = fired(&store, 0, (1, Some(7))).await;
    let _without = fired(&store, 10, (2, None)).await;
    let second = fired(&store, 20, (3, Some(8))).await;
    let went_on = fired(&store, 30, (1, Some(7))).await;
    let opened = async |since| {
        let rows = store.firings_that_opened(at(since)).await.unwrap();
        rows.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(opened(0).await, [second, first]);
    // It was opened before.
    assert_eq!(opened(15).await, [second]);
    assert_eq!(opened(25).await, []);
    let of_pull = store.firings_of_pull(&widget(), 7).await.unwrap();
    let of_pull: Vec<_> = of_pull.iter().map(|row| row.id).collect();
    assert_eq!(of_pull, [first, went_on]);
    let other = "gadget".parse().unwrap();
    assert!(store.firings_of_pull(&other, 7).await.unwrap().is_empty());
}

fn row(end: PullEnd) -> PullEndRow {
    PullEndRow {
        repo: widget(),
        number: 7,
        end,
        base: "main".to_owned(),
        opened_at: at(0),
        ended_at: Some(at(60)),
        offered: Some("o".to_owned()),
        landed: None,
        looked_at: at(61),
    }
}

async fn what_became_of_a_pull_request_is_noted_and_written_over(place: Place) {
    let store = place.open().await;
    assert_eq!(store.pull_end(&widget(), 7).await.unwrap(), None);
    for end in [PullEnd::Untouched, PullEnd::Reverted] {
        store.note_pull_end(&row(end)).await.unwrap();
        let read = place.open().await.pull_end(&widget(), 7).await.unwrap();
        assert_eq!(read, Some(row(end)));
    }
    let bare = PullEndRow {
        number: 8,
        ended_at: None,
        offered: None,
        ..row(PullEnd::Closed)
    };
    store.note_pull_end(&bare).await.unwrap();
    assert_eq!(store.pull_end(&widget(), 8).await.unwrap(), Some(bare));
}

async fn a_firing_notes_the_prompts_that_it_began_with(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let version = async || store.firing(id).await.unwrap().unwrap().prompt_version;
    assert_eq!(version().await, None);
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .set_prompt_version("0a1b2c3d")
        .await
        .unwrap();
    assert_eq!(version().await.as_deref(), Some("0a1b2c3d"));
}

#[test]
fn a_merge_is_for_good_once_the_base_was_looked_through_two_weeks_later() {
    let after = |end: PullEnd, days: i64| PullEndRow {
        looked_at: at(60) + TimeDelta::days(days),
        ..row(end)
    };
    for (end, days, is_for_good) in [
        (PullEnd::Untouched, 14, false),
        (PullEnd::Untouched, 15, true),
        (PullEnd::Changed, 1, false),
        (PullEnd::Merged, 1, false),
        (PullEnd::Reverted, 0, true),
        (PullEnd::Closed, 0, true),
    ] {
        assert_eq!(after(end, days).is_for_good(), is_for_good, "{end} {days}");
    }
    let never_noted = PullEndRow {
        ended_at: None,
        ..row(PullEnd::Merged)
    };
    assert!(never_noted.is_for_good());
}
