//! Several sinks: each gets everything, and none waits for another.

use std::time::Duration;

use carson_store::{NewPost, Waiting};

use super::*;

#[tokio::test]
async fn a_sink_that_is_away_stops_no_other_and_loses_nothing() {
    let mut stage = Stage::new().await;
    let (webhook, _server) = stage.with_webhook().await;
    stage.lock_state().always = Some(no(503));
    let one = FiringId::new();
    stage.file(Some(one), PostKind::Root, "begins").await;
    stage.file(Some(one), PostKind::Update, "ended").await;
    stage.file(Some(one), PostKind::Reply, "needs").await;
    assert_eq!(stage.drain().await, 3);
    assert_eq!(webhook.arrived(), ["begins", "ended", "needs"]);
    assert_eq!(stage.lock_state().calls, 1);
    let waiting = Waiting {
        sink: "slack".into(),
        posts: 3,
        error: Some("it does not answer: 503 Service Unavailable".into()),
    };
    assert_eq!(stage.store.waiting_posts().await.unwrap(), [waiting]);

    // The other way round: each has its own backoff.
    stage.lock_state().always = None;
    webhook.lock_state().always = Some(no(429).insert_header("retry-after", "600"));
    stage.after(5);
    stage.file(Some(one), PostKind::Reply, "more").await;
    assert_eq!(stage.drain().await, 4);
    assert_eq!(stage.arrived(), ["begins", "ended", "needs", "more"]);
    webhook.lock_state().always = None;
    stage.after(599);
    assert_eq!(stage.drain().await, 0);
    stage.after(1);
    assert_eq!(stage.drain().await, 1);
    assert_eq!(webhook.arrived(), ["begins", "ended", "needs", "more"]);
    assert_eq!(stage.store.pending_posts().await.unwrap(), 0);
}

#[tokio::test]
async fn one_that_hangs_delays_no_other() {
    let mut stage = Stage::new().await;
    let (webhook, _server) = stage.with_webhook().await;
    let slow = no(200).set_delay(Duration::from_secs(60));
    stage.lock_state().next.push_back(slow);
    stage.poster.patience = Duration::from_millis(1);
    let deadline = Instant::now() + Duration::from_secs(9);
    for title in ["1", "2", "3"] {
        stage.file(None, PostKind::Root, title).await;
        while webhook.arrived().last().is_none_or(|last| last != title) {
            assert!(Instant::now() < deadline, "it waits for the other");
            stage.drain().await;
        }
    }
    assert_eq!(webhook.arrived(), ["1", "2", "3"]);
    while stage.lock_state().calls == 0 {
        assert!(Instant::now() < deadline, "nobody asks the one that hangs");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(
        stage.lock_state().calls,
        1,
        "it still hangs, and is not asked twice"
    );
}

#[tokio::test]
async fn what_a_webhook_gets_says_what_it_is() {
    let mut stage = Stage::new().await;
    stage.sinks.clear();
    let (webhook, _server) = stage.with_webhook().await;
    let one = FiringId::new();
    let id = stage.file(Some(one), PostKind::Update, "ended").await;
    stage.file(Some(one), PostKind::Broadcast, "cries").await;
    stage.file(None, PostKind::Root, "Carson is back").await;
    stage.drain().await;
    let told = webhook.lock_state();
    let seen: Vec<_> = told
        .arrived
        .iter()
        .map(|body| (body["kind"].as_str().unwrap(), body["firing"].clone()))
        .collect();
    let firing = json!(one);
    let expected = [
        ("finished", firing.clone()),
        ("attention", firing),
        ("notice", json!(null)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(told.arrived[0]["id"], json!(id));
    assert_eq!(told.arrived[0]["time"], json!(start()));
}

#[tokio::test]
async fn a_secret_that_cannot_be_had_is_told_and_waited_for() {
    let mut stage = Stage::new().await;
    let (webhook, server) = stage.with_webhook().await;
    std::fs::remove_file(stage.dir.path().join("webhook.url")).unwrap();
    stage.file(None, PostKind::Root, "x").await;
    assert_eq!(stage.drain().await, 1, "the other one");
    let waiting = stage.store.waiting_posts().await.unwrap();
    let error = waiting[0].error.as_deref().unwrap();
    assert!(error.contains("webhook.url") && error.contains("cannot be read"));
    stage.secret("webhook.url", &format!("{}/hidden", server.uri()));
    stage.after(5);
    assert_eq!(stage.drain().await, 1);
    assert_eq!(webhook.arrived(), ["x"]);
}

/// Rows as the version before this one left them: one sink, and messages without role and outcome.
#[tokio::test]
async fn posts_in_flight_of_the_version_before_arrive_in_their_threads() {
    let mut stage = Stage::new().await;
    let (webhook, _server) = stage.with_webhook().await;
    let one = FiringId::new();
    let file = |kind, title: &str| NewPost {
        id: Uuid::now_v7(),
        sink: "slack".to_owned(),
        thread: Some(one),
        kind,
        body: json!({
            "severity": null, "title": title, "fields": [["Firing", "1a2b3c4d"]],
            "text": "took this work and is on it", "link": null,
        }),
        created_at: start(),
    };
    let root = file(PostKind::Root, "begun");
    stage.store.file_post(&root).await.unwrap();
    let sent = stage.store.post_sent(root.id, Some("0.007"), start());
    sent.await.unwrap();
    for (kind, title) in [(PostKind::Update, "ended"), (PostKind::Broadcast, "cries")] {
        stage.store.file_post(&file(kind, title)).await.unwrap();
    }
    assert_eq!(stage.drain().await, 2);
    let told = stage.lock_state();
    let (update, cry) = (&told.arrived[0], &told.arrived[1]);
    assert_eq!(
        (&update["verb"], &update["ts"]),
        (&json!("/chat.update"), &json!("0.007"))
    );
    assert_eq!(cry["thread_ts"], "0.007");
    assert_eq!(cry["reply_broadcast"], true);
    assert_eq!(
        webhook.lock_state().calls,
        0,
        "they were filed for one sink"
    );
}

#[tokio::test]
async fn what_was_filed_for_a_sink_that_was_taken_out_waits() {
    let mut stage = Stage::new().await;
    let (webhook, _server) = stage.with_webhook().await;
    stage.file(None, PostKind::Root, "x").await;
    let removed = stage.sinks.pop().unwrap();
    assert_eq!(stage.drain().await, 1);
    assert_eq!(
        stage.store.waiting_posts().await.unwrap()[0].sink,
        "webhook"
    );
    stage.sinks.push(removed);
    assert_eq!(stage.drain().await, 1);
    assert_eq!(webhook.arrived(), ["x"]);
}
