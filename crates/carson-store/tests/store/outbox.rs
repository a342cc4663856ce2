//! Posts arrive in their order, once, whoever sends them and whatever dies in between.

use std::collections::BTreeSet;

use carson_store::{NewPost, PostKind, Store, Waiting};
use tokio::task::JoinSet;

use crate::fixture::{Place, at, claimed, on_both, post};

on_both!(
    posts_leave_in_the_order_in_which_they_were_filed,
    two_posters_never_hold_the_same_post,
    a_post_that_failed_comes_back_when_it_is_due,
    a_lease_ends_with_its_poster,
    a_thread_has_the_name_of_its_root,
    each_sink_has_its_own_order_and_its_own_threads,
);

async fn title(store: &Store, now: i64) -> Option<String> {
    let post = store.lease_post("slack", at(now)).await.unwrap()?;
    Some(post.body["title"].as_str().unwrap().to_owned())
}

async fn posts_leave_in_the_order_in_which_they_were_filed(place: Place) {
    let store = place.open().await;
    let (one, two) = (
        claimed(&store, "one", 0).await,
        claimed(&store, "two", 0).await,
    );
    let filed = [
        post(Some(one), PostKind::Root, "1", 0),
        post(Some(two), PostKind::Root, "2", 1),
        post(Some(one), PostKind::Reply, "3", 2),
        // The clock was ahead when it was filed.
        post(None, PostKind::Root, "4", 9_999),
        post(Some(one), PostKind::Reply, "5", 3),
    ];
    for post in &filed {
        store.file_post(post).await.unwrap();
        store.file_post(post).await.unwrap();
    }
    assert_eq!(
        store.pending_posts().await.unwrap(),
        5,
        "a post that is filed twice is one"
    );

    // Survives the process.
    drop(store);
    let store = place.open().await;
    assert_eq!(title(&store, 9).await.as_deref(), Some("1"));
    assert_eq!(title(&store, 9).await.as_deref(), Some("2"));
    assert_eq!(title(&store, 9).await.as_deref(), Some("4"));
    assert_eq!(
        title(&store, 9).await,
        None,
        "the thread waits for its root"
    );
    store
        .post_sent(filed[0].id, Some("1.1"), at(9))
        .await
        .unwrap();
    assert_eq!(title(&store, 9).await.as_deref(), Some("3"));
    store
        .post_failed(filed[2].id, "away", Some(at(60)))
        .await
        .unwrap();
    assert_eq!(
        title(&store, 10).await,
        None,
        "nothing overtakes within a thread"
    );
    assert_eq!(title(&store, 60).await.as_deref(), Some("3"));
    store
        .post_sent(filed[2].id, Some("1.2"), at(60))
        .await
        .unwrap();
    assert_eq!(title(&store, 60).await.as_deref(), Some("5"));
}

async fn two_posters_never_hold_the_same_post(place: Place) {
    let store = place.open().await;
    let mut filed = BTreeSet::new();
    for number in 0..60 {
        let post = post(None, PostKind::Root, &number.to_string(), 0);
        filed.insert(post.id);
        store.file_post(&post).await.unwrap();
    }
    let mut posters = JoinSet::new();
    for _ in 0..6 {
        let store = place.open().await;
        posters.spawn(async move {
            let mut held = Vec::new();
            while store.pending_posts().await.unwrap() > 0 {
                if let Some(post) = store.lease_post("slack", at(1)).await.unwrap() {
                    assert_eq!(post.tries, 1);
                    held.push(post.id);
                    store.post_sent(post.id, None, at(1)).await.unwrap();
                }
            }
            held
        });
    }
    let held: Vec<_> = posters.join_all().await.into_iter().flatten().collect();
    assert_eq!(held.len(), 60, "each of them once");
    assert_eq!(held.into_iter().collect::<BTreeSet<_>>(), filed);
}

async fn a_post_that_failed_comes_back_when_it_is_due(place: Place) {
    let store = place.open().await;
    let filed = post(None, PostKind::Root, "x", 0);
    store.file_post(&filed).await.unwrap();
    for (tries, now) in [(1, 0), (2, 5), (3, 15), (4, 35)] {
        let post = store.lease_post("slack", at(now)).await.unwrap().unwrap();
        assert_eq!((post.id, post.tries), (filed.id, tries));
        let again = now + 5 * (1 << (tries - 1));
        store
            .post_failed(filed.id, "no answer", Some(at(again)))
            .await
            .unwrap();
        assert_eq!(title(&store, again - 1).await, None, "not before its time");
    }
    store.post_sent(filed.id, None, at(99)).await.unwrap();
    assert_eq!(title(&store, 9_999).await, None);
    assert_eq!(store.pending_posts().await.unwrap(), 0);
}

async fn a_lease_ends_with_its_poster(place: Place) {
    let store = place.open().await;
    store
        .file_post(&post(None, PostKind::Root, "x", 0))
        .await
        .unwrap();
    assert_eq!(title(&store, 0).await.as_deref(), Some("x"));
    // Its poster dies here: nobody knows whether it arrived.
    drop(store);
    let store = place.open().await;
    assert_eq!(title(&store, 59).await, None);
    assert_eq!(title(&store, 60).await.as_deref(), Some("x"));
    assert_eq!(title(&store, 61).await, None);
    // The clock was wrong and is set right: the lease would else last for as long as the step.
    assert_eq!(title(&store, -3_600).await.as_deref(), Some("x"));
}

async fn a_thread_has_the_name_of_its_root(place: Place) {
    let store = place.open().await;
    let (one, two) = (
        claimed(&store, "one", 0).await,
        claimed(&store, "two", 0).await,
    );
    assert!(store.threads(one).await.unwrap().is_empty());
    let filed = [
        post(Some(one), PostKind::Root, "1", 0),
        post(Some(one), PostKind::Reply, "2", 0),
    ];
    for (number, post) in filed.iter().enumerate() {
        store.file_post(post).await.unwrap();
        assert!(store.threads(one).await.unwrap().contains("slack"));
        store
            .post_sent(post.id, Some(&format!("1.{number}")), at(1))
            .await
            .unwrap();
    }
    assert_eq!(
        store.thread_ts("slack", one).await.unwrap().as_deref(),
        Some("1.0")
    );
    assert_eq!(store.thread_ts("slack", two).await.unwrap(), None);
    assert!(store.threads(two).await.unwrap().is_empty());
}

async fn each_sink_has_its_own_order_and_its_own_threads(place: Place) {
    let store = place.open().await;
    let one = claimed(&store, "one", 0).await;
    let mut ids = Vec::new();
    for (kind, title) in [(PostKind::Root, "1"), (PostKind::Reply, "2")] {
        for sink in ["slack", "webhook"] {
            let sink = sink.to_owned();
            let post = NewPost {
                sink,
                ..post(Some(one), kind, title, 0)
            };
            store.file_post(&post).await.unwrap();
            ids.push(post.id);
        }
    }
    let both = store.threads(one).await.unwrap();
    assert_eq!(both.into_iter().collect::<Vec<_>>(), ["slack", "webhook"]);
    // One refuses; the other goes on, and its thread is not held up.
    let post = store.lease_post("slack", at(1)).await.unwrap().unwrap();
    assert_eq!((post.id, post.created_at), (ids[0], at(0)));
    store
        .post_failed(ids[0], "it refuses: no", Some(at(900)))
        .await
        .unwrap();
    for id in [ids[1], ids[3]] {
        let post = store.lease_post("webhook", at(1)).await.unwrap().unwrap();
        assert_eq!((post.id, post.sink.as_str()), (id, "webhook"));
        store.post_sent(id, None, at(1)).await.unwrap();
    }
    assert!(store.lease_post("webhook", at(1)).await.unwrap().is_none());
    assert!(store.lease_post("slack", at(1)).await.unwrap().is_none());
    let waiting = Waiting {
        sink: "slack".into(),
        posts: 2,
        error: Some("it refuses: no".into()),
    };
    assert_eq!(store.waiting_posts().await.unwrap(), [waiting]);
    store.post_sent(ids[0], Some("1.1"), at(900)).await.unwrap();
    let ts = |sink| store.thread_ts(sink, one);
    assert_eq!(ts("slack").await.unwrap().as_deref(), Some("1.1"));
    assert_eq!(ts("webhook").await.unwrap(), None);
    let left = store.lease_post("slack", at(900)).await.unwrap().unwrap();
    assert_eq!(left.id, ids[2]);
}
