use std::time::{Duration, Instant};

use carson_core::Clock;
use serde_json::json;
use wiremock::matchers::{any, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::tests::{issue, server};
use crate::{Forge, ForgeError, NewIssue};

/// No request is accepted for so many seconds.
fn used_up(status: u16, seconds: i64) -> ResponseTemplate {
    let reset = (Clock::system().now().timestamp() + seconds).to_string();
    ResponseTemplate::new(status)
        .insert_header("x-ratelimit-remaining", "0")
        .insert_header("x-ratelimit-reset", reset.as_str())
}

fn fine() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(issue(7, &[]))
}

/// Answers like this once, then well.
async fn once(server: &MockServer, answer: ResponseTemplate) {
    Mock::given(any())
        .respond_with(answer)
        .up_to_n_times(1)
        .mount(server)
        .await;
    Mock::given(any()).respond_with(fine()).mount(server).await;
}

async fn requests(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

async fn limited(forge: &Forge) -> Duration {
    match forge.issue(7).await {
        Err(ForgeError::RateLimited(wait)) => wait,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_short_limit_is_waited_for() {
    for (answer, least) in [
        (used_up(403, 1), 0),
        (used_up(429, 1), 0),
        (
            ResponseTemplate::new(403).insert_header("retry-after", "1"),
            1,
        ),
        (
            ResponseTemplate::new(429).insert_header("retry-after", "1"),
            1,
        ),
    ] {
        let (server, forge) = server().await;
        once(&server, answer).await;
        let started = Instant::now();
        assert_eq!(forge.issue(7).await.unwrap().number, 7);
        assert!(started.elapsed() >= Duration::from_secs(least));
        assert_eq!(requests(&server).await, 2);
    }
}

#[tokio::test]
async fn a_long_limit_is_told_at_once_and_nobody_asks_again() {
    let abuse = json!({"message": "You have triggered an abuse detection mechanism."});
    for (answer, wait) in [
        (used_up(403, 3600), 3600),
        (
            ResponseTemplate::new(403).insert_header("retry-after", "900"),
            900,
        ),
        (ResponseTemplate::new(403).set_body_json(abuse), 60),
    ] {
        let (server, forge) = server().await;
        once(&server, answer).await;
        let started = Instant::now();
        // A clone is the same client.
        for forge in [&forge, &forge.clone()] {
            let said = limited(forge).await.as_secs();
            assert!(said.abs_diff(wait) < 10, "{said}");
        }
        assert!(started.elapsed() < Duration::from_secs(10));
        assert_eq!(requests(&server).await, 1);
    }
}

#[tokio::test]
async fn the_last_request_that_is_accepted_is_the_last_one() {
    let (server, forge) = server().await;
    once(&server, used_up(200, 3600).set_body_json(issue(7, &[]))).await;
    assert_eq!(forge.issue(7).await.unwrap().number, 7);
    assert!(limited(&forge).await > Duration::from_secs(3000));
    assert_eq!(requests(&server).await, 1);
}

#[tokio::test]
async fn after_the_reset_all_goes_on() {
    let (server, forge) = server().await;
    once(&server, used_up(200, 1).set_body_json(issue(7, &[]))).await;
    for _ in 0..3 {
        assert_eq!(forge.issue(7).await.unwrap().number, 7);
    }
}

#[tokio::test]
async fn tries_are_bounded_and_nothing_is_made_twice() {
    let (server, forge) = server().await;
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/issues/7"))
        .respond_with(ResponseTemplate::new(502))
        .expect(4)
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .and(path("/repos/acme/widget/issues"))
        .respond_with(ResponseTemplate::new(502))
        .expect(1)
        .mount(&server)
        .await;
    let error = forge.issue(7).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unavailable { .. }));
    let error = forge.create_issue(&NewIssue::default()).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unavailable { .. }));
}

#[tokio::test]
async fn what_a_limit_refused_was_not_made_and_is_made_then() {
    let (server, forge) = server().await;
    let refused = ResponseTemplate::new(403).insert_header("retry-after", "1");
    once(&server, refused).await;
    let made = forge.create_issue(&NewIssue::default()).await.unwrap();
    assert_eq!((made.number, requests(&server).await), (7, 2));
}
