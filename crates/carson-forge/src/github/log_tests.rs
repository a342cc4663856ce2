//! Logs lie elsewhere, and are long.

use serde_json::json;
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::tests::server;
use crate::{CheckRun, Conclusion, Forge, ForgeError, LOG_TAIL};

const LOGS: &str = "/repos/acme/widget/actions/jobs/31/logs";

/// The check of this app.
async fn check(server: &MockServer, forge: &Forge, app: &str) -> CheckRun {
    let run = json!({
        "id": 31, "name": "build", "conclusion": "startup_failure", "html_url": "https://x/31",
        "started_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T00:01:00Z",
        "app": {"slug": app},
    });
    let statuses = json!({"statuses": []});
    for (what, body) in [
        ("check-runs", json!({"total_count": 1, "check_runs": [run]})),
        ("status", statuses),
    ] {
        Mock::given(path(format!("/repos/acme/widget/commits/abc/{what}")))
            .respond_with(ResponseTemplate::new(200).set_body_json(body))
            .mount(server)
            .await;
    }
    let mut checks = forge.checks("abc").await.unwrap();
    assert_eq!(checks[0].conclusion, Some(Conclusion::Failed));
    checks.remove(0)
}

async fn at_logs(server: &MockServer, answer: ResponseTemplate) {
    let logs = Mock::given(method("GET"))
        .and(path(LOGS))
        .and(header("authorization", "Bearer ghp_test"));
    logs.respond_with(answer).mount(server).await;
}

#[tokio::test]
async fn the_end_of_a_log_is_read_where_it_lies_without_our_token() {
    let (server, forge) = server().await;
    let check = check(&server, &forge, "github-actions").await;
    let elsewhere = MockServer::start().await;
    let place = format!("{}/blob?sig=1", elsewhere.uri());
    at_logs(
        &server,
        ResponseTemplate::new(302).insert_header("location", place.as_str()),
    )
    .await;
    let log = "a line\n".repeat(LOG_TAIL) + "error: the end\n";
    Mock::given(path("/blob"))
        .respond_with(ResponseTemplate::new(200).set_body_string(&log))
        .mount(&elsewhere)
        .await;
    let end = forge.log_tail(&check).await.unwrap().unwrap();
    assert!(end.len() <= LOG_TAIL, "{}", end.len());
    assert!(end.starts_with("a line\n") && end.ends_with("error: the end\n"));
    let asked = elsewhere.received_requests().await.unwrap();
    assert_eq!(asked.len(), 1);
    assert!(!asked[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_log_leads_on_once_and_only_to_the_web() {
    for place in ["file:///etc/passwd", "gopher://x/", "http://[", "/again"] {
        let (server, forge) = server().await;
        let check = check(&server, &forge, "github-actions").await;
        let answer = ResponseTemplate::new(302).insert_header("location", place);
        at_logs(&server, answer).await;
        let onwards = ResponseTemplate::new(302).insert_header("location", "/again");
        Mock::given(path("/again"))
            .respond_with(onwards)
            .mount(&server)
            .await;
        let error = forge.log_tail(&check).await.unwrap_err();
        assert!(
            matches!(error, ForgeError::Unavailable { .. }),
            "{place}: {error}"
        );
    }
}

#[tokio::test]
async fn a_log_that_is_gone_or_another_app_s_is_none() {
    let (server, forge) = server().await;
    let job = check(&server, &forge, "github-actions").await;
    at_logs(&server, ResponseTemplate::new(410)).await;
    assert_eq!(forge.log_tail(&job).await.unwrap(), None);
    let (server, forge) = super::tests::server().await;
    let other = check(&server, &forge, "some-ci").await;
    assert_eq!(forge.log_tail(&other).await.unwrap(), None);
    let asked = server.received_requests().await.unwrap();
    assert_eq!(asked.len(), 2, "nothing was asked for");
}
