use crate::people::Association;
use serde_json::{Value, json};
use wiremock::matchers::{body_partial_json, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::tests::server;
use crate::ForgeError;

fn thread(id: &str, association: &str, more: bool) -> Value {
    let comment = json!({
        "databaseId": 11, "body": "Why?", "createdAt": "2026-01-01T00:00:00Z",
        "authorAssociation": association, "author": null,
    });
    json!({
        "id": id, "isResolved": false, "path": "a.rs", "line": null, "comments": {
            "nodes": [comment], "pageInfo": {"hasNextPage": more, "endCursor": null},
        },
    })
}

/// A page of threads, asked for after this place.
async fn page(server: &MockServer, after: Value, nodes: Value, next: Option<&str>) {
    let info = json!({"hasNextPage": next.is_some(), "endCursor": next});
    let threads = json!({"reviewThreads": {"nodes": nodes, "pageInfo": info}});
    let data = json!({"data": {"repository": {"pullRequest": threads}}});
    let variables = json!({"owner": "acme", "name": "widget", "number": 5, "after": after});
    Mock::given(path("/graphql"))
        .and(body_partial_json(json!({"variables": variables})))
        .respond_with(ResponseTemplate::new(200).set_body_json(data))
        .mount(server)
        .await;
}

#[tokio::test]
async fn all_pages_of_threads_are_read_and_strangers_are_told() {
    let (server, forge) = server().await;
    let first = json!([thread("one", "MEMBER", false)]);
    page(&server, Value::Null, first, Some("next")).await;
    let second = json!([thread("two", "NONE", false)]);
    page(&server, json!("next"), second, None).await;
    let threads = forge.review_threads(5).await.unwrap();
    let told = threads.iter().map(|thread| {
        let comment = &thread.comments[0];
        (&*thread.id, comment.association, &*comment.author)
    });
    let told: Vec<_> = told.collect();
    assert_eq!(
        told,
        [
            ("one", Association::Member, "ghost"),
            ("two", Association::None, "ghost")
        ]
    );
}

#[tokio::test]
async fn half_a_thread_is_none_and_pages_have_an_end() {
    let (server, forge) = server().await;
    let long = json!([thread("one", "MEMBER", true)]);
    page(&server, Value::Null, long, None).await;
    let error = forge.review_threads(5).await.unwrap_err().to_string();
    assert!(error.contains("a thread about a.rs is longer"), "{error}");
    let (server, forge) = super::tests::server().await;
    for after in [Value::Null, json!("again")] {
        page(&server, after, json!([]), Some("again")).await;
    }
    let error = forge.review_threads(5).await.unwrap_err().to_string();
    assert!(error.contains("more threads"), "{error}");
    assert_eq!(server.received_requests().await.unwrap().len(), 20);
}

#[tokio::test]
async fn what_graphql_refuses_is_what_rest_would_refuse() {
    for (kind, wanted) in [
        ("NOT_FOUND", "why does not exist"),
        ("FORBIDDEN", "the token may not do this: why"),
        ("INSUFFICIENT_SCOPES", "the token may not do this: why"),
        ("RATE_LIMITED", "the forge asks to wait 300s"),
        ("SOMETHING_NEW", "the forge refused: why"),
    ] {
        let (server, forge) = server().await;
        let trouble = json!({"data": null, "errors": [{"type": kind, "message": "why"}]});
        Mock::given(path("/graphql"))
            .respond_with(ResponseTemplate::new(200).set_body_json(trouble))
            .mount(&server)
            .await;
        let error = forge.resolve(5, "one").await.unwrap_err();
        assert_eq!(error.to_string(), wanted, "{kind}");
    }
    // A reply may have arrived: it is not sent again by itself.
    let (server, forge) = server().await;
    Mock::given(path("/user"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"login": "carson-bot"})))
        .mount(&server)
        .await;
    page(&server, Value::Null, json!([]), None).await;
    let lost = ResponseTemplate::new(502);
    Mock::given(body_partial_json(json!({"variables": {"id": "one"}})))
        .respond_with(lost)
        .expect(1)
        .mount(&server)
        .await;
    let error = forge.reply_once(5, "one", "k", "b").await.unwrap_err();
    assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
}
