//! What people asked not to be told.

use carson_core::outcome::Severity;
use carson_notify::Message;
use carson_store::{NewPost, PostKind};
use chrono::TimeDelta;
use uuid::Uuid;

use super::stage::Stage;

fn word(severity: Severity, title: &str) -> Message {
    Message {
        severity: Some(severity),
        title: title.to_owned(),
        fields: Vec::new(),
        text: "text".to_owned(),
        link: None,
        role: Some("hand".to_owned()),
        outcome: None,
    }
}

async fn file(stage: &Stage, message: &Message) {
    let post = NewPost {
        id: Uuid::now_v7(),
        sink: "slack".to_owned(),
        thread: None,
        kind: PostKind::Root,
        body: serde_json::to_value(message).unwrap(),
        created_at: stage.clock.now(),
    };
    stage.store.file_post(&post).await.unwrap();
}

#[tokio::test]
async fn a_quiet_chat_hears_alerts_alone_until_its_time_is_over() {
    let mut stage = Stage::new().await;
    let until = stage.clock.now() + TimeDelta::hours(2);
    stage.store.set_quiet("slack", until, "ann").await.unwrap();
    file(&stage, &word(Severity::Info, "done")).await;
    file(&stage, &word(Severity::Warning, "look")).await;
    file(&stage, &word(Severity::Error, "hand stopped")).await;
    assert_eq!(stage.drain().await, 1);
    assert_eq!(stage.arrived(), ["<!here> 🚨 hand stopped"]);
    assert_eq!(
        stage.store.pending_posts().await.unwrap(),
        0,
        "nothing is told later"
    );
    stage.after(2 * 3_600);
    file(&stage, &word(Severity::Info, "done again")).await;
    assert_eq!(stage.drain().await, 1);
    assert_eq!(stage.arrived().pop().unwrap(), "done again");
}

#[tokio::test]
async fn an_alert_that_was_seen_is_not_told_again_for_a_day_and_another_is() {
    let mut stage = Stage::new().await;
    let alert = word(Severity::Error, "hand stopped");
    file(&stage, &alert).await;
    assert_eq!(stage.drain().await, 1);
    stage.after(60);
    let (key, now) = (alert.alert(), stage.clock.now());
    stage.store.see_alert(&key, "ann", now).await.unwrap();
    stage.after(60);
    file(&stage, &alert).await;
    file(&stage, &word(Severity::Error, "account blocked")).await;
    assert_eq!(stage.drain().await, 1);
    stage.after(86_400);
    file(&stage, &alert).await;
    assert_eq!(stage.drain().await, 1);
    let titles = ["hand stopped", "account blocked", "hand stopped"];
    assert_eq!(
        stage.arrived(),
        titles.map(|title| format!("<!here> 🚨 {title}"))
    );
}
