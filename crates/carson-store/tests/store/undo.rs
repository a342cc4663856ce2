//! What takes a firing back.

use carson_core::effect::LabelChange;
use carson_core::settle::Settled;
use carson_core::{Compensation, Effect, Outcome};
use carson_store::{NewUndo, UndoState};

use crate::fixture::{Place, at, claimed, on_both};

on_both!(
    what_was_done_stays_and_all_else_stands_as_it_was_noted_last,
    labels_are_noted_once,
);

fn reopen(issue: u64, state: UndoState) -> NewUndo {
    NewUndo {
        what: Compensation::ReopenIssue { issue },
        state,
        said: Some("said\0so".to_owned()),
    }
}

async fn what_was_done_stays_and_all_else_stands_as_it_was_noted_last(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    assert!(store.undo(id).await.unwrap().is_empty());
    let note = async |list: &[NewUndo], now| store.note_undo(id, list, at(now)).await.unwrap();
    let stands = async || {
        let rows = store.undo(id).await.unwrap();
        let one = |row: &carson_store::UndoRow| (row.what.text(), row.state, row.at);
        rows.iter().map(one).collect::<Vec<_>>()
    };
    let open = |issue, state, then| (format!("open issue #{issue} again"), state, at(then));
    use UndoState::{Done, Left, Owed, Waits};
    note(&[reopen(7, Owed), reopen(8, Left)], 5).await;
    assert_eq!(stands().await, [open(7, Owed, 5), open(8, Left, 5)]);
    let said = store.undo(id).await.unwrap().remove(0).said.unwrap();
    assert!(said.starts_with("said") && !said.contains('\0'), "{said}");
    note(&[reopen(7, Done), reopen(9, Waits)], 6).await;
    assert_eq!(stands().await, [open(7, Done, 6), open(9, Waits, 6)]);
    // Nothing makes it undone, and nobody does it twice.
    note(&[reopen(8, Owed), reopen(7, Owed)], 7).await;
    note(&[reopen(7, Done), reopen(8, Left)], 8).await;
    assert_eq!(stands().await, [open(7, Done, 6), open(8, Left, 8)]);
    note(&[], 9).await;
    assert_eq!(stands().await, [open(7, Done, 6)]);
}

async fn labels_are_noted_once(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let settled = Settled::new(Outcome::Ok, "done");
    let effect = Effect::CloseIssue { issue: 7 };
    store
        .as_firing(id, carson_store::Epoch::FIRST)
        .plan_effects(&settled, &[effect])
        .await
        .unwrap();
    assert!(store.effects(id).await.unwrap()[0].applied.is_none());
    let first = LabelChange {
        add: vec!["p1".into()],
        remove: Vec::new(),
    };
    for labels in [&first, &LabelChange::default()] {
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .note_labels(0, labels)
            .await
            .unwrap();
    }
    let noted = store.effects(id).await.unwrap()[0].applied.clone();
    assert_eq!(noted, Some(first));
}
