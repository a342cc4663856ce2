use serde_json::json;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::tests::{issue, server};
use crate::ForgeError;
use crate::Standing;

async fn answers(server: &MockServer, to: &str, answer: ResponseTemplate) {
    let mock = Mock::given(method("GET")).and(path(to));
    mock.respond_with(answer).mount(server).await;
}

fn standing_answer(scopes: &str, remaining: &str) -> ResponseTemplate {
    ResponseTemplate::new(200)
        .insert_header("x-oauth-scopes", scopes)
        .insert_header("x-ratelimit-limit", "5000")
        .insert_header("x-ratelimit-remaining", remaining)
        .insert_header("x-ratelimit-reset", "1800000000")
}

#[tokio::test]
async fn every_answer_tells_how_we_stand_at_no_cost() {
    let (server, forge) = server().await;
    assert_eq!(forge.standing(), Standing::default());
    let list = standing_answer("read:org, public_repo", "7").set_body_json(json!([issue(1, &[])]));
    answers(&server, "/repos/acme/widget/issues", list).await;
    forge.issues(None).await.unwrap();
    let standing = forge.standing();
    assert_eq!(
        standing.scopes.as_deref().unwrap(),
        ["read:org", "public_repo"]
    );
    assert!(standing.is_used_up());
    assert_eq!(standing.resets_at, Some(1_800_000_000));
    assert_eq!(standing.may_push, None);
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_repository_says_what_the_token_may_do() {
    let (server, forge) = server().await;
    let repository = json!({"private": true, "permissions": {"push": false, "pull": true}});
    let answer = standing_answer("public_repo", "4999").set_body_json(repository);
    answers(&server, "/repos/acme/widget", answer).await;
    let standing = forge.examine().await.unwrap();
    assert_eq!(standing.may_push, Some(false));
    assert_eq!(standing.lacks_scope(), Some("repo"));
    assert!(!standing.is_used_up());
}

#[tokio::test]
async fn a_token_that_tells_nothing_is_no_trouble_and_a_refused_one_is() {
    let (server, forge) = server().await;
    let fine = ResponseTemplate::new(200).set_body_json(json!({"name": "widget"}));
    answers(&server, "/repos/acme/widget", fine).await;
    let standing = forge.examine().await.unwrap();
    assert_eq!(
        (standing.lacks_scope(), standing.is_used_up()),
        (None, false)
    );
    server.reset().await;
    answers(&server, "/repos/acme/widget", ResponseTemplate::new(401)).await;
    let refused = forge.examine().await;
    assert!(
        matches!(refused, Err(ForgeError::Unauthorized)),
        "{refused:?}"
    );
}
