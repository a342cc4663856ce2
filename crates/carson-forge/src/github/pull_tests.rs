//! What a pull request has.

use serde_json::json;
use wiremock::matchers::{method, path};
use wiremock::{Mock, ResponseTemplate};

use super::tests::server;
use crate::Committed;

#[tokio::test]
async fn the_commits_of_a_pull_request_say_when_they_were_made() {
    let (server, forge) = server().await;
    let at = "2026-01-01T01:00:00Z";
    let commits = json!([
        {"sha": "a1", "commit": {"message": "One", "committer": {"name": "ann", "date": at}}},
        {"sha": "b2", "commit": {"message": "Two", "committer": null}, "author": null},
    ]);
    Mock::given(method("GET"))
        .and(path("/repos/acme/widget/pulls/5/commits"))
        .respond_with(ResponseTemplate::new(200).set_body_json(commits))
        .mount(&server)
        .await;
    let committed = |sha: &str, at: &str| Committed {
        sha: sha.to_owned(),
        at: at.parse().unwrap(),
    };
    let wanted = [committed("a1", at), committed("b2", "1970-01-01T00:00:00Z")];
    assert_eq!(forge.commits(5).await.unwrap(), wanted);
}
