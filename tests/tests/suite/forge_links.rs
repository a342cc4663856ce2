//! What GitHub itself links holds an issue as a line of its text does.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use carson_tests::fleet::TestFleet;
use carson_tests::judge::sound;
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// The fleet's repository is one on GitHub.
fn on_github(fleet: &TestFleet, server: &MockServer) {
    let token = fleet.home().join("github.token");
    fs::write(&token, "ghp_not-a-real-one\n").unwrap();
    fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let text = text.replacen(
        "[repos.widget]\n",
        "[repos.widget]\nforge = \"github\"\nslug = \"acme/widget\"\n",
        1,
    );
    let github = format!(
        "\n[github]\napi_base = {:?}\ntoken_file = \"github.token\"\n",
        server.uri()
    );
    fs::write(&settings, text + &github).unwrap();
}

fn issue(number: u64, body: &str, open_blockers: u64) -> Value {
    json!({
        "number": number, "title": "t", "body": body, "user": {"login": "ann"}, "state": "open",
        "author_association": "OWNER", "labels": [{"name": "for:hand"}],
        "created_at": "2026-01-01T00:00:00Z", "html_url": "https://x/1",
        "issue_dependencies_summary": {
            "blocked_by": open_blockers, "blocking": 0, "total_blocked_by": 2, "total_blocking": 0,
        },
    })
}

async fn answers(server: &MockServer, at: &str, body: Value, times: u64) {
    Mock::given(method("GET"))
        .and(path(at))
        .respond_with(ResponseTemplate::new(200).set_body_json(body))
        .expect(times..)
        .mount(server)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_github_says_that_an_issue_is_blocked_by_holds_it() {
    let server = MockServer::start().await;
    let issues = json!([
        issue(1, "", 1),
        issue(2, "", 0),
        issue(3, "Depends on: #1", 0),
        // In a ring with 5, which only its text names: neither waits.
        issue(4, "", 1),
        issue(5, "Blocked by: #4", 0),
        issue(6, "", 1),
    ]);
    let link = |repo: &str, number: u64, state: &str| {
        let url = format!("{}/repos/{repo}", server.uri());
        json!({"number": number, "state": state, "repository_url": url})
    };
    let below = "/repos/acme/widget/issues";
    answers(&server, below, issues, 1).await;
    answers(&server, &format!("{below}/1"), issue(1, "", 1), 1).await;
    answers(&server, "/user", json!({"login": "carson-bot"}), 0).await;
    answers(&server, "/repos/acme/widget/pulls", json!([]), 0).await;
    let blocked = |number: u64| format!("{below}/{number}/dependencies/blocked_by");
    let links = json!([
        link("acme/widget", 2, "closed"),
        link("other/gears", 7, "open")
    ]);
    answers(&server, &blocked(1), links, 1).await;
    let links = json!([link("acme/widget", 5, "open")]);
    answers(&server, &blocked(4), links, 1).await;
    Mock::given(path(blocked(6)))
        .respond_with(ResponseTemplate::new(403).set_body_json(json!({"message": "no"})))
        .mount(&server)
        .await;
    let fleet = sound();
    on_github(&fleet, &server);

    let why = fleet.ok(&["why", "hand", "--json"]);
    let stops = why["stops"].as_array().unwrap().iter();
    let held: Vec<&str> = stops
        .filter(|stop| stop["stop"] == "held-issue")
        .map(|stop| stop["why"].as_str().unwrap())
        .collect();
    assert_eq!(
        held,
        [
            "#1 of widget: it waits for other/gears#7, which is open",
            "#3 of widget: it waits for #1, which is open",
            "#6 of widget: it waits for what its forge links it with, which cannot be read: the \
             token may not do this: no",
        ]
    );
    let asked = server.received_requests().await.unwrap();
    let of_links = |number: u64| {
        let path = blocked(number);
        asked.iter().filter(|one| one.url.path() == path).count()
    };
    let counts: Vec<usize> = (1..=6).map(of_links).collect();
    assert_eq!(
        counts,
        [1, 0, 0, 1, 0, 1],
        "each is asked for once, and only where there are some"
    );
}
