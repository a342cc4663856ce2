//! What can exist only once exists only once, however many ask for it together.

use std::sync::Arc;

use carson_core::work::WorkKey;
use carson_core::{FiringId, Outcome, RepoName};
use carson_store::{Claim, NewFiring, Store};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::fixture::{Place, at, claimed, ending, new_firing, on_both};

/// Who ask together.
const CLAIMERS: usize = 32;

on_both!(
    a_slot_is_claimed_once,
    many_slots_are_claimed_together_and_each_once,
    a_role_runs_one_firing,
    a_piece_of_work_is_held_by_one_firing,
    a_clock_that_was_stepped_back_does_not_silence_a_role,
);

/// Every claimer through one of four pools, as four hosts have them.
async fn race<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    place: &Place,
    run: impl Fn(Store, usize) -> F,
) -> Vec<T> {
    let mut hosts = Vec::new();
    for _ in 0..4 {
        hosts.push(place.open().await);
    }
    let barrier = Arc::new(Barrier::new(CLAIMERS));
    let mut tasks = JoinSet::new();
    for number in 0..CLAIMERS {
        let (barrier, run) = (
            barrier.clone(),
            run(hosts[number % hosts.len()].clone(), number),
        );
        tasks.spawn(async move {
            barrier.wait().await;
            run.await
        });
    }
    tasks.join_all().await
}

async fn claim_all(place: &Place, new: impl Fn(usize) -> NewFiring) -> (Vec<FiringId>, Vec<Claim>) {
    let answers = race(place, |store, number| {
        let new = new(number);
        async move { (new.id, store.claim_firing(&new).await.unwrap()) }
    });
    let (won, lost): (Vec<_>, Vec<_>) = answers
        .await
        .into_iter()
        .partition(|(_, claim)| *claim == Claim::Won);
    let won = won.into_iter().map(|(id, _)| id).collect();
    (won, lost.into_iter().map(|(_, claim)| claim).collect())
}

async fn a_slot_is_claimed_once(place: Place) {
    let (won, lost) = claim_all(&place, |_| new_firing("one", Some(0), 1)).await;
    assert_eq!(won.len(), 1, "{won:?}");
    assert!(
        lost.iter().all(|claim| *claim == Claim::SlotTaken),
        "{lost:?}"
    );

    let store = place.open().await;
    store
        .as_firing(won[0], carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "", 2))
        .await
        .unwrap();
    let (again, _) = claim_all(&place, |_| new_firing("one", Some(0), 3)).await;
    assert!(
        again.is_empty(),
        "a slot that has a row is never free again"
    );
}

async fn a_role_runs_one_firing(place: Place) {
    let slot = |number: usize| i64::try_from(number).unwrap();
    let new = |number| new_firing("one", (number % 2 == 0).then(|| slot(number)), 99);
    let (won, lost) = claim_all(&place, new).await;
    assert_eq!(won.len(), 1, "{won:?}");
    assert!(
        lost.iter()
            .all(|claim| *claim == Claim::RoleBusy(Some(won[0]))),
        "{lost:?}"
    );

    let store = place.open().await;
    claimed(&store, "another", 0).await;
    store
        .as_firing(won[0], carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "", 100))
        .await
        .unwrap();
    claimed(&store, "one", 200).await;
}

async fn a_piece_of_work_is_held_by_one_firing(place: Place) {
    let store = place.open().await;
    let mut ids = Vec::new();
    for number in 0..CLAIMERS {
        ids.push(claimed(&store, &format!("role-{number}"), 0).await);
    }
    let widget: RepoName = "widget".parse().unwrap();
    let (work, all) = (WorkKey::Issue(7), ids.clone());
    let answers = race(&place, |store, number| {
        let (id, widget) = (all[number], widget.clone());
        async move {
            (
                id,
                store
                    .as_firing(id, carson_store::Epoch::FIRST)
                    .take_work(&widget, work, "t")
                    .await
                    .unwrap(),
            )
        }
    });
    let won: Vec<FiringId> = answers
        .await
        .into_iter()
        .filter_map(|(id, won)| won.then_some(id))
        .collect();
    assert_eq!(won.len(), 1, "{won:?}");

    let loser = *ids.iter().find(|id| **id != won[0]).unwrap();
    assert!(
        !store
            .as_firing(loser, carson_store::Epoch::FIRST)
            .take_work(&widget, work, "t")
            .await
            .unwrap()
    );
    assert!(store.firing(loser).await.unwrap().unwrap().work.is_none());
    let gadget = "gadget".parse().unwrap();
    assert!(
        store
            .as_firing(loser, carson_store::Epoch::FIRST)
            .take_work(&gadget, work, "t")
            .await
            .unwrap(),
        "another repository's 7"
    );
    store
        .as_firing(won[0], carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "", 1))
        .await
        .unwrap();
    assert!(
        store
            .as_firing(loser, carson_store::Epoch::FIRST)
            .take_work(&widget, work, "t")
            .await
            .unwrap(),
        "it is free again"
    );
    assert!(
        !store
            .as_firing(won[0], carson_store::Epoch::FIRST)
            .take_work(&widget, WorkKey::Issue(8), "t")
            .await
            .unwrap(),
        "it ended"
    );
}

async fn a_clock_that_was_stepped_back_does_not_silence_a_role(place: Place) {
    let store = place.open().await;
    let ahead = new_firing("one", Some(0), 3_600);
    store.claim_firing(&ahead).await.unwrap();
    store
        .as_firing(ahead.id, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "", 3_601))
        .await
        .unwrap();
    // A clock that is mended by a moment has not moved: the slot was fired.
    let moment = new_firing("one", Some(0), 3_599);
    assert_eq!(store.claim_firing(&moment).await.unwrap(), Claim::SlotTaken);
    // The clock was an hour ahead and was set right: the slot comes round again.
    let right = new_firing("one", Some(0), 1);
    assert_eq!(store.claim_firing(&right).await.unwrap(), Claim::Won);
    let slot = store.firing(right.id).await.unwrap().unwrap().slot.unwrap();
    assert_eq!((slot - at(0)).num_microseconds(), Some(1));
    store
        .as_firing(right.id, carson_store::Epoch::FIRST)
        .end_firing(&ending(Outcome::Ok, "", 2))
        .await
        .unwrap();
    let again = new_firing("one", Some(0), 3);
    assert_eq!(
        store.claim_firing(&again).await.unwrap(),
        Claim::SlotTaken,
        "once is enough"
    );
}

async fn many_slots_are_claimed_together_and_each_once(place: Place) {
    let all = || -> Vec<NewFiring> {
        (0..10)
            .map(|role| new_firing(&format!("role-{role}"), Some(0), 0))
            .collect()
    };
    let answers = race(&place, |store, number| {
        let mut all = all();
        // Hosts that go through them in different orders must not wait for each other.
        all.rotate_left(number % 10);
        if number % 2 == 0 {
            all.reverse();
        }
        async move {
            let claims = store.claim_firings(&all).await.unwrap();
            all.into_iter().zip(claims).collect::<Vec<_>>()
        }
    });
    let answers: Vec<_> = answers.await.into_iter().flatten().collect();
    let won = answers.iter().filter(|(_, claim)| *claim == Claim::Won);
    let mut roles: Vec<_> = won.map(|(new, _)| new.role.as_str().to_owned()).collect();
    roles.sort();
    let expected: Vec<_> = all()
        .into_iter()
        .map(|new| new.role.as_str().to_owned())
        .collect();
    assert_eq!(roles, expected);
    let lost = answers.iter().filter(|(_, claim)| *claim != Claim::Won);
    assert!(lost.clone().all(|(_, claim)| *claim == Claim::SlotTaken));
    assert_eq!(lost.count(), (CLAIMERS - 1) * 10);
}
