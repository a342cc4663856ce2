mod several;
mod stage;
mod withheld;

use std::time::{Duration, Instant};

use carson_core::FiringId;
use carson_store::{NewPost, PostKind};
use serde_json::json;
use uuid::Uuid;
use wiremock::ResponseTemplate;

use stage::{Stage, no, quick, start};

#[tokio::test]
async fn what_follows_goes_into_the_thread_of_its_root() {
    let mut stage = Stage::new().await;
    let (one, two) = (FiringId::new(), FiringId::new());
    stage.file(Some(one), PostKind::Root, "one begins").await;
    stage.file(Some(two), PostKind::Root, "two begins").await;
    assert_eq!(stage.drain().await, 2);
    // The daemon is another one by the time they end.
    stage.store = Stage::open(&stage.dir).await;
    stage.poster = quick();
    for (kind, title) in [
        (PostKind::Update, "one ended"),
        (PostKind::Reply, "one needs"),
        (PostKind::Broadcast, "one cries"),
    ] {
        stage.file(Some(one), kind, title).await;
    }
    stage.file(Some(two), PostKind::Reply, "two needs").await;
    assert_eq!(stage.drain().await, 4);
    let told = stage.lock_state();
    let seen: Vec<_> = told
        .arrived
        .iter()
        .map(|body| {
            let ts = body["thread_ts"].as_str().or(body["ts"].as_str());
            let title = body["text"].as_str().unwrap().replace("✅ ", "");
            (
                body["verb"].as_str().unwrap(),
                title,
                ts,
                body["reply_broadcast"] == true,
            )
        })
        .collect();
    let (post, update) = ("/chat.postMessage", "/chat.update");
    let expected = [
        (post, "one begins", None, false),
        (post, "two begins", None, false),
        (update, "one ended", Some("1.001"), false),
        (post, "one needs", Some("1.001"), false),
        (post, "one cries", Some("1.001"), true),
        (post, "two needs", Some("1.002"), false),
    ];
    let expected = expected.map(|(verb, title, ts, both)| (verb, title.to_owned(), ts, both));
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn the_chat_is_asked_again_when_it_said_and_not_before() {
    let mut stage = Stage::new().await;
    for title in ["1", "2"] {
        stage.file(None, PostKind::Root, title).await;
    }
    let wait = no(429).insert_header("retry-after", "37");
    stage.lock_state().next.push_back(wait);
    assert_eq!(stage.drain().await, 0);
    stage.after(36);
    stage.file(None, PostKind::Root, "3").await;
    assert_eq!(stage.drain().await, 0);
    assert_eq!(
        stage.lock_state().calls,
        1,
        "nothing is sent meanwhile, new posts neither"
    );
    stage.after(1);
    assert_eq!(stage.drain().await, 3);
    assert_eq!(stage.arrived(), ["1", "2", "3"]);

    let absurd = no(429).insert_header("retry-after", "9000000000000000");
    stage.lock_state().next.push_back(absurd);
    stage.file(None, PostKind::Root, "4").await;
    stage.drain().await;
    stage.after(3_600);
    assert_eq!(
        stage.drain().await,
        1,
        "an hour is the longest that it may ask for"
    );
}

#[tokio::test]
async fn failures_wait_longer_each_time_up_to_a_quarter_of_an_hour() {
    let mut stage = Stage::new().await;
    stage.file(None, PostKind::Root, "x").await;
    stage.lock_state().always = Some(no(500));
    for wait in [5, 10, 20, 40, 80, 160, 320, 640, 900, 900] {
        let before = stage.lock_state().calls;
        assert_eq!(stage.drain().await, 0);
        assert_eq!(stage.lock_state().calls, before + 1);
        stage.after(wait - 1);
        stage.drain().await;
        assert_eq!(stage.lock_state().calls, before + 1, "not before {wait} s");
        stage.after(1);
    }
    stage.lock_state().always = None;
    assert_eq!(stage.drain().await, 1);
    stage.lock_state().next.push_back(no(503));
    stage.file(None, PostKind::Root, "y").await;
    stage.drain().await;
    stage.after(5);
    assert_eq!(
        stage.drain().await,
        1,
        "a post that arrived ends the backoff"
    );
}

#[tokio::test]
async fn after_an_hour_away_everything_arrives_once_and_in_its_order() {
    let mut stage = Stage::new().await;
    stage.lock_state().always = Some(no(502));
    let mut filed = Vec::new();
    for tick in 0..720 {
        if tick % 20 == 0 {
            let (title, thread) = (format!("post {tick:03}"), FiringId::new());
            stage.file(Some(thread), PostKind::Root, &title).await;
            stage
                .file(Some(thread), PostKind::Reply, &format!("reply {tick:03}"))
                .await;
            filed.extend([title, format!("reply {tick:03}")]);
        }
        assert_eq!(stage.drain().await, 0);
        stage.after(5);
        if tick == 300 {
            // A new daemon knows nothing of it.
            (stage.poster, stage.store) = (quick(), Stage::open(&stage.dir).await);
        }
    }
    let calls = stage.lock_state().calls;
    assert!((8..=24).contains(&calls), "{calls} calls in an hour");
    stage.lock_state().always = None;
    stage.after(900);
    let mut sent = 0;
    for _ in 0..filed.len() {
        sent += stage.drain().await;
    }
    assert_eq!(usize::try_from(sent).unwrap(), filed.len());
    assert_eq!(stage.arrived(), filed);
    assert_eq!(stage.store.pending_posts().await.unwrap(), 0);
}

#[tokio::test]
async fn a_poster_that_dies_between_sending_and_marking_costs_one_duplicate() {
    let mut stage = Stage::new().await;
    stage.file(None, PostKind::Root, "x").await;
    let slow = ResponseTemplate::new(200).set_delay(Duration::from_secs(60));
    stage.lock_state().next.push_back(slow);
    let (sinks, desk) = (stage.sinks.clone(), stage.desk());
    let dying = tokio::spawn(async move { quick().drain_to(&sinks, &desk).await });
    let deadline = Instant::now() + Duration::from_secs(20);
    while stage.lock_state().calls == 0 {
        assert!(Instant::now() < deadline, "nothing was sent");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    dying.abort();
    assert!(dying.await.unwrap_err().is_cancelled());

    stage.store = Stage::open(&stage.dir).await;
    assert_eq!(stage.drain().await, 0, "it may be on its way still");
    assert_eq!(stage.store.pending_posts().await.unwrap(), 1);
    stage.after(60);
    assert_eq!(stage.drain().await, 1);
    stage.after(3_600);
    assert_eq!(stage.drain().await, 0);
    assert_eq!(stage.lock_state().calls, 2);
}

#[tokio::test]
async fn a_refused_post_steps_aside_with_its_thread() {
    let mut stage = Stage::new().await;
    let (one, two) = (FiringId::new(), FiringId::new());
    let refused = json!({"ok": false, "error": "msg_too_long"});
    stage.lock_state().chokes_on = Some(("bad", no(200).set_body_json(refused)));
    stage.file(Some(one), PostKind::Root, "bad root").await;
    stage.file(Some(one), PostKind::Reply, "its reply").await;
    stage.file(Some(two), PostKind::Root, "good root").await;
    assert_eq!(stage.drain().await, 1);
    assert_eq!(stage.arrived(), ["good root"]);
    stage.after(899);
    assert_eq!(stage.drain().await, 0);
    // Somebody mended it.
    stage.lock_state().chokes_on = None;
    stage.after(1);
    assert_eq!(stage.drain().await, 2);
    assert_eq!(stage.arrived(), ["good root", "bad root", "its reply"]);
}

#[tokio::test]
async fn a_post_that_the_chat_chokes_on_does_not_hold_up_the_others_for_ever() {
    let mut stage = Stage::new().await;
    stage.lock_state().chokes_on = Some(("bad", no(500)));
    stage.file(None, PostKind::Root, "bad").await;
    stage.file(None, PostKind::Root, "good").await;
    let mut hours = 0;
    while stage.arrived().is_empty() {
        assert!(hours < 8, "still waiting");
        for _ in 0..60 {
            stage.drain().await;
            stage.after(60);
        }
        hours += 1;
    }
    assert_eq!(stage.arrived(), ["good"]);
    assert!(stage.lock_state().calls < 40);
}

#[tokio::test]
async fn a_clock_that_was_set_back_does_not_silence_the_chat() {
    let mut stage = Stage::new().await;
    stage.file(None, PostKind::Root, "x").await;
    stage.after(86_400);
    stage.lock_state().next.push_back(no(500));
    assert_eq!(stage.drain().await, 0);
    stage.file(None, PostKind::Root, "y").await;
    stage.after(-80_000);
    assert_eq!(stage.drain().await, 2);
}

#[tokio::test]
async fn a_post_that_cannot_be_read_blocks_nobody() {
    let mut stage = Stage::new().await;
    let post = NewPost {
        id: Uuid::now_v7(),
        sink: "slack".to_owned(),
        thread: None,
        kind: PostKind::Root,
        body: json!({"no": "message"}),
        created_at: start(),
    };
    stage.store.file_post(&post).await.unwrap();
    stage.file(None, PostKind::Root, "x").await;
    assert_eq!(stage.drain().await, 1);
    assert_eq!(stage.store.pending_posts().await.unwrap(), 0);
}

#[tokio::test]
async fn through_an_incoming_webhook_the_end_is_told_once() {
    let mut stage = Stage::new().await;
    let url = format!("{}/services/hidden", stage.server.uri());
    let url = stage.secret("slack.webhook", &url);
    stage.sinks.clear();
    stage.with("slack", json!({"webhook_file": url}));
    let one = FiringId::new();
    for (kind, title) in [
        (PostKind::Root, "begins"),
        (PostKind::Update, "ended"),
        (PostKind::Reply, "needs"),
    ] {
        stage.file(Some(one), kind, title).await;
    }
    stage.drain().await;
    assert_eq!(stage.arrived(), ["begins", "ended", "needs"]);
    assert_eq!(stage.store.pending_posts().await.unwrap(), 0);
}
