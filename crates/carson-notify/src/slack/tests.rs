use std::time::Duration;

use serde_json::{Value, json};
use wiremock::matchers::{body_partial_json, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::*;
use crate::message::Message;
use crate::sink::{Place, PostError};
use crate::testing::{Named, message, notice, opened};

async fn slack(answer: ResponseTemplate) -> (MockServer, Box<dyn Sink>) {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/chat.postMessage"))
        .and(header("authorization", "Bearer xoxb-test"))
        .and(body_partial_json(
            json!({"channel": "#fleet", "thread_ts": "1.2"}),
        ))
        .respond_with(answer)
        .expect(1)
        .mount(&server)
        .await;
    let section = json!({"api_base": server.uri(), "channel": "#fleet", "token_file": "xoxb-test"});
    (server, opened(NAME, section).unwrap())
}

#[tokio::test]
async fn a_post_goes_into_its_thread_and_comes_back_with_its_name() {
    let answer = ResponseTemplate::new(200).set_body_json(json!({"ok": true, "ts": "3.4"}));
    let (_server, sink) = slack(answer).await;
    let posted = sink
        .post(&notice(message()), Place::Thread("1.2"))
        .await
        .unwrap();
    assert_eq!(posted.ts.as_deref(), Some("3.4"));
}

/// It was given up after ten seconds and posted again, while Slack had it.
#[tokio::test]
async fn a_post_that_slack_takes_a_while_for_is_posted_once() {
    let answer = ResponseTemplate::new(200)
        .set_body_json(json!({"ok": true, "ts": "3.4"}))
        .set_delay(Duration::from_secs(11));
    let (_server, sink) = slack(answer).await;
    let posted = sink.post(&notice(message()), Place::Thread("1.2")).await;
    assert_eq!(posted.unwrap().ts.as_deref(), Some("3.4"));
}

#[tokio::test]
async fn what_may_pass_is_told_from_what_never_will() {
    let no = |error: &str| {
        ResponseTemplate::new(200).set_body_json(json!({"ok": false, "error": error}))
    };
    let cases = [
        (
            no("channel_not_found"),
            PostError::Permanent("channel_not_found".into()),
        ),
        (
            no("internal_error"),
            PostError::Temporary("internal_error".into()),
        ),
        (
            ResponseTemplate::new(429).insert_header("retry-after", "7"),
            PostError::RetryAfter(Duration::from_secs(7)),
        ),
        (
            ResponseTemplate::new(503),
            PostError::Temporary("503 Service Unavailable".into()),
        ),
        (
            ResponseTemplate::new(403),
            PostError::Permanent("403 Forbidden".into()),
        ),
    ];
    for (answer, expected) in cases {
        let (_server, sink) = slack(answer).await;
        assert_eq!(
            sink.post(&notice(message()), Place::Thread("1.2")).await,
            Err(expected)
        );
    }
}

#[tokio::test]
async fn an_error_does_not_tell_the_address_of_a_webhook() {
    let url = "http://127.0.0.1:9/services/T0/B0/hidden";
    let sink = opened(NAME, json!({"webhook_file": url})).unwrap();
    assert!(!sink.can_thread());
    let notice = notice(message());
    let error = sink.post(&notice, Place::Channel).await.unwrap_err();
    assert_eq!(error, PostError::Temporary("no connection".into()));
    assert!(!format!("{sink:?}").contains("hidden"));
    // There is nothing to change: how a firing ended is a post like its beginning.
    let error = sink.update(&notice, None).await.unwrap_err();
    assert_eq!(error, PostError::Temporary("no connection".into()));
    assert_eq!(sink.ask().await, Ok(None), "it can only be posted to");
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_it() {
    let answer = ResponseTemplate::new(200).set_body_bytes(vec![b' '; 300 * 1024]);
    let (_server, sink) = slack(answer).await;
    let error = sink
        .post(&notice(message()), Place::Thread("1.2"))
        .await
        .unwrap_err();
    assert_eq!(error, PostError::Temporary("its answer is too long".into()));
}

#[tokio::test]
async fn it_can_be_asked_whether_it_takes_posts_without_a_post() {
    let server = MockServer::start().await;
    let answers = [
        json!({"ok": true, "user": "carson", "team": "Acme"}),
        json!({"ok": false, "error": "invalid_auth"}),
    ];
    for answer in answers {
        Mock::given(method("POST"))
            .and(path("/auth.test"))
            .and(header("authorization", "Bearer xoxb-test"))
            .respond_with(ResponseTemplate::new(200).set_body_json(answer))
            .up_to_n_times(1)
            .mount(&server)
            .await;
    }
    let section = json!({"api_base": server.uri(), "token_file": "xoxb-test"});
    let sink = opened(NAME, section).unwrap();
    assert_eq!(
        sink.ask().await,
        Ok(Some("it lets carson into Acme".into()))
    );
    let refused = PostError::Permanent("invalid_auth".into());
    assert_eq!(sink.ask().await, Err(refused));
}

#[test]
fn what_is_no_address_is_found_and_not_shown() {
    for (section, says) in [
        (
            json!({"webhook_file": "hooks-T0-hidden"}),
            "what it holds is no web address",
        ),
        (
            json!({"webhook_file": "http://hidden.example/x"}),
            "the address in it is not https",
        ),
        (
            json!({"token_file": "t", "api_base": "slack.com"}),
            "\"slack.com\" is no web address",
        ),
        (
            json!({"token_file": "t", "api_base": "http://slack.com"}),
            "it is not https",
        ),
    ] {
        let mut around = Named::default();
        assert!(crate::spec(NAME, section, &mut around).is_some());
        let problems = [around.problems, around.warnings].concat().join("\n");
        assert!(
            problems.contains(says) && !problems.contains("hidden"),
            "{problems}"
        );
    }
}

#[test]
fn an_address_that_others_could_read_on_the_way_is_not_used() {
    let section = json!({"webhook_file": "http://hidden.example/x"});
    let why = opened(NAME, section).unwrap_err();
    assert!(why.contains("is not https"), "{why}");
}

#[test]
fn one_way_in_is_needed_and_one_only() {
    for section in [json!({}), json!({"token_file": "t", "webhook_file": "w"})] {
        let mut around = Named::default();
        assert!(crate::spec(NAME, section, &mut around).is_none());
        assert!(around.problems[0].contains("one of them"), "{around:?}");
    }
}

#[tokio::test]
async fn no_syntax_of_the_chat_gets_through_in_any_of_its_places() {
    let answer = ResponseTemplate::new(200).set_body_json(json!({"ok": true, "ts": "3.4"}));
    let (server, sink) = slack(answer).await;
    let hostile = Message {
        title: "<!channel> & <https://evil|click>".into(),
        ..message()
    };
    sink.post(&notice(hostile), Place::Both("1.2"))
        .await
        .unwrap();
    let sent: Value = server.received_requests().await.unwrap()[0]
        .body_json()
        .unwrap();
    assert_eq!(sent["reply_broadcast"], true);
    assert_eq!(
        sent["text"],
        "✅ &lt;\u{2060}!channel&gt; &amp; &lt;https:\u{2060}//evil|click&gt;"
    );
    // Plain text has no syntax.
    assert_eq!(sent["blocks"][0]["text"]["type"], "plain_text");
}
