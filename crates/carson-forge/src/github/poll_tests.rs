//! What is asked at every slot, and what one process tells the others.

use std::time::Duration;

use serde_json::{Value, json};
use wiremock::matchers::{header, header_exists, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::house::{House, checked};
use super::tests::issue;
use crate::{Forge, ForgeError};

fn section(server: &MockServer) -> Value {
    json!({"api_base": server.uri(), "token_file": "github.token"})
}

/// A process of its own: its settings are read anew.
fn process(house: &House, server: &MockServer) -> Forge {
    let spec = checked(section(server)).unwrap();
    house.open(spec.as_ref(), "acme/widget", "ghp_test")
}

async fn numbers(forge: &Forge) -> Vec<u64> {
    let found = forge.issues(Some("carson:ready")).await.unwrap().found;
    found.into_iter().map(|issue| issue.number).collect()
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again_to_the_next_process_either() {
    let server = MockServer::start().await;
    let pages = |page: Option<&str>| {
        let mock = Mock::given(method("GET")).and(path("/repos/acme/widget/issues"));
        match page {
            Some(page) => mock.and(query_param("page", page)),
            None => mock,
        }
    };
    let unchanged = ResponseTemplate::new(304).insert_header("x-ratelimit-remaining", "4321");
    for (page, etag) in [(Some("2"), "\"second\""), (None, "\"first\"")] {
        pages(page)
            .and(header("if-none-match", etag))
            .respond_with(unchanged.clone())
            .with_priority(1)
            .mount(&server)
            .await;
    }
    let next = format!(
        "<{}/repos/acme/widget/issues?page=2>; rel=\"next\"",
        server.uri()
    );
    let second = json!([issue(2, &["carson:ready"])]);
    let second = ResponseTemplate::new(200).set_body_json(second);
    pages(Some("2"))
        .respond_with(second.insert_header("etag", "\"second\""))
        .with_priority(2)
        .expect(1)
        .mount(&server)
        .await;
    let first = json!([issue(1, &["carson:ready"])]);
    let first = ResponseTemplate::new(200).set_body_json(first);
    pages(None)
        .respond_with(
            first
                .insert_header("etag", "\"first\"")
                .insert_header("link", next.as_str()),
        )
        .with_priority(3)
        .expect(1)
        .mount(&server)
        .await;
    let house = House::new();
    for _ in 0..3 {
        let forge = process(&house, &server);
        assert_eq!(numbers(&forge).await, [1, 2]);
    }
    // Such an answer tells how we stand, too.
    let forge = process(&house, &server);
    numbers(&forge).await;
    assert_eq!(forge.standing().remaining, Some(4321));
}

#[tokio::test]
async fn what_has_changed_is_new() {
    let server = MockServer::start().await;
    for (number, etag) in [(1, "\"one\""), (2, "\"two\"")] {
        let answer = ResponseTemplate::new(200).insert_header("etag", etag);
        Mock::given(method("GET"))
            .respond_with(answer.set_body_json(json!([issue(number, &[])])))
            .up_to_n_times(1)
            .mount(&server)
            .await;
    }
    Mock::given(header("if-none-match", "\"two\""))
        .respond_with(ResponseTemplate::new(304))
        .expect(1)
        .mount(&server)
        .await;
    let house = House::new();
    for wanted in [1, 2, 2] {
        assert_eq!(numbers(&process(&house, &server)).await, [wanted]);
    }
    // Comments are never asked so: a claim that was written since must be seen.
    Mock::given(header_exists("if-none-match"))
        .respond_with(ResponseTemplate::new(500))
        .mount(&server)
        .await;
    let fresh = ResponseTemplate::new(200).insert_header("etag", "\"x\"");
    Mock::given(path("/repos/acme/widget/issues/1/comments"))
        .respond_with(fresh.set_body_json(json!([])))
        .mount(&server)
        .await;
    let forge = process(&house, &server);
    for _ in 0..2 {
        assert!(forge.comments(1).await.unwrap().is_empty());
    }
}

/// What was merged long ago is of no interest, and never asked for.
#[tokio::test]
async fn of_what_was_merged_only_the_newest_page_is_read() {
    let server = MockServer::start().await;
    let pull = |head: &str, merged: Option<&str>| {
        json!({
            "head": {"ref": head}, "created_at": "2026-01-01T00:00:00Z", "merged_at": merged,
        })
    };
    let merged = pull("carson/hand/a", Some("2026-01-03T00:00:00Z"));
    let next = format!(
        "<{}/repos/acme/widget/pulls?page=2>; rel=\"next\"",
        server.uri()
    );
    let page = json!([merged, pull("carson/hand/b", None), {"head": 7}]);
    Mock::given(path("/repos/acme/widget/pulls"))
        .and(query_param("state", "closed"))
        .and(query_param("sort", "updated"))
        .and(query_param("direction", "desc"))
        .respond_with(
            ResponseTemplate::new(200)
                .set_body_json(page)
                .insert_header("link", next.as_str()),
        )
        .expect(1)
        .mount(&server)
        .await;
    let forge = process(&House::new(), &server);
    let found = forge.merged_lately().await.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].head, "carson/hand/a");
    assert_eq!((found[0].merged_at - found[0].opened_at).num_days(), 2);
}

#[tokio::test]
async fn a_limit_is_told_once_and_stops_every_repository_and_the_next_process() {
    let server = MockServer::start().await;
    let said = json!({"message": "You have exceeded a secondary rate limit."});
    let refused = ResponseTemplate::new(403).insert_header("retry-after", "900");
    Mock::given(method("GET"))
        .respond_with(refused.set_body_json(said))
        .expect(1)
        .mount(&server)
        .await;
    let mut house = House::new();
    let spec = checked(section(&server)).unwrap();
    let forge = house.open(spec.as_ref(), "acme/widget", "ghp_test");
    assert!(matches!(
        forge.issue(7).await,
        Err(ForgeError::RateLimited(_))
    ));
    let heard = house.heard.limits.lock().unwrap().clone();
    let why = "You have exceeded a secondary rate limit.".to_owned();
    assert_eq!(heard, [(Duration::from_secs(900), why)]);
    let other = house.open(spec.as_ref(), "acme/gadget", "ghp_test");
    assert!(matches!(
        other.issue(7).await,
        Err(ForgeError::RateLimited(_))
    ));
    // Another process knows it from the house.
    house.shut_for = Duration::from_secs(890);
    match process(&house, &server).issue(7).await {
        Err(ForgeError::RateLimited(left)) => assert!(left.as_secs().abs_diff(890) < 60),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_another_kind_of_request_used_up_stops_only_that_kind() {
    let server = MockServer::start().await;
    let of = |resource: &str| {
        ResponseTemplate::new(200)
            .insert_header("x-ratelimit-resource", resource)
            .insert_header("x-ratelimit-reset", "1800000000")
    };
    let threads = json!({"data": {"repository": {"pullRequest": {"reviewThreads": {
        "pageInfo": {"hasNextPage": false, "endCursor": null}, "nodes": []}}}}});
    Mock::given(path("/graphql"))
        .respond_with(
            of("graphql")
                .insert_header("x-ratelimit-remaining", "0")
                .set_body_json(threads),
        )
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .respond_with(
            of("core")
                .insert_header("x-ratelimit-remaining", "4000")
                .set_body_json(issue(7, &[])),
        )
        .mount(&server)
        .await;
    let house = House::new();
    let forge = process(&house, &server);
    assert!(forge.review_threads(5).await.unwrap().is_empty());
    assert_eq!(forge.issue(7).await.unwrap().number, 7);
    assert_eq!(forge.standing().remaining, Some(4000));
    assert!(house.heard.limits.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_refusal_names_the_permission_that_is_missing() {
    let server = MockServer::start().await;
    let said = json!({"message": "Resource not accessible by personal access token"});
    let rights = "pull_requests=write,contents=read; issues=write";
    Mock::given(method("GET"))
        .respond_with(
            ResponseTemplate::new(403)
                .insert_header("x-accepted-github-permissions", rights)
                .set_body_json(said),
        )
        .mount(&server)
        .await;
    let error = process(&House::new(), &server).issue(7).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the token may not do this: Resource not accessible by personal access token (it takes the \
         permission pull_requests: write and contents: read, or issues: write)"
    );
}
