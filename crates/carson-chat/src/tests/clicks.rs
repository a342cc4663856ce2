//! Yes and no: the plan that people read, once, in time, by those who may.

use carson_core::Event;
use carson_operator::plans;
use carson_store::{ApprovalRow, Decision, NewPost, PostKind};
use chrono::TimeDelta;
use serde_json::json;
use wiremock::matchers::path;
use wiremock::{Mock, ResponseTemplate};

use super::stage::{ANN, EVE, Stage};
use crate::post::{APPROVE, REJECT};
use crate::questions;

#[tokio::test]
async fn a_plan_is_asked_with_buttons_and_one_click_after_a_restart_approves_it_once() {
    let mut stage = Stage::new().await;
    let plan = stage.plan("Split the parser").await;
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    let posted = stage.posted().await;
    assert_eq!(posted.len(), 1, "{posted:?}");
    assert!(posted[0].contains("Split the parser") && !posted[0].contains("<!here>"));
    stage.restart().await;
    let click = stage.click(ANN, APPROVE, &format!("{}:{}", plan.id, plan.hash));
    stage.take(&click).await;
    let row = stage.row(&plan).await;
    assert_eq!(row.decision, Some(Decision::Approved));
    assert_eq!(row.decided_by.as_deref(), Some("U0ANN00001, in the chat"));
    assert_eq!(stage.issues().await, 2, "what it says is filed");
    questions::strip(&stage.home, &stage.chat).await.unwrap();
    let number = plan.issue.unwrap();
    let told = format!("approved by U0ANN00001, in the chat: the plan on widget#{number}");
    assert_eq!(stage.updated().await, [told], "once");
}

/// The posts of a firing and the questions of its plan go two ways.
#[tokio::test]
async fn a_question_waits_a_minute_for_the_head_of_its_thread() {
    let stage = Stage::new().await;
    let (first, other) = (stage.plan("First").await, stage.plan("Other").await);
    let head = |row: &ApprovalRow| NewPost {
        id: row.plan.unwrap().0.uuid(),
        sink: "slack".to_owned(),
        thread: Some(row.plan.unwrap().0),
        kind: PostKind::Root,
        body: json!({}),
        created_at: row.asked_at,
    };
    let store = stage.home.store.clone();
    for row in [&first, &other] {
        store.file_post(&head(row)).await.unwrap();
    }
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    assert!(stage.posted().await.is_empty(), "neither has a head");
    let sent = Some("C1:17.5");
    let now = stage.home.clock.now();
    store.post_sent(head(&first).id, sent, now).await.unwrap();
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    let posted = stage.posted().await;
    assert!(
        posted.len() == 1 && posted[0].contains("First"),
        "{posted:?}"
    );
    stage.after(TimeDelta::minutes(1));
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    assert_eq!(stage.posted().await.len(), 2, "it is not waited for longer");
}

/// A decision by a process that was killed, by a command, by the clock and by a closed issue.
#[tokio::test]
async fn what_can_be_answered_no_more_loses_its_buttons_by_the_rows_whoever_ended_it() {
    let mut stage = Stage::new().await;
    let killed = stage.plan("Killed").await;
    let commanded = stage.plan("Commanded").await;
    let closed = stage.plan("Closed").await;
    let late = stage.plan("Late").await;
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    questions::strip(&stage.home, &stage.chat).await.unwrap();
    assert_eq!(stage.updated().await, [""; 0], "they wait");
    let (store, now) = (stage.home.store.clone(), stage.home.clock.now());
    let event = Event::ApprovalDecided {
        what: "a plan".to_owned(),
        decision: "approved",
        by: "ann".to_owned(),
    };
    let said = (Decision::Approved, "ann");
    let decided = store.decide_approval(&killed.id, &killed.hash, said, (&event, None), now);
    assert!(decided.await.unwrap());
    stage.restart().await;
    let repo = stage.home.fleet.repos[&commanded.repo].clone();
    let said = (Decision::Rejected, "the operator");
    plans::on_issue(&stage.home, &repo, commanded.issue.unwrap(), said)
        .await
        .unwrap();
    store.close_approval(&closed.id, now).await.unwrap();
    let broken = Mock::given(path("/chat.update"))
        .respond_with(ResponseTemplate::new(503))
        .up_to_n_times(3);
    broken.with_priority(1).mount(&stage.slack).await;
    questions::strip(&stage.home, &stage.chat).await.unwrap();
    questions::strip(&stage.home, &stage.chat).await.unwrap();
    assert_eq!(stage.updated().await.len(), 3, "not again at once");
    stage.after(TimeDelta::seconds(5));
    questions::strip(&stage.home, &stage.chat).await.unwrap();
    stage.after(TimeDelta::hours(24));
    questions::strip(&stage.home, &stage.chat).await.unwrap();
    questions::strip(&stage.home, &stage.chat).await.unwrap();
    let about = |row: &ApprovalRow| format!("the plan on widget#{}", row.issue.unwrap());
    assert_eq!(
        stage.updated().await.split_off(3),
        [
            format!("approved by ann: {}", about(&killed)),
            format!("rejected by the operator: {}", about(&commanded)),
            format!("Waits no more: {}", about(&closed)),
            format!("Expired: {}", about(&late)),
        ],
        "each once"
    );
}

#[tokio::test]
async fn a_post_that_somebody_deleted_is_not_asked_for_again() {
    let stage = Stage::new().await;
    let plan = stage.plan("Split the parser").await;
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    let gone = json!({"ok": false, "error": "message_not_found"});
    let gone = ResponseTemplate::new(200).set_body_json(gone);
    let mock = Mock::given(path("/chat.update")).respond_with(gone);
    mock.with_priority(1).mount(&stage.slack).await;
    let now = stage.home.clock.now();
    stage
        .home
        .store
        .close_approval(&plan.id, now)
        .await
        .unwrap();
    for _ in 0..3 {
        questions::strip(&stage.home, &stage.chat).await.unwrap();
        stage.after(TimeDelta::minutes(10));
    }
    assert_eq!(stage.updated().await.len(), 1);
}

#[tokio::test]
async fn eight_bad_clicks_change_nothing_and_are_written_down() {
    let mut stage = Stage::new().await;
    let plan = stage.plan("Split the parser").await;
    let value = format!("{}:{}", plan.id, plan.hash);
    // Untrusted.
    let click = stage.click(EVE, APPROVE, &value);
    stage.take(&click).await;
    // Stale.
    let click = stage.click(ANN, APPROVE, &value);
    stage.after(TimeDelta::minutes(6));
    stage.take(&click).await;
    // A forged id, hash, button.
    let click = stage.click(ANN, APPROVE, &format!("nobody:{}", plan.hash));
    stage.take(&click).await;
    let click = stage.click(ANN, APPROVE, &format!("{}:{}", plan.id, "0".repeat(40)));
    stage.take(&click).await;
    let click = stage.click(ANN, "carson.rm", &value);
    stage.take(&click).await;
    let click = stage.click(ANN, APPROVE, "nothing of ours");
    stage.take(&click).await;
    assert_eq!(stage.row(&plan).await.decision, None);
    // The plan has changed: a newer one waits in its place.
    let newer = stage
        .plan_on(plan.issue.unwrap(), "Split it otherwise")
        .await;
    let click = stage.click(ANN, APPROVE, &value);
    stage.take(&click).await;
    assert_ne!(stage.row(&plan).await.decision, Some(Decision::Approved));
    // Decided, and the click replayed.
    let click = stage.click(ANN, REJECT, &format!("{}:{}", newer.id, newer.hash));
    stage.take(&click).await;
    stage.take(&click).await;
    let again = stage.click(ANN, APPROVE, &format!("{}:{}", newer.id, newer.hash));
    stage.take(&again).await;
    assert_eq!(stage.row(&newer).await.decision, Some(Decision::Rejected));
    // Expired.
    let late = stage.plan("Too late").await;
    stage.after(TimeDelta::hours(25));
    let click = stage.click(ANN, APPROVE, &format!("{}:{}", late.id, late.hash));
    stage.take(&click).await;
    assert_eq!(stage.row(&late).await.decision, None);
    assert_eq!(stage.issues().await, 2, "nothing was filed");
    let events = stage.events().await;
    let refused = events.iter().filter(|(kind, _)| kind == "approval.refused");
    let why: Vec<&str> = refused.map(|(_, why)| why.as_str()).collect();
    assert_eq!(
        why,
        [
            "who did it is not trusted",
            "it is older than five minutes",
            "there is no such question",
            "what it names is not what was asked",
            "there is no such button",
            "its button carries nothing of ours",
            "it was decided before",
            "it was decided before",
            "it has expired",
        ]
    );
}

#[tokio::test]
async fn a_click_on_a_plan_in_whose_place_a_newer_one_waits_changes_nothing() {
    let mut stage = Stage::new().await;
    let plan = stage.plan("Split the parser").await;
    let issue = plan.issue.unwrap();
    // Nobody looked since: the row of the old one is open.
    stage.plan_unseen(issue, "Split it otherwise").await;
    let click = stage.click(ANN, APPROVE, &format!("{}:{}", plan.id, plan.hash));
    stage.take(&click).await;
    assert_eq!(stage.row(&plan).await.decision, None);
    assert_eq!(stage.issues().await, 1, "nothing was filed");
    let why = "the plan has changed, or waits no more";
    let refused = ("approval.refused".to_owned(), why.to_owned());
    assert_eq!(stage.events().await, [refused]);
}

#[tokio::test]
async fn a_plan_whose_issue_was_closed_or_lost_its_label_is_approved_by_nothing() {
    let mut stage = Stage::new().await;
    let (closed, unlabelled) = (stage.plan("Closed").await, stage.plan("Unlabelled").await);
    let forge = stage.forge().await;
    forge.close_issue(closed.issue.unwrap()).await.unwrap();
    let label = [carson_forge::PLAN_PENDING];
    let number = unlabelled.issue.unwrap();
    forge.set_labels(number, &[], &label).await.unwrap();
    for plan in [&closed, &unlabelled] {
        let click = stage.click(ANN, APPROVE, &format!("{}:{}", plan.id, plan.hash));
        stage.take(&click).await;
        assert_eq!(stage.row(plan).await.decision, None, "{}", plan.body);
    }
    assert_eq!(
        stage.issues().await,
        1,
        "one is closed, and nothing was filed"
    );
}

#[tokio::test]
async fn a_sign_on_the_question_decides_and_one_elsewhere_does_not() {
    let mut stage = Stage::new().await;
    let plan = stage.plan("Split the parser").await;
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    for (user, sign, post) in [
        (ANN, "white_check_mark", "9.9"),
        (ANN, "eyes", "7.000001"),
        (EVE, "white_check_mark", "7.000001"),
    ] {
        let ts = stage.ts();
        let event = stage.event(
            &json!({"type": "reaction_added", "user": user, "reaction": sign,
            "item": {"type": "message", "channel": "C1", "ts": post}, "event_ts": ts}),
        );
        stage.take(&event).await;
        assert_eq!(stage.row(&plan).await.decision, None, "{sign}");
    }
    let ts = stage.ts();
    let event = stage.event(
        &json!({"type": "reaction_added", "user": ANN, "reaction": "x",
        "item": {"type": "message", "channel": "C1", "ts": "7.000001"}, "event_ts": ts}),
    );
    stage.take(&event).await;
    assert_eq!(stage.row(&plan).await.decision, Some(Decision::Rejected));
    assert_eq!(stage.issues().await, 1);
}

#[tokio::test]
async fn five_failures_in_a_row_are_never_a_yes_and_never_silence() {
    let stage = Stage::new().await;
    let plan = stage.plan("Split the parser").await;
    let broken = Mock::given(path("/chat.postMessage")).respond_with(ResponseTemplate::new(503));
    broken.with_priority(1).mount(&stage.slack).await;
    for _ in 0..4 {
        questions::ask(&stage.home, &stage.chat).await.unwrap();
        stage.after(TimeDelta::minutes(2));
    }
    assert_eq!(stage.events().await, []);
    questions::ask(&stage.home, &stage.chat).await.unwrap();
    let row = stage.row(&plan).await;
    assert_eq!((row.decision, row.failures), (None, 5));
    let kinds: Vec<String> = stage.events().await.into_iter().map(|one| one.0).collect();
    assert_eq!(kinds, ["approval.cannot-be-asked"]);
    assert_eq!(
        stage.home.store.pending_posts().await.unwrap(),
        1,
        "it is told when the chat is back"
    );
    let verb = carson_operator::VERBS
        .iter()
        .find(|verb| verb.name == "status");
    let status = (verb.unwrap().answer)(&stage.home, json!({}))
        .await
        .unwrap();
    assert_eq!(status["plans"][0]["state"], "cannot-be-asked");
}

#[tokio::test]
async fn an_issue_is_made_by_the_button_and_not_before() {
    let mut stage = Stage::new().await;
    stage.say(ANN, "issue widget: Say hello").await;
    assert_eq!(stage.issues().await, 0);
    let row = stage.home.store.open_approvals().await.unwrap().remove(0);
    let click = stage.click(ANN, APPROVE, &format!("{}:{}", row.id, row.hash));
    stage.take(&click).await;
    let again = stage.click(ANN, APPROVE, &format!("{}:{}", row.id, row.hash));
    stage.take(&again).await;
    assert_eq!(stage.issues().await, 1);
}
