use carson_core::FiringId;
use serde_json::json;
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::*;
use crate::sink::PostError;
use crate::testing::{Named, message, notice, opened, secrets};

async fn answering(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    let mock = Mock::given(method("POST")).and(path("/hook/hidden"));
    mock.respond_with(answer).mount(&server).await;
    server
}

fn at(server: &MockServer) -> String {
    format!("{}/hook/hidden", server.uri())
}

#[tokio::test]
async fn a_post_is_a_json_document_that_says_what_it_is() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(header("authorization", "Bearer t0ken-of-mine"))
        .respond_with(ResponseTemplate::new(204))
        .expect(2)
        .mount(&server)
        .await;
    let section = json!({"url_file": at(&server), "header_file": "t0ken-of-mine"});
    let sink = opened(NAME, section).unwrap();
    assert!(!sink.can_thread());
    let firing = FiringId::new();
    let notice = Notice {
        firing: Some(firing),
        ..notice(Message {
            fields: vec![("Turns".into(), "7".into())],
            link: Some("https://forge.example/pull/7".into()),
            role: Some("hand".into()),
            outcome: Some("OK".into()),
            ..message()
        })
    };
    sink.post(&notice, Place::Channel).await.unwrap();
    sink.update(&notice, None).await.unwrap();
    let sent = server.received_requests().await.unwrap();
    let expected = json!({
        "id": "00000000-0000-0000-0000-000000000007",
        "kind": "finished",
        "firing": firing,
        "role": "hand",
        "outcome": "OK",
        "severity": "info",
        "title": "OK · Implementer",
        "text": "1 commit",
        "fields": {"Turns": "7"},
        "links": ["https://forge.example/pull/7"],
        "time": "2026-09-21T14:13:20Z",
    });
    for request in sent {
        assert_eq!(request.body_json::<Value>().unwrap(), expected);
    }
}

#[tokio::test]
async fn a_header_may_have_another_name() {
    let server = MockServer::start().await;
    Mock::given(header("x-api-key", "k1"))
        .respond_with(ResponseTemplate::new(200))
        .expect(1)
        .mount(&server)
        .await;
    let section = json!({"url": at(&server), "header_file": "X-Api-Key: k1"});
    let sink = opened(NAME, section).unwrap();
    sink.post(&notice(message()), Place::Channel).await.unwrap();
}

#[tokio::test]
async fn no_words_of_others_call_or_link_wherever_it_is_shown() {
    let server = answering(ResponseTemplate::new(200)).await;
    let sink = opened(NAME, json!({"url": at(&server)})).unwrap();
    let hostile = "see https://evil.example @everyone\u{202e}";
    let notice = notice(Message {
        title: hostile.into(),
        text: hostile.repeat(500),
        fields: vec![(hostile.into(), hostile.into())],
        link: Some("https://evil.example @everyone".into()),
        ..message()
    });
    sink.post(&notice, Place::Channel).await.unwrap();
    let sent = &server.received_requests().await.unwrap()[0];
    let text = String::from_utf8(sent.body.clone()).unwrap();
    assert!(!text.contains("://evil") && !text.contains("@e"), "{text}");
    assert!(!text.contains('\u{202e}'), "{text}");
    let body: Value = sent.body_json().unwrap();
    assert_eq!(body["links"], json!([]));
    assert_eq!(body["text"].as_str().unwrap().chars().count(), TEXT_MAX);
}

#[tokio::test]
async fn what_may_pass_is_told_from_what_never_will() {
    let away = || ResponseTemplate::new(307).insert_header("location", "http://127.0.0.1:9/");
    for (answer, expected) in [
        (
            away(),
            PostError::Permanent("307 Temporary Redirect; redirects are not followed".into()),
        ),
        (
            ResponseTemplate::new(429).insert_header("retry-after", "7"),
            PostError::RetryAfter(std::time::Duration::from_secs(7)),
        ),
        (
            ResponseTemplate::new(502),
            PostError::Temporary("502 Bad Gateway".into()),
        ),
        (
            ResponseTemplate::new(401),
            PostError::Permanent("401 Unauthorized".into()),
        ),
    ] {
        let server = answering(answer).await;
        let sink = opened(NAME, json!({"url_file": at(&server)})).unwrap();
        let notice = notice(message());
        let error = sink.post(&notice, Place::Channel).await.unwrap_err();
        assert_eq!(error, expected);
        assert_eq!(server.received_requests().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn nothing_that_is_shown_has_the_address_or_the_token() {
    let section = json!({
        "url_file": "http://127.0.0.1:9/hook/hidden",
        "header_file": "Authorization: Bearer hidden-token",
    });
    let sink = opened(NAME, section.clone()).unwrap();
    let notice = notice(message());
    let error = sink.post(&notice, Place::Channel).await.unwrap_err();
    let shown = format!("{error} {error:?} {sink:?}");
    assert!(!shown.contains("hidden"), "{shown}");
    let known = secrets(NAME, section);
    let known: Vec<&str> = known.iter().map(ExposeSecret::expose_secret).collect();
    assert_eq!(
        known,
        [
            "http://127.0.0.1:9/hook/hidden",
            "Authorization: Bearer hidden-token",
            "hidden-token"
        ]
    );
}

#[test]
fn a_section_holds_or_says_why_not() {
    let found = |section: Value| {
        let mut around = Named::default();
        let _ = crate::spec(NAME, section, &mut around);
        let all = [around.problems, around.warnings].concat();
        assert!(!all.concat().contains("hidden"), "{all:?}");
        all.join("; ")
    };
    for good in [
        json!({"url": "https://hooks.example/carson"}),
        json!({"url": "http://127.0.0.1:8080/", "header_file": "t"}),
        json!({"url_file": "https://hooks.example/hidden", "header_file": "t"}),
        json!({"url_file": "http://[::1]:8080/hidden"}),
    ] {
        assert_eq!(found(good.clone()), "", "{good}");
    }
    for (bad, says) in [
        (json!({}), "url_file or url, one of them"),
        (
            json!({"url": "https://a/", "url_file": "https://b/"}),
            "one of them",
        ),
        (json!({"url": "hooks.example"}), "no web address"),
        (json!({"url": "file:///etc/passwd"}), "no web address"),
        (
            json!({"url": "https://me:hidden@hooks.example/"}),
            "url: it holds a sign-in",
        ),
        (
            json!({"url": "http://hooks.example/"}),
            "url: it is not https",
        ),
        (
            json!({"url": "http://hooks.example/", "header_file": "t"}),
            "would be readable on the way",
        ),
        (
            json!({"url_file": "http://hooks.example/hidden"}),
            "url_file: the address in it is not https",
        ),
        (
            json!({"url_file": "hidden"}),
            "url_file: what it holds is no web address",
        ),
        (json!({"url_file": "gone"}), "url_file: it cannot be read"),
        (
            json!({"url": "https://a/", "header_file": "No header: hidden"}),
            "header_file: it names no header",
        ),
        (
            json!({"url": "https://a/", "header_file": "hidden\nhidden"}),
            "header_file: it holds what no header may have",
        ),
    ] {
        let shown = found(bad.clone());
        assert!(shown.contains(says), "{bad}: {shown}");
    }
}

#[test]
fn a_secret_that_went_bad_is_told_without_it() {
    let spec = |section| crate::spec(NAME, section, &mut Named::default()).unwrap();
    let spec = spec(json!({"url_file": "https://a/", "header_file": "t"}));
    let bad = |_: &Path| Ok::<_, String>(SecretString::from("hidden"));
    let why = spec.open(&bad).unwrap_err();
    assert_eq!(why, "https://a/: what it holds is no web address");
}
