//! One token has one limit, and every firing is a process of its own: what one of them hears from the
//! forge holds for the others.

use carson_tests::fleet::TestFleet;
use carson_tests::judge::sound;
use serde_json::{Value, json};
use wiremock::matchers::{any, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{github_answer, with_github};

/// A fleet whose role works on GitHub.
fn on_github(server: &MockServer) -> TestFleet {
    let fleet = sound();
    with_github(&fleet, server);
    let role = fleet.home().join("roles/hand/role.toml");
    let text = std::fs::read_to_string(&role).unwrap();
    std::fs::write(role, text.replace("\"widget\"", "\"hub\"")).unwrap();
    fleet
}

async fn asked(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_stops_every_firing_until_it_is_over_or_lifted() {
    let server = MockServer::start().await;
    let said = json!({"message": "You have exceeded a secondary rate limit."});
    let limited = ResponseTemplate::new(403).insert_header("retry-after", "1800");
    Mock::given(any())
        .respond_with(limited.set_body_json(said))
        .mount(&server)
        .await;
    let fleet = on_github(&server);
    let met = fleet.carson(&["fire", "hand"]);
    assert_eq!(met.code, Some(16), "{}", met.stderr);
    assert_eq!(asked(&server).await, 1);

    // The next firing asks nobody, and its row says what it waits for.
    let row = fleet.fire("hand").json();
    assert_eq!(row["skip"], "forge-limit", "{row:#}");
    let why = row["reason"].as_str().unwrap();
    assert!(why.contains("github accepts no requests until"), "{why}");
    assert!(why.ends_with("secondary rate limit."), "{why}");
    // So does who asks by hand.
    assert_ne!(fleet.carson(&["pr", "list", "--repo", "hub"]).code, Some(0));
    assert_eq!(asked(&server).await, 1, "nobody asked again");

    let stops = fleet.ok(&["why", "hand", "--json"])["stops"].clone();
    let stops = stops.as_array().unwrap();
    let stop = stops.iter().find(|stop| stop["stop"] == "forge-limit");
    let change = stop.unwrap()["change"].as_str().unwrap();
    assert!(change.contains("block clear forge-github"), "{change}");

    server.reset().await;
    Mock::given(any())
        .respond_with(github_answer("repo", "4999", json!([])))
        .mount(&server)
        .await;
    let lifted = fleet.ok(&["block", "clear", "forge-github", "--json"]);
    assert_eq!(lifted["cleared"], true, "{lifted:#}");
    assert_eq!(fleet.fire("hand").json()["outcome"], "SILENT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_has_not_changed_costs_no_request_of_the_limit() {
    let server = MockServer::start().await;
    let queue = Mock::given(method("GET")).and(path("/repos/acme/hub/issues"));
    let known = ResponseTemplate::new(304).insert_header("x-ratelimit-remaining", "4998");
    queue
        .and(header("if-none-match", "W/\"7\""))
        .respond_with(known)
        .with_priority(1)
        .expect(2)
        .mount(&server)
        .await;
    let fresh = github_answer("repo", "4999", Value::Array(Vec::new()));
    Mock::given(any())
        .respond_with(fresh.insert_header("etag", "W/\"7\""))
        .with_priority(2)
        .expect(1)
        .mount(&server)
        .await;
    let fleet = on_github(&server);
    for _ in 0..3 {
        assert_eq!(fleet.fire("hand").json()["outcome"], "SILENT");
    }
}
