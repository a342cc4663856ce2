//! Verbs and prose.

use carson_core::text::instant;
use chrono::TimeDelta;
use serde_json::json;

use super::stage::{ANN, EVE, OPE, Stage, start};

/// What people say, and what none of it may do.
const PROSE: [&str; 9] = [
    "pause the project for the holidays",
    "Pause fleet",
    "please pause fleet",
    "stop it",
    "resume when you are done, ok?",
    "can you approve the plan?",
    "reset everything and run all",
    "run all",
    "quiet please",
];

#[tokio::test]
async fn prose_is_never_a_command() {
    let mut stage = Stage::new().await;
    for prose in PROSE {
        stage.say(ANN, prose).await;
        stage.say(OPE, prose).await;
    }
    assert!(stage.home.store.pauses().await.unwrap().is_empty());
    assert!(stage.home.store.quiets().await.unwrap().is_empty());
    assert_eq!(stage.events().await, []);
    for told in stage.posted().await {
        let helps = told.contains("help") || told.starts_with('`');
        assert!(helps, "{told}");
    }
}

#[tokio::test]
async fn an_issue_that_could_not_be_made_is_not_asked_for() {
    let mut stage = Stage::new().await;
    stage.another_role().await;
    stage.say(ANN, "issue widget: Say hello").await;
    let told = stage.posted().await.pop().unwrap();
    assert!(told.contains("other:ready (other)"), "{told}");
    assert!(stage.home.store.open_approvals().await.unwrap().is_empty());
}

#[tokio::test]
async fn why_a_firing_ended_is_told_fact_by_fact() {
    let mut stage = Stage::new().await;
    let firing = stage.plan("Split the parser").await.plan.unwrap().0;
    stage.say(ANN, &format!("why {firing}")).await;
    let told = stage.posted().await.pop().unwrap();
    assert!(
        told.contains("an operator fired hand") && told.contains("it took"),
        "{told}"
    );
}

#[tokio::test]
async fn verbs_look_and_change_for_those_who_are_trusted() {
    let mut stage = Stage::new().await;
    for (text, told) in [
        ("status", "hand: next"),
        ("runs", "no firing yet"),
        ("why hand", "it does not fire"),
        ("queue", "hand in widget:"),
        ("plans", "nothing waits for you"),
        ("memory", "there are no lessons"),
        ("recall \"any thing\"", "nothing is known of that"),
        ("usage", "since "),
        ("outcomes", "no pull request"),
        ("shipped", "nothing since"),
        ("health", "no daemon runs"),
        ("help", "why ROLE|ISSUE|FIRING"),
        ("approve 0", "`approve ISSUE`: \"0\" is no issue"),
        ("approve 012", "\"012\" is no issue: 12, or widget#12"),
        ("pause hand", "paused: role hand"),
        (
            "pause hand",
            "that takes the place of a pause until it is resumed: paused by U0ANN00001",
        ),
        ("resume hand", "goes on: role hand"),
        ("pause fleet", "paused: fleet"),
        ("resume fleet", "goes on: fleet"),
        ("reset hand", "the breaker of hand"),
        ("stop 0199ab12", "there is no firing"),
        (
            "approve 999",
            "$CARSON_HOME/forge/widget/issues/0999.md does not exist",
        ),
        ("reject widget#999", "999"),
        ("remember \"the tests need a database\"", "proposed: "),
        (
            "trust <@U0BOB00001>",
            "listened to are: U0ANN00001 U0OPE00001 U0BOB00001",
        ),
        (
            "trust <@UBOBBOBBOB>",
            "listened to are: U0ANN00001 U0OPE00001 U0BOB00001 UBOBBOBBOB",
        ),
        (
            "untrust <@UBOBBOBBOB>",
            "listened to are: U0ANN00001 U0OPE00001 U0BOB00001",
        ),
        (
            "untrust @U0BOB00001",
            "listened to are: U0ANN00001 U0OPE00001",
        ),
        (
            "trust @U0OPE00001",
            "listened to are: U0ANN00001 U0OPE00001",
        ),
        ("untrust @U0OPE00001", "slack.operators"),
        ("untrust @U0ANN00001", "slack.trusted"),
        ("quiet 2h", "nothing but alerts and questions until"),
        ("status", "quiet: slack until 20"),
        ("ack deadbee1", "none was told in a day"),
        ("pause nobody", "there are: hand"),
        ("run hand", "slack.operators"),
    ] {
        let before = stage.posted().await.len();
        stage.say(ANN, text).await;
        let posted = stage.posted().await;
        assert_eq!(posted.len(), before + 1, "{text}");
        assert!(posted[before].contains(told), "{text}: {}", posted[before]);
        if text == "pause hand" {
            let pause = stage.home.store.pauses().await.unwrap().remove(0);
            assert_eq!(pause.reason, "paused by U0ANN00001, in the chat");
        }
    }
    let quiet = stage.home.store.quiets().await.unwrap();
    assert_eq!(quiet[0].until, start() + TimeDelta::hours(2));
    assert!(!instant(quiet[0].until).is_empty());
}

#[tokio::test]
async fn each_verb_with_other_arguments_says_its_line_and_does_nothing() {
    let mut stage = Stage::new().await;
    for verb in crate::VERBS {
        let before = stage.posted().await.len();
        stage.say(ANN, &format!("{} a b c d", verb.name)).await;
        let posted = stage.posted().await;
        let line = carson_notify::slack::shown(&format!("`{}`: ", verb.usage()));
        assert_eq!(posted.len(), before + 1, "{}", verb.name);
        assert!(posted[before].starts_with(&line), "{}", posted[before]);
    }
    assert_eq!(stage.events().await, []);
}

#[tokio::test]
async fn who_is_not_trusted_and_what_is_old_changes_nothing_and_is_written_down_once() {
    let mut stage = Stage::new().await;
    for _ in 0..3 {
        stage.say(EVE, "pause fleet").await;
        stage.say(EVE, "what is this?").await;
    }
    let old = stage.mention(ANN, "pause fleet");
    stage.after(TimeDelta::minutes(6));
    stage.take(&old).await;
    assert!(stage.home.store.pauses().await.unwrap().is_empty());
    let posted = stage.posted().await;
    assert!(
        posted.len() == 1 && posted[0].contains("nothing was done"),
        "who is trusted is told: {posted:?}"
    );
    let refused = |why: &str| ("chat.refused".to_owned(), why.to_owned());
    assert_eq!(
        stage.events().await,
        [refused("untrusted"), refused("stale")]
    );
}

#[tokio::test]
async fn what_slack_sends_twice_is_done_once() {
    let mut stage = Stage::new().await;
    let one = stage.mention(ANN, "pause fleet");
    stage.take(&one).await;
    stage
        .home
        .store
        .resume(&carson_store::PauseScope::Fleet)
        .await
        .unwrap();
    stage.take(&one).await;
    // The same event in another envelope, after a restart.
    stage.restart().await;
    let mut again = one.clone();
    again["envelope_id"] = json!("other");
    stage.take(&again).await;
    assert!(stage.home.store.pauses().await.unwrap().is_empty());
    assert_eq!(stage.posted().await.len(), 1);
}

#[tokio::test]
async fn hostile_words_call_nobody_and_a_long_answer_fits() {
    let mut stage = Stage::new().await;
    stage
        .say(ANN, "pause \"<!here> <@U1> https://evil.example\"")
        .await;
    let told = stage.posted().await.remove(0);
    assert!(
        !told.contains("<!") && !told.contains("<@") && !told.contains("://"),
        "{told}"
    );
}
