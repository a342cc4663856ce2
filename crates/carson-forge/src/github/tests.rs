use serde_json::{Value, json};
use wiremock::matchers::{body_partial_json, header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::*;
use crate::{Claim, Claimed, Forge};

async fn server() -> (MockServer, Forge) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = MockServer::start().await;
    let token = SecretString::from("ghp_test");
    let forge = GitHubForge::new(&server.uri(), "acme/widget", token).unwrap();
    (server, Forge::GitHub(forge))
}

fn issue(number: u64, labels: &[&str]) -> Value {
    let labels: Vec<Value> = labels.iter().map(|name| json!({"name": name})).collect();
    json!({
        "number": number, "title": "t", "body": null, "user": {"login": "ann"}, "state": "open",
        "labels": labels, "created_at": "2026-01-01T00:00:00Z", "html_url": "https://x/1",
    })
}

fn pull(number: u64, draft: bool) -> Value {
    json!({
        "number": number, "node_id": "PR_1", "title": "t", "body": "b", "draft": draft,
        "head": {"ref": "carson/r/1"}, "base": {"ref": "main"}, "state": "open", "merged_at": null,
        "labels": [], "html_url": "https://x/2",
    })
}

#[tokio::test]
async fn lists_follow_pages_and_leave_pull_requests_out() {
    let (server, forge) = server().await;
    let next = format!(
        "<{}/repos/acme/widget/issues?page=2>; rel=\"next\"",
        server.uri()
    );
    let mut second = issue(2, &["carson:ready"]);
    second["pull_request"] = json!({});
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/issues"))
        .and(query_param("page", "2"))
        .respond_with(
            ResponseTemplate::new(200)
                .set_body_json(json!([second, issue(3, &["carson:ready", "needs:human"])])),
        )
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/issues"))
        .and(header("authorization", "Bearer ghp_test"))
        .and(query_param("labels", "carson:ready"))
        .respond_with(
            ResponseTemplate::new(200)
                .insert_header("link", next.as_str())
                .set_body_json(json!([issue(1, &["carson:ready"])])),
        )
        .mount(&server)
        .await;
    let ready = forge.ready_issues("carson:ready").await.unwrap();
    assert_eq!(
        ready.iter().map(|issue| issue.number).collect::<Vec<_>>(),
        [1]
    );
    assert_eq!(forge.issues(Some("carson:ready")).await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_earlier_claim_wins() {
    let (server, forge) = server().await;
    let claim = |id: &str| Claim {
        firing: id.parse().unwrap(),
        role: "r".parse().unwrap(),
        host: "h".parse().unwrap(),
        at: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    let (first, second) = (
        "01890000-0000-7000-8000-000000000001",
        "01890000-0000-7000-8000-000000000002",
    );
    let comment = |id: u64, firing: &str| {
        json!({
            "id": id, "user": null, "created_at": "2026-01-01T00:00:00Z",
            "body": format!("<!-- carson:claim firing={firing} role=r host=h at=2026-01-01T00:00:00Z -->\nx"),
        })
    };
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/issues/1"))
        .respond_with(ResponseTemplate::new(200).set_body_json(issue(1, &["carson:ready"])))
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/issues/1/comments"))
        .respond_with(
            ResponseTemplate::new(200)
                .set_body_json(json!([comment(2, second), comment(1, first)])),
        )
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .and(path("/repos/acme/widget/issues/1/comments"))
        .respond_with(ResponseTemplate::new(201).set_body_json(comment(3, second)))
        .expect(3)
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .and(path("/repos/acme/widget/issues/1/labels"))
        .and(body_partial_json(json!({"labels": ["carson:in-flight"]})))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!([])))
        .expect(1)
        .mount(&server)
        .await;
    Mock::given(method("DELETE"))
        .and(path("/repos/acme/widget/issues/1/labels/carson:ready"))
        .respond_with(ResponseTemplate::new(404))
        .expect(1)
        .mount(&server)
        .await;
    let lost = forge
        .claim(1, "carson:ready", &claim(second))
        .await
        .unwrap();
    assert_eq!(
        lost,
        Claimed::Lost {
            by: first.parse().unwrap()
        }
    );
    assert_eq!(
        forge.claim(1, "carson:ready", &claim(first)).await.unwrap(),
        Claimed::Won
    );
}

#[tokio::test]
async fn a_server_error_passes_and_a_refusal_is_named() {
    let (server, forge) = server().await;
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/issues/7"))
        .respond_with(ResponseTemplate::new(502))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/issues/7"))
        .respond_with(ResponseTemplate::new(200).set_body_json(issue(7, &[])))
        .mount(&server)
        .await;
    assert_eq!(forge.issue(7).await.unwrap().number, 7);
    for (number, status) in [(8, 401), (9, 403), (10, 404)] {
        Mock::given(method("GET"))
            .and(path(format!("/repos/acme/widget/issues/{number}")))
            .respond_with(ResponseTemplate::new(status).set_body_json(json!({"message": "no"})))
            .expect(1)
            .mount(&server)
            .await;
    }
    assert!(matches!(
        forge.issue(8).await,
        Err(ForgeError::Unauthorized)
    ));
    assert!(matches!(
        forge.issue(9).await,
        Err(ForgeError::Forbidden { .. })
    ));
    assert!(matches!(
        forge.issue(10).await,
        Err(ForgeError::NotFound { .. })
    ));
}

#[tokio::test]
async fn a_secondary_limit_is_waited_for() {
    let (server, forge) = server().await;
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/issues/7"))
        .respond_with(
            ResponseTemplate::new(403)
                .insert_header("retry-after", "1")
                .set_body_json(json!({"message": "You have exceeded a secondary rate limit"})),
        )
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/issues/7"))
        .respond_with(ResponseTemplate::new(200).set_body_json(issue(7, &[])))
        .mount(&server)
        .await;
    assert_eq!(forge.issue(7).await.unwrap().number, 7);
}

#[tokio::test]
async fn an_open_draft_of_the_branch_becomes_ready() {
    let (server, forge) = server().await;
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/pulls"))
        .and(query_param("head", "acme:carson/r/1"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!([pull(5, true)])))
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .and(path("/graphql"))
        .and(body_partial_json(json!({"variables": {"id": "PR_1"}})))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"data": {}})))
        .expect(1)
        .mount(&server)
        .await;
    Mock::given(method("PATCH"))
        .and(path("/repos/acme/widget/pulls/5"))
        .respond_with(ResponseTemplate::new(200).set_body_json(pull(5, true)))
        .expect(1)
        .mount(&server)
        .await;
    let new = NewPull {
        head: "carson/r/1".into(),
        base: "main".into(),
        ..NewPull::default()
    };
    let ready = forge.create_pull(&new).await.unwrap();
    assert_eq!((ready.number, ready.draft), (5, false));
}

#[tokio::test]
async fn a_new_branch_gets_a_draft() {
    let (server, forge) = server().await;
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/pulls"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!([])))
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .and(path("/repos/acme/widget/pulls"))
        .and(body_partial_json(
            json!({"draft": true, "head": "carson/r/1"}),
        ))
        .respond_with(ResponseTemplate::new(201).set_body_json(pull(6, true)))
        .expect(1)
        .mount(&server)
        .await;
    let new = NewPull {
        head: "carson/r/1".into(),
        draft: true,
        ..NewPull::default()
    };
    assert_eq!(forge.create_pull(&new).await.unwrap().number, 6);
}
