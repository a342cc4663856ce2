//! What was heard is dealt with, once and in time, whatever ends or is slow meanwhile.

use std::sync::Arc;
use std::time::Duration;

use carson_store::PauseScope;
use chrono::TimeDelta;
use serde_json::json;
use tokio::sync::mpsc::channel;
use tokio::time::{Instant, sleep, timeout};
use wiremock::matchers::path;
use wiremock::{Mock, ResponseTemplate};

use super::stage::{ANN, OPE, Stage};
use crate::errands;
use crate::newest::Newest;
use crate::post::APPROVE;

const LIMIT: Duration = Duration::from_secs(20);

/// The daemon that heard it ended before it had done it.
#[tokio::test]
async fn what_a_daemon_left_is_done_by_the_next_one_and_not_done_again() {
    let mut stage = Stage::new().await;
    let plan = stage.plan("Split the parser").await;
    let pause = stage.mention(ANN, "pause fleet");
    let click = stage.click(ANN, APPROVE, &format!("{}:{}", plan.id, plan.hash));
    for envelope in [&pause, &click] {
        stage.inbox().keep(envelope).await.unwrap();
    }
    stage.restart().await;
    stage.deal().await;
    assert_eq!(stage.home.store.pauses().await.unwrap().len(), 1);
    assert_eq!(stage.issues().await, 2, "what was approved is filed");
    stage.home.store.resume(&PauseScope::Fleet).await.unwrap();
    for envelope in [&pause, &click] {
        stage.take(envelope).await;
    }
    assert!(stage.home.store.pauses().await.unwrap().is_empty());
    assert_eq!(stage.issues().await, 2);
    assert_eq!(stage.posted().await.len(), 2, "each was answered once");
}

#[tokio::test]
async fn what_was_left_for_too_long_is_told_and_not_done() {
    let mut stage = Stage::new().await;
    let plan = stage.plan("Split the parser").await;
    let pause = stage.mention(ANN, "pause fleet");
    let click = stage.click(ANN, APPROVE, &format!("{}:{}", plan.id, plan.hash));
    for envelope in [&pause, &click] {
        stage.inbox().keep(envelope).await.unwrap();
    }
    stage.restart().await;
    stage.after(TimeDelta::minutes(6));
    stage.deal().await;
    assert!(stage.home.store.pauses().await.unwrap().is_empty());
    assert_eq!(stage.row(&plan).await.decision, None);
    let posted = stage.posted().await;
    assert_eq!(posted.len(), 2, "{posted:?}");
    assert!(
        posted
            .iter()
            .all(|text| text.contains("older than five minutes"))
    );
}

/// Nobody knows whether it was done: it is not done twice, and whoever wants it is told.
#[tokio::test]
async fn what_is_done_once_only_is_not_begun_again() {
    let mut stage = Stage::new().await;
    let heard = stage.mention(ANN, "remember \"the tests need a database\"");
    stage.inbox().keep(&heard).await.unwrap();
    let (store, now) = (stage.home.store.clone(), stage.home.clock.now());
    let row = store.take_heard(true, now).await.unwrap().unwrap();
    crate::desk::deal(&stage.home, &stage.chat, &row)
        .await
        .unwrap();
    // It ends here, before it could take the row away.
    stage.restart().await;
    stage.after(TimeDelta::seconds(30));
    stage.deal().await;
    let posted = stage.posted().await;
    assert!(
        posted.len() == 1 && posted[0].contains("I ended while I did that"),
        "{posted:?}"
    );
    stage.say(ANN, "memory").await;
    let told = stage.posted().await.pop().unwrap();
    assert_eq!(
        told.matches("the tests need a database").count(),
        1,
        "{told}"
    );
}

#[tokio::test]
async fn what_is_kept_has_no_secret_and_nothing_that_slack_alone_needs() {
    let mut stage = Stage::new().await;
    let mut click = stage.click(
        ANN,
        APPROVE,
        &format!("{}:{}", "0a".repeat(16), "b1".repeat(20)),
    );
    click["payload"]["token"] = json!("of-slack");
    click["payload"]["response_url"] = json!("https://hooks.slack.example/secret");
    stage.inbox().keep(&click).await.unwrap();
    let secret = ["ghp_", "k3Jd9sQw8ZbX2mN7", "vT4rY6uP1aLc0EfGhIjK"].concat();
    let said = stage.mention(ANN, &format!("remember \"the token is {secret}\""));
    stage.inbox().keep(&said).await.unwrap();
    let (store, now) = (stage.home.store.clone(), stage.home.clock.now());
    let row = store.take_heard(true, now).await.unwrap().unwrap();
    let value = row.heard["deed"]["clicked"]["value"].as_str().unwrap();
    assert_eq!(value, format!("{}:{}", "0a".repeat(16), "b1".repeat(20)));
    let text = row.heard.to_string();
    assert!(
        !text.contains("of-slack") && !text.contains("hooks."),
        "{text}"
    );
    store.heard_is_dealt_with(row.seq).await.unwrap();
    let row = store.take_heard(true, now).await.unwrap().unwrap();
    let text = row.heard["deed"]["said"]["text"].as_str().unwrap();
    assert!(
        text.contains("the token is") && !text.contains(&secret),
        "{text}"
    );
}

/// Four answers of which each took Slack eight seconds held up a pause for half a minute.
#[tokio::test]
async fn a_command_waits_for_no_answer_that_slack_is_slow_with() {
    let mut stage = Stage::new().await;
    let slow = json!({"ok": true, "channel": "C1", "ts": "7.000001"});
    let slow = ResponseTemplate::new(200)
        .set_body_json(slow)
        .set_delay(Duration::from_secs(3));
    let mock = Mock::given(path("/chat.postMessage")).respond_with(slow);
    mock.with_priority(1).mount(&stage.slack).await;
    for text in [
        "health",
        "status",
        "plans",
        "resume hand",
        "resume fleet",
        "reset hand",
        "pause fleet",
    ] {
        let said = stage.mention(ANN, text);
        stage.inbox().keep(&said).await.unwrap();
    }
    let home = stage.home.clone();
    let newest: Newest = Arc::new(move || home.clone());
    let (inbox, chat) = (stage.inbox(), stage.chat.clone());
    let (to, from) = channel(100);
    let task = tokio::spawn(async move {
        tokio::join!(inbox.deal(&chat, &to), errands::keep(&newest, &chat, from));
    });
    let since = Instant::now();
    let paused = async {
        while stage.home.store.pauses().await.unwrap().is_empty() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, paused).await.unwrap();
    let took = since.elapsed();
    assert!(
        took < Duration::from_secs(2),
        "it was paused after {took:?}"
    );
    let answered = async {
        while stage.posted().await.len() < 7 {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LIMIT, answered).await.unwrap();
    task.abort();
}

#[tokio::test]
async fn a_mention_that_is_not_first_is_no_command_and_no_silence() {
    let mut stage = Stage::new().await;
    let ts = stage.ts();
    let text = "pause fleet <@UBOT>";
    let event =
        json!({"type": "app_mention", "user": OPE, "channel": "C1", "ts": ts, "text": text});
    let event = stage.event(&event);
    stage.take(&event).await;
    assert!(stage.home.store.pauses().await.unwrap().is_empty());
    let posted = stage.posted().await;
    assert!(
        posted.len() == 1 && posted[0].contains("begin with my name"),
        "{posted:?}"
    );
}
