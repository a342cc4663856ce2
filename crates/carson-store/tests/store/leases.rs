//! Hosts that live, hosts that do not, and one that comes back.

use carson_core::settle::Settled;
use carson_core::work::WorkKey;
use carson_core::{Clock, Effect, FiringId, HostName, Outcome};
use carson_store::{Claim, Daemon, Epoch, Lease, NewFiring, Renewal, Retaken, Store, StoreError};
use sqlx::PgPool;

use crate::fixture::{Place, at, claimed, ending, new_firing};

fn host(name: &str) -> HostName {
    name.parse().unwrap()
}

async fn lease(store: &Store, name: &str) -> Retaken {
    let daemon = Daemon {
        pid: 1,
        pid_start: 1,
        version: "0",
        labels: &[],
    };
    let taken = store.take_lease(&host(name), &daemon, at(0)).await;
    taken.unwrap().unwrap()
}

/// What became of a lease, but for the time that the database says.
async fn renewed(store: &Store, name: &str, lease: Lease) -> Renewal {
    let labels = ["gpu".to_owned()];
    let renewed = store
        .renew_lease(&host(name), lease, &labels, Clock::system().now())
        .await;
    let mut became = renewed.unwrap();
    if let Renewal::Held { now, .. } = &mut became {
        let ahead = Clock::system().now() - now.take().unwrap();
        assert!(ahead.num_seconds().abs() < 30, "{ahead}");
    }
    became
}

const HELD: Renewal = Renewal::Held {
    drained: false,
    newer: false,
    now: None,
};

async fn run(pool: &PgPool, statement: &'static str) {
    sqlx::query(statement).execute(pool).await.unwrap();
}

/// Time passes in which the host did not renew its lease.
const HOST_SILENT: &str =
    "UPDATE host SET lease_until = now() - interval '6 seconds' WHERE name = 'here'";
/// The same of the processes of its firings.
const FIRINGS_SILENT: &str = "UPDATE firing SET lease_until = now() - interval '6 seconds'";

/// The other host has lived for a while.
const OTHER_HELD: &str =
    "UPDATE host SET held_since = now() - interval '13 seconds' WHERE name = 'there'";
/// The database was away for longer than a lease lasts.
const ALL_SILENT: &str = "UPDATE host SET lease_until = now() - interval '6 seconds'";

async fn lapsed(store: &Store, name: &str) -> Vec<FiringId> {
    let rows = store.lapsed_firings(&host(name)).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

async fn claimed_by(store: &Store, role: &str, slot: i64, name: &str) -> FiringId {
    let new = NewFiring {
        host: host(name),
        ..new_firing(role, Some(slot), slot)
    };
    assert_eq!(store.claim_firing(&new).await.unwrap(), Claim::Won);
    new.id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_gone_is_taken_over_once_and_fenced_when_it_comes_back() {
    let place = Place::postgres();
    let store = place.open().await;
    let pool = PgPool::connect(&place.url()).await.unwrap();
    let first = lease(&store, "here").await;
    assert_eq!((first.lapsed_at, first.fenced.len()), (None, 0));
    let other = lease(&store, "there").await;
    run(&pool, OTHER_HELD).await;
    let id = claimed(&store, "one", 0).await;
    let own = store.as_firing(id, Epoch::FIRST);

    // As long as one of the two says that it lives, nobody takes it over.
    assert!(lapsed(&store, "there").await.is_empty());
    run(&pool, FIRINGS_SILENT).await;
    assert!(lapsed(&store, "there").await.is_empty(), "its daemon lives");
    own.keep_lease().await.unwrap();
    run(&pool, HOST_SILENT).await;
    assert_eq!(lapsed(&store, "there").await, [id], "the daemon had it");
    own.keep_lease().await.unwrap();
    assert!(lapsed(&store, "there").await.is_empty(), "it lives alone");
    run(&pool, FIRINGS_SILENT).await;
    own.acts().await.unwrap();
    assert!(
        lapsed(&store, "there").await.is_empty(),
        "it changes something"
    );
    // Where nobody was heard, nobody is dead: who comes back first gives the others time.
    run(&pool, ALL_SILENT).await;
    run(&pool, FIRINGS_SILENT).await;
    assert!(
        lapsed(&store, "there").await.is_empty(),
        "it is silent, too"
    );
    assert_eq!(renewed(&store, "there", other.lease).await, HELD);
    assert!(
        lapsed(&store, "there").await.is_empty(),
        "it is back just now"
    );
    run(&pool, OTHER_HELD).await;
    let rows = store.hosts().await.unwrap();
    let there = rows.iter().find(|row| row.name == "there").unwrap();
    assert!(format!("{:?}", there.labels).contains("gpu"), "{there:?}");
    // Overtime counts from when a host reached the database again.
    let held_for = async |name| store.lease_held_for(&host(name)).await.unwrap();
    let there = held_for("there").await.unwrap().num_seconds();
    assert!((13..60).contains(&there), "{there} s");
    assert_eq!(held_for("here").await, None, "its lease does not stand");
    // Nobody but the others judges a host.
    assert_eq!(renewed(&store, "here", first.lease).await, HELD);
    run(&pool, HOST_SILENT).await;
    run(&pool, FIRINGS_SILENT).await;
    assert!(lapsed(&store, "here").await.is_empty());
    assert_eq!(lapsed(&store, "there").await, [id]);

    let row = store.firing(id).await.unwrap().unwrap();
    let epoch = store
        .take_over(&row, &host("there"))
        .await
        .unwrap()
        .unwrap();
    assert!(
        store
            .take_over(&row, &host("third"))
            .await
            .unwrap()
            .is_none()
    );
    let stale = [own.acts().await, own.keep_lease().await];
    for done in stale {
        assert!(matches!(done, Err(StoreError::Fenced { .. })), "{done:?}");
    }
    let carried = store.carried_firings(&host("there")).await.unwrap();
    assert_eq!((carried[0].id, carried[0].epoch), (id, epoch));
    assert!(
        store
            .live_firings(Some(&host("here")))
            .await
            .unwrap()
            .is_empty()
    );
    let by = store.as_firing(id, epoch);
    by.end_firing(&ending(Outcome::Crashed, "gone", 9))
        .await
        .unwrap();
    assert!(
        store
            .carried_firings(&host("there"))
            .await
            .unwrap()
            .is_empty()
    );

    // It learns of it once.
    assert_eq!(renewed(&store, "here", first.lease).await, Renewal::Lost);
    let back = lease(&store, "here").await;
    assert!(back.lapsed_at.is_some());
    assert_eq!(back.fenced, [id]);
    assert_eq!(renewed(&store, "here", back.lease).await, HELD);
    assert_eq!(renewed(&store, "here", first.lease).await, Renewal::Lost);
    let again = lease(&store, "here").await;
    assert_eq!((again.lapsed_at, again.fenced.len()), (None, 0));

    // A newer Carson brings the database on.
    run(
        &pool,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'later', TRUE, '', 0)",
    )
    .await;
    let newer = Renewal::Held {
        drained: false,
        newer: true,
        now: None,
    };
    assert_eq!(renewed(&store, "here", again.lease).await, newer);
    pool.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_host_owes_that_is_gone_is_taken_over_where_its_repository_is_known() {
    let place = Place::postgres();
    let store = place.open().await;
    let pool = PgPool::connect(&place.url()).await.unwrap();
    lease(&store, "here").await;
    lease(&store, "there").await;
    run(&pool, OTHER_HELD).await;
    let id = claimed_by(&store, "one", 0, "here").await;
    let own = store.as_firing(id, Epoch::FIRST);
    let (widget, gadget) = ("widget".parse().unwrap(), "gadget".parse().unwrap());
    own.take_work(&widget, WorkKey::Issue(1), "t")
        .await
        .unwrap();
    let settled = Settled::new(Outcome::Ok, "done");
    let close = [Effect::CloseIssue { issue: 1 }];
    own.plan_effects(&settled, &close).await.unwrap();
    own.end_firing(&ending(Outcome::Ok, "done", 5))
        .await
        .unwrap();
    run(&pool, FIRINGS_SILENT).await;
    let there = host("there");
    let adopt = async |repos: &[_]| store.take_over_owing(&there, repos).await.unwrap();
    assert_eq!(adopt(&[&widget]).await, 0, "its host lives");
    run(&pool, HOST_SILENT).await;
    assert_eq!(adopt(&[&gadget]).await, 0, "nobody there knows the forge");
    assert_eq!(adopt(&[&gadget, &widget]).await, 1);
    assert_eq!(store.owing(&there, at(9)).await.unwrap(), [id]);
    assert!(store.owing(&host("here"), at(9)).await.unwrap().is_empty());
    assert!(matches!(own.acts().await, Err(StoreError::Fenced { .. })));
    pool.close().await;
}

#[tokio::test]
async fn a_database_in_a_file_has_no_leases() {
    let place = Place::sqlite();
    let store = place.open().await;
    assert!(!store.has_leases());
    let daemon = Daemon {
        pid: 1,
        pid_start: 1,
        version: "0",
        labels: &[],
    };
    let here = host("here");
    let taken = store.take_lease(&here, &daemon, at(0)).await.unwrap();
    assert!(taken.is_none());
    assert!(
        store.hosts().await.unwrap().is_empty(),
        "nothing is written"
    );
}
