//! What firings connected to.

use carson_core::egress::EgressHost;

use crate::fixture::{Place, new_firing, on_both};

on_both!(hosts_are_counted_per_firing_and_written_as_often_as_one_likes,);

async fn hosts_are_counted_per_firing_and_written_as_often_as_one_likes(place: Place) {
    let store = place.open().await;
    let (one, other) = (new_firing("a", Some(0), 3), new_firing("b", Some(0), 3));
    for new in [&one, &other] {
        store.claim_firing(new).await.unwrap();
    }
    let host = |host: &str, allowed| EgressHost {
        host: host.to_owned(),
        allowed,
        refused: 1,
        bytes_up: 5_000_000_000,
        bytes_down: 7,
    };
    store
        .as_firing(one.id, carson_store::Epoch::FIRST)
        .set_egress(&[])
        .await
        .unwrap();
    assert_eq!(store.egress(one.id).await.unwrap(), []);
    store
        .as_firing(one.id, carson_store::Epoch::FIRST)
        .set_egress(&[host("b:443", 1)])
        .await
        .unwrap();
    let both = [host("a:443", 2), host("b:443", 3)];
    store
        .as_firing(one.id, carson_store::Epoch::FIRST)
        .set_egress(&both)
        .await
        .unwrap();
    store
        .as_firing(one.id, carson_store::Epoch::FIRST)
        .set_egress(&both)
        .await
        .unwrap();
    assert_eq!(store.egress(one.id).await.unwrap(), both);
    assert_eq!(store.egress(other.id).await.unwrap(), []);
}
