use secrecy::SecretString;
use serde_json::{Value, json};
use wiremock::matchers::{body_partial_json, header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::*;
use crate::{Fate, Forge, Merge, PullState};

pub(super) async fn server() -> (MockServer, Forge) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = MockServer::start().await;
    let token = SecretString::from("ghp_test");
    let forge = GitHubForge::new(&server.uri(), "acme/widget", token).unwrap();
    (server, Forge::of(forge))
}

pub(super) fn issue(number: u64, labels: &[&str]) -> Value {
    let labels: Vec<Value> = labels.iter().map(|name| json!({"name": name})).collect();
    json!({
        "number": number, "title": "t", "body": null, "user": {"login": "ann"}, "state": "open",
        "labels": labels, "created_at": "2026-01-01T00:00:00Z", "html_url": "https://x/1",
    })
}

fn pull(number: u64, draft: bool) -> Value {
    json!({
        "number": number, "node_id": "PR_1", "title": "t", "body": "b", "draft": draft,
        "head": {"ref": "carson/r/1", "repo": {"id": 1}}, "base": {"ref": "main", "repo": {"id": 1}},
        "state": "open", "merged_at": null, "labels": [], "html_url": "https://x/2",
        "user": {"login": "carson-bot"}, "created_at": "2026-01-01T00:00:00Z",
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
    let all = forge.issues(Some("carson:ready")).await.unwrap();
    assert_eq!(all.found.len(), 2);
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

fn new_pull() -> NewPull {
    NewPull {
        title: "t".into(),
        head: "carson/r/1".into(),
        base: "main".into(),
        ..NewPull::default()
    }
}

/// The branch has no pull request at the first look and this one at the second.
async fn pull_appears(server: &MockServer, pull: Value) {
    for (list, times) in [(json!([]), 1), (json!([pull]), 9)] {
        Mock::given(method("GET"))
            .and(path("/repos/acme/widget/pulls"))
            .and(query_param("head", "acme:carson/r/1"))
            .respond_with(ResponseTemplate::new(200).set_body_json(list))
            .up_to_n_times(times)
            .mount(server)
            .await;
    }
}

async fn posting_answers(server: &MockServer, status: u16, why: &str) {
    let body = json!({"message": "Validation Failed", "errors": [{"message": why}]});
    Mock::given(method("POST"))
        .and(path("/repos/acme/widget/pulls"))
        .respond_with(ResponseTemplate::new(status).set_body_json(body))
        .expect(1)
        .mount(server)
        .await;
}

#[tokio::test]
async fn a_pull_request_that_appeared_meanwhile_is_the_one() {
    for (status, why) in [
        (422, "A pull request already exists for acme:carson/r/1."),
        // Ours, and the answer was lost.
        (502, "Bad Gateway"),
    ] {
        let (server, forge) = server().await;
        pull_appears(&server, pull(5, false)).await;
        posting_answers(&server, status, why).await;
        Mock::given(method("PATCH"))
            .and(path("/repos/acme/widget/pulls/5"))
            .and(body_partial_json(json!({"title": "t"})))
            .respond_with(ResponseTemplate::new(200).set_body_json(pull(5, false)))
            .expect(1)
            .mount(&server)
            .await;
        assert_eq!(forge.create_pull(&new_pull()).await.unwrap().number, 5);
    }
}

#[tokio::test]
async fn a_refusal_for_another_reason_says_which() {
    let (server, forge) = server().await;
    let mut closed = pull(5, false);
    closed["state"] = json!("closed");
    pull_appears(&server, closed).await;
    posting_answers(&server, 422, "No commits between main and carson/r/1").await;
    let error = forge
        .create_pull(&new_pull())
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("No commits between"), "{error}");
}

#[tokio::test]
async fn a_pull_request_is_merged_once_and_closed() {
    let (server, forge) = server().await;
    let at = |verb: &'static str, rest: &str| {
        let rest = format!("/repos/acme/widget/pulls/{rest}");
        Mock::given(method(verb)).and(path(rest))
    };
    let refused = json!({"message": "Pull Request is not mergeable"});
    let refused = ResponseTemplate::new(405).set_body_json(refused);
    for number in [5, 6] {
        at("PUT", &format!("{number}/merge"))
            .respond_with(refused.clone())
            .mount(&server)
            .await;
    }
    // The first try was carried out, and its answer was lost.
    let mut merged = pull(5, false);
    merged["state"] = "closed".into();
    merged["merged_at"] = "2026-01-01T00:00:00Z".into();
    for one in [merged, pull(6, false)] {
        let number = one["number"].to_string();
        at("GET", &number)
            .respond_with(ResponseTemplate::new(200).set_body_json(one))
            .mount(&server)
            .await;
    }
    forge.merge_pull(5, &Merge::default()).await.unwrap();
    let error = forge
        .merge_pull(6, &Merge::default())
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("not mergeable"), "{error}");
    at("PATCH", "6")
        .and(body_partial_json(json!({"state": "closed"})))
        .respond_with(ResponseTemplate::new(200).set_body_json(pull(6, false)))
        .expect(1)
        .mount(&server)
        .await;
    forge.close_pull(6).await.unwrap();
    assert!(forge.holds_branches());
}

#[tokio::test]
async fn a_pull_request_says_who_opened_it_and_from_where() {
    let (server, forge) = server().await;
    for (number, repo, fork) in [
        (5, json!({"id": 1}), false),
        (6, json!({"id": 2}), true),
        // The fork was deleted.
        (7, Value::Null, true),
    ] {
        let mut raw = pull(number, false);
        raw["head"]["repo"] = repo;
        if fork {
            raw["user"] = Value::Null;
        }
        Mock::given(path(format!("/repos/acme/widget/pulls/{number}")))
            .respond_with(ResponseTemplate::new(200).set_body_json(raw))
            .mount(&server)
            .await;
        let read = forge.pull(number).await.unwrap();
        assert_eq!(read.from_fork, fork, "{number}");
        let author = if fork { "ghost" } else { "carson-bot" };
        assert_eq!(read.author, author);
        assert_eq!(read.opened_at.to_rfc3339(), "2026-01-01T00:00:00+00:00");
    }
}

#[tokio::test]
async fn what_became_of_a_pull_request_is_one_question() {
    let (server, forge) = server().await;
    let (tip, trial) = ("1".repeat(40), "2".repeat(40));
    let told = |number: u64, state: &str, merged: Option<&str>| {
        let closed = (state == "closed").then_some("2026-01-03T00:00:00Z");
        let mut one = pull(number, false);
        one["head"]["sha"] = json!(tip);
        one["state"] = json!(state);
        one["created_at"] = json!("2026-01-01T00:00:00Z");
        one["closed_at"] = json!(closed);
        one["merged_at"] = json!(merged);
        // Of one that is open, GitHub names the commit by which it tries whether it can be merged.
        one["merge_commit_sha"] = json!(trial);
        one
    };
    let merged = Some("2026-01-02T00:00:00Z");
    for one in [
        told(5, "closed", merged),
        told(6, "closed", None),
        told(7, "open", None),
    ] {
        let at = format!("/repos/acme/widget/pulls/{}", one["number"]);
        Mock::given(method("GET"))
            .and(path(at))
            .respond_with(ResponseTemplate::new(200).set_body_json(one))
            .expect(1)
            .mount(&server)
            .await;
    }
    let fate = |state, ended_at: Option<&str>, landed: Option<&str>| Fate {
        state,
        head: "carson/r/1".into(),
        base: "main".into(),
        opened_at: "2026-01-01T00:00:00Z".parse().unwrap(),
        ended_at: ended_at.map(|at| at.parse().unwrap()),
        offered: Some(tip.clone()),
        landed: landed.map(str::to_owned),
    };
    let closed = Some("2026-01-03T00:00:00Z");
    for (number, expected) in [
        (5, fate(PullState::Merged, merged, Some(&trial))),
        (6, fate(PullState::Closed, closed, None)),
        (7, fate(PullState::Open, None, None)),
    ] {
        assert_eq!(forge.fate(number).await.unwrap(), expected);
    }
    assert!(forge.fate(8).await.unwrap_err().is_of_one());
}
