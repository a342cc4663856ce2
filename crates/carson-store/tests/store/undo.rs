//! What takes a firing back.

use carson_core::effect::LabelChange;
use carson_core::settle::Settled;
use carson_core::{Compensation, Effect, Outcome};
use carson_store::{NewUndo, UndoState};

use crate::fixture::{Place, at, claimed, on_both};

on_both!(
    the_list_is_made_once_and_each_is_noted_once,
    labels_are_noted_once,
);

fn reopen(issue: u64, state: UndoState) -> NewUndo {
    NewUndo {
        what: Compensation::ReopenIssue { issue },
        state,
        said: Some("said\0so".to_owned()),
    }
}

async fn the_list_is_made_once_and_each_is_noted_once(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    assert!(store.undo(id).await.unwrap().is_empty());
    let list = [reopen(7, UndoState::Owed), reopen(8, UndoState::Left)];
    let made = store.plan_undo(id, &list, at(5)).await.unwrap();
    assert_eq!(made.len(), 2);
    // Whoever comes again decides nothing, and makes no list longer.
    let longer = [1, 2, 3].map(|issue| reopen(issue, UndoState::Owed));
    let made = store.plan_undo(id, &longer, at(6)).await.unwrap();
    let whats: Vec<String> = made.iter().map(|row| row.what.text()).collect();
    assert_eq!(whats, ["open issue #7 again", "open issue #8 again"]);
    assert_eq!((made[0].state, made[0].at), (UndoState::Owed, at(5)));
    let note = async |n| {
        let noted = (UndoState::Done, Some("done"));
        store.note_undo(id, n, noted, at(9)).await.unwrap()
    };
    assert!(note(0).await);
    assert!(!note(0).await && !note(1).await && !note(2).await);
    let now = store.undo(id).await.unwrap();
    assert_eq!(
        (now[0].state, now[0].said.as_deref()),
        (UndoState::Done, Some("done"))
    );
    assert_eq!((now[1].state, now[1].at), (UndoState::Left, at(5)));
}

async fn labels_are_noted_once(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let settled = Settled::new(Outcome::Ok, "done");
    let effect = Effect::CloseIssue { issue: 7 };
    store.plan_effects(id, &settled, &[effect]).await.unwrap();
    assert!(store.effects(id).await.unwrap()[0].applied.is_none());
    let first = LabelChange {
        add: vec!["p1".into()],
        remove: Vec::new(),
    };
    for labels in [&first, &LabelChange::default()] {
        store.note_labels(id, 0, labels).await.unwrap();
    }
    let noted = store.effects(id).await.unwrap()[0].applied.clone();
    assert_eq!(noted, Some(first));
}
