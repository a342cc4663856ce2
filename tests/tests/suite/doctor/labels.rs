//! The labels of the fleet, where they have to be made.

use carson_tests::judge::sound;
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{github_answer, with_github};

#[tokio::test(flavor = "multi_thread")]
async fn what_a_repository_lacks_is_said_and_made() {
    let server = MockServer::start().await;
    let listed = || Mock::given(method("GET")).and(path("/repos/acme/hub/labels"));
    let there = json!([{"name": "Carson:In-Flight"}, {"name": "bug"}, {"name": "p0"}]);
    listed()
        .respond_with(github_answer("repo", "4999", there))
        .mount(&server)
        .await;
    let made = ResponseTemplate::new(201).set_body_json(json!({}));
    Mock::given(method("POST"))
        .and(path("/repos/acme/hub/labels"))
        .respond_with(made)
        .mount(&server)
        .await;
    let fleet = sound();
    with_github(&fleet, &server);
    let role = fleet.home().join("roles/hand/role.toml");
    let text = std::fs::read_to_string(&role).unwrap();
    let text = text.replace("\"widget\"", "\"hub\"");
    std::fs::write(role, text).unwrap();

    let checked = fleet.carson(&["labels", "check"]);
    assert_eq!(checked.code, Some(1), "{checked:#?}");
    for part in [
        "hub",
        "for:hand",
        "needs:human",
        "p3",
        "carson labels bootstrap",
    ] {
        assert!(checked.stdout.contains(part), "{part}: {}", checked.stdout);
    }
    // What is there under other capitals is there.
    assert!(!checked.stdout.contains("in-flight"), "{}", checked.stdout);
    let widget = "an issue may carry any word here";
    assert!(checked.stdout.contains(widget), "{}", checked.stdout);

    let made = fleet.ok(&["labels", "bootstrap", "--repo", "hub", "--json"]);
    let names: Vec<&str> = made[0]["made"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(made[0]["missing"], json!([]), "{made:#}");
    let requests = server.received_requests().await.unwrap();
    let posted = requests.iter().filter(|one| one.method.as_str() == "POST");
    let posted: Vec<Value> = posted.map(|one| one.body_json().unwrap()).collect();
    let sent: Vec<&str> = posted
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(sent, names);
    assert!(
        names.contains(&"for:hand") && !names.contains(&"p0"),
        "{names:?}"
    );
    let says = |one: &Value| {
        one["description"]
            .as_str()
            .is_some_and(|says| !says.is_empty())
    };
    assert!(posted.iter().all(says), "{posted:#?}");
}
