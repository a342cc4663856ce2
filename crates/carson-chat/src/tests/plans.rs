//! A long plan is there to be read, whole, before somebody says yes.

use carson_store::{NewPost, PostKind};
use chrono::TimeDelta;
use serde_json::{Value, json};
use wiremock::matchers::path;
use wiremock::{Mock, ResponseTemplate};

use super::stage::Stage;
use crate::questions;

/// More than fits into one post, in one line, as a planner may write it.
fn long() -> String {
    (0..3_000).fold(String::new(), |text, n| text + &format!("step{n}. "))
}

async fn bodies(stage: &Stage) -> Vec<Value> {
    let all = stage.slack.received_requests().await.unwrap();
    let posts = all
        .iter()
        .filter(|one| one.url.path() == "/chat.postMessage");
    posts.map(|one| one.body_json().unwrap()).collect()
}

fn has_buttons(body: &Value) -> bool {
    body["blocks"].to_string().contains("\"button\"")
}

#[tokio::test]
async fn a_long_plan_is_told_whole_in_one_thread_with_its_buttons_behind_it() {
    let stage = Stage::new().await;
    let plan = stage.plan_saying("Long", &long()).await;
    stage.after(TimeDelta::minutes(1));
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    let told = stage.posted().await.join("\n");
    for n in 0..3_000 {
        assert!(told.contains(&format!("step{n}.")), "{n}");
    }
    let bodies = bodies(&stage).await;
    assert!((2..6).contains(&bodies.len()), "{}", bodies.len());
    let (last, before) = bodies.split_last().unwrap();
    assert!(has_buttons(last) && !before.iter().any(has_buttons));
    assert!(
        bodies[0]["thread_ts"].is_null(),
        "the first begins the thread"
    );
    assert!(
        bodies[1..]
            .iter()
            .all(|body| body["thread_ts"] == "7.000001")
    );
    assert!(
        last["blocks"]
            .to_string()
            .contains(&format!("{}:{}", plan.id, plan.hash))
    );
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    assert_eq!(self::bodies(&stage).await.len(), bodies.len(), "once");
}

#[tokio::test]
async fn what_slack_did_not_take_of_a_long_plan_goes_on_where_it_ended() {
    let mut stage = Stage::new().await;
    stage.plan_saying("Long", &long()).await;
    stage.after(TimeDelta::minutes(1));
    let well = json!({"ok": true, "channel": "C1", "ts": "7.000001"});
    let well = ResponseTemplate::new(200).set_body_json(well);
    let first = Mock::given(path("/chat.postMessage")).respond_with(well);
    first
        .with_priority(1)
        .up_to_n_times(1)
        .mount(&stage.slack)
        .await;
    let broken = Mock::given(path("/chat.postMessage")).respond_with(ResponseTemplate::new(503));
    broken
        .with_priority(2)
        .up_to_n_times(1)
        .mount(&stage.slack)
        .await;
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    assert_eq!(bodies(&stage).await.len(), 2, "the second was refused");
    stage.restart().await;
    stage.after(TimeDelta::seconds(5));
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    let told = stage.posted().await;
    assert_eq!(told[1], told[2], "it goes on with the one that was refused");
    assert_eq!(told.iter().filter(|text| **text == told[0]).count(), 1);
    assert!(has_buttons(bodies(&stage).await.last().unwrap()));
}

/// A chat that was told to be quiet has no head of the thread: a question waited a minute for it.
#[tokio::test]
async fn a_question_waits_for_no_head_that_a_quiet_chat_is_not_told() {
    let stage = Stage::new().await;
    let plan = stage.plan("Split the parser").await;
    let (firing, store) = (plan.plan.unwrap().0, &stage.home.store);
    let head = NewPost {
        id: firing.uuid(),
        sink: "slack".to_owned(),
        thread: Some(firing),
        kind: PostKind::Root,
        body: json!({}),
        created_at: plan.asked_at,
    };
    store.file_post(&head).await.unwrap();
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    assert!(stage.posted().await.is_empty(), "it is on its way");
    let now = stage.home.clock.now();
    store.post_sent(head.id, None, now).await.unwrap();
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    assert_eq!(stage.posted().await.len(), 1, "it will not come");
}
