use std::process::Command;
use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use carson_core::Clock;
use chrono::TimeDelta;
use serde_json::{Value, json};
use wiremock::matchers::{header, method, path, path_regex};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::super::house::{House, checked};
use super::super::tests::issue;
use crate::{Forge, ForgeError};

/// A key as GitHub hands one out, made by the Node.js that the tests need anyway.
fn key() -> &'static str {
    static KEY: OnceLock<String> = OnceLock::new();
    KEY.get_or_init(|| {
        let make = "console.log(require('crypto').generateKeyPairSync('rsa', {modulusLength: 2048, \
                    privateKeyEncoding: {type: 'pkcs1', format: 'pem'}, \
                    publicKeyEncoding: {type: 'pkcs1', format: 'pem'}}).privateKey)";
        #[expect(
            clippy::disallowed_methods,
            reason = "a test asks a program that it needs"
        )]
        let made = Command::new("node").args(["-e", make]).output();
        let made = made.expect("the tests need Node.js");
        String::from_utf8(made.stdout).unwrap()
    })
}

fn section(server: &MockServer) -> Value {
    json!({"api_base": server.uri(), "app_id": 123, "app_key_file": "app.pem"})
}

/// Hands out `ghs_1`, `ghs_2`, …, each good for so long.
async fn installs(server: &MockServer, good_for: TimeDelta) {
    Mock::given(method("GET"))
        .and(path_regex("^/repos/acme/[a-z]+/installation$"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"id": 77})))
        .mount(server)
        .await;
    let made = std::sync::atomic::AtomicUsize::new(1);
    Mock::given(method("POST"))
        .and(path("/app/installations/77/access_tokens"))
        .respond_with(move |_: &Request| {
            let number = made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let until = Clock::system().now() + good_for;
            let token = json!({"token": format!("ghs_{number}"), "expires_at": until});
            ResponseTemplate::new(201).set_body_json(token)
        })
        .mount(server)
        .await;
}

async fn answers_to(server: &MockServer, token: &str) {
    Mock::given(method("GET"))
        .and(path_regex("/issues/7$"))
        .and(header("authorization", format!("Bearer {token}")))
        .respond_with(ResponseTemplate::new(200).set_body_json(issue(7, &[])))
        .mount(server)
        .await;
}

async fn tokens_made(server: &MockServer) -> Vec<Request> {
    let mut requests = server.received_requests().await.unwrap();
    requests.retain(|request| request.url.path().ends_with("/access_tokens"));
    requests
}

async fn seven(forge: &Forge) -> Result<u64, ForgeError> {
    forge.issue(7).await.map(|issue| issue.number)
}

#[tokio::test]
async fn one_token_serves_all_repositories_of_an_installation_and_the_redactor_knows_it() {
    let server = MockServer::start().await;
    installs(&server, TimeDelta::hours(1)).await;
    answers_to(&server, "ghs_1").await;
    let (house, spec) = (House::new(), checked(section(&server)).unwrap());
    for slug in ["acme/widget", "acme/gadget", "acme/widget"] {
        let forge = house.open(spec.as_ref(), slug, key());
        assert_eq!(seven(&forge).await.unwrap(), 7, "{slug}");
    }
    let made = tokens_made(&server).await;
    assert_eq!(made.len(), 1);
    assert_eq!(*house.heard.secrets.lock().unwrap(), ["ghs_1"]);
    // The statement says who we are, for a few minutes.
    let statement = made[0].headers["authorization"].to_str().unwrap();
    let parts: Vec<&str> = statement
        .strip_prefix("Bearer ")
        .unwrap()
        .split('.')
        .collect();
    let part = |at: usize| URL_SAFE_NO_PAD.decode(parts[at]).unwrap();
    let claims: Value = serde_json::from_slice(&part(1)).unwrap();
    assert_eq!(claims["iss"], "123");
    let (from, until) = (claims["iat"].as_i64(), claims["exp"].as_i64());
    let (from, until) = (from.unwrap(), until.unwrap());
    let now = Clock::system().now().timestamp();
    assert!(from < now && now < until && until - from <= 600, "{claims}");
    assert_eq!(part(2).len(), 256, "signed with a key of 2048 bits");
}

#[tokio::test]
async fn a_token_that_ends_soon_is_renewed_first() {
    let server = MockServer::start().await;
    installs(&server, TimeDelta::minutes(4)).await;
    for token in ["ghs_1", "ghs_2"] {
        answers_to(&server, token).await;
    }
    let spec = checked(section(&server)).unwrap();
    let forge = House::new().open(spec.as_ref(), "acme/widget", key());
    for _ in 0..2 {
        seven(&forge).await.unwrap();
    }
    assert_eq!(tokens_made(&server).await.len(), 2);
}

#[tokio::test]
async fn a_token_that_was_taken_back_is_replaced() {
    let server = MockServer::start().await;
    installs(&server, TimeDelta::hours(1)).await;
    answers_to(&server, "ghs_2").await;
    Mock::given(header("authorization", "Bearer ghs_1"))
        .respond_with(ResponseTemplate::new(401))
        .mount(&server)
        .await;
    let spec = checked(section(&server)).unwrap();
    let forge = House::new().open(spec.as_ref(), "acme/widget", key());
    assert!(matches!(seven(&forge).await, Err(ForgeError::Unauthorized)));
    assert_eq!(seven(&forge).await.unwrap(), 7);
}

#[tokio::test]
async fn an_installation_that_may_not_write_is_told_before_it_fails() {
    for (may, lacking) in [
        (
            json!({"issues": "write", "pull_requests": "read", "contents": "write"}),
            Some("pull_requests"),
        ),
        (
            json!({"issues": "write", "pull_requests": "write", "contents": "write"}),
            None,
        ),
        (json!({}), None),
    ] {
        let server = MockServer::start().await;
        let until = Clock::system().now() + TimeDelta::hours(1);
        let token = json!({"token": "ghs_1", "expires_at": until, "permissions": may});
        let repository = json!({"private": true, "permissions": {"push": false}});
        for (at, body) in [
            ("/repos/acme/widget/installation", json!({"id": 77})),
            ("/app/installations/77/access_tokens", token),
            ("/repos/acme/widget", repository),
        ] {
            Mock::given(path(at))
                .respond_with(ResponseTemplate::new(200).set_body_json(body))
                .mount(&server)
                .await;
        }
        let spec = checked(section(&server)).unwrap();
        let forge = House::new().open(spec.as_ref(), "acme/widget", key());
        match (forge.examine().await, lacking) {
            (Ok(standing), None) => assert_eq!(standing.may_push, None, "{may}"),
            (Err(error), Some(lacking)) => {
                let wanted = format!("lacks the permission {lacking}: write");
                assert!(error.to_string().ends_with(&wanted), "{error}");
            }
            (other, _) => panic!("{may}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn an_app_comments_under_its_own_name() {
    let server = MockServer::start().await;
    let app = json!({"slug": "acme-carson"});
    Mock::given(path("/app"))
        .respond_with(ResponseTemplate::new(200).set_body_json(app))
        .mount(&server)
        .await;
    let spec = checked(section(&server)).unwrap();
    let forge = House::new().open(spec.as_ref(), "acme/widget", key());
    assert_eq!(forge.me().await.unwrap(), "acme-carson[bot]");
}

#[tokio::test]
async fn what_is_wrong_with_an_app_is_said_in_words_of_who_set_it_up() {
    for (status, said) in [
        (401, "it is not the key of the app that app_id names"),
        (404, "the app is not installed where acme/widget is"),
    ] {
        let server = MockServer::start().await;
        Mock::given(method("GET"))
            .respond_with(ResponseTemplate::new(status))
            .mount(&server)
            .await;
        let spec = checked(section(&server)).unwrap();
        let forge = House::new().open(spec.as_ref(), "acme/widget", key());
        let error = seven(&forge).await.unwrap_err();
        assert!(error.to_string().contains(said), "{status}: {error}");
        assert!(error.hint().contains("app_key_file"), "{}", error.hint());
    }
}

#[test]
fn a_key_that_is_none_is_refused_without_repeating_it() {
    let server = "http://127.0.0.1:9";
    let app = json!({"api_base": server, "app_id": 1, "app_key_file": "app.pem"});
    let spec = checked(app).unwrap();
    let body = "c2VjcmV0LXNlY3JldA==";
    let ill = [
        body.to_owned(),
        format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n"),
        format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n"),
    ];
    for ill in ill {
        let house = House::new();
        let error = house
            .try_open(spec.as_ref(), "acme/widget", &ill)
            .unwrap_err();
        assert!(matches!(error, ForgeError::AppKey { .. }), "{error}");
        let all = format!("{error} {error:?}");
        assert!(!all.contains(body), "{all}");
    }
}

#[test]
fn an_app_and_a_token_are_two_ways_and_half_an_app_is_none() {
    let problem = |section: Value| checked(section).unwrap_err().join("; ");
    let both = json!({"app_id": 1, "app_key_file": "a.pem", "token_file": "t"});
    assert_eq!(problem(both), ": it signs in by a token and as an app");
    for half in [
        json!({"app_id": 1}),
        json!({"app_key_file": "a.pem"}),
        json!({"app_installation": 5}),
    ] {
        assert_eq!(
            problem(half),
            ": an app needs app_id and app_key_file, both of them"
        );
    }
    let whole = json!({"app_id": 1, "app_key_file": "a.pem", "app_installation": 5});
    let spec = checked(whole).unwrap();
    let file = spec.token().unwrap().file().unwrap().to_owned();
    assert_eq!(file, std::path::Path::new("/home/a.pem"));
}
