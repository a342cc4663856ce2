use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex};

use secrecy::SecretString;
use serde_json::json;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::*;
use crate::{Claim, Forge};

const TOKEN: &str = "ghp_0nlyForTheServer";

async fn forge(answer: ResponseTemplate) -> (MockServer, Forge) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let forge = GitHubForge::new(&server.uri(), "acme/widget", TOKEN.to_owned().into()).unwrap();
    (server, Forge::of(forge))
}

/// All that can be printed of an error.
fn all_of(error: &ForgeError) -> String {
    let mut all = format!("{error} {error:?} {error:#?} {}", error.hint());
    let mut cause = error.source();
    while let Some(error) = cause {
        all.push_str(&format!(" {error} {error:?}"));
        cause = error.source();
    }
    all
}

fn claim() -> Claim {
    Claim {
        firing: carson_core::FiringId::new(),
        role: "r".parse().unwrap(),
        host: "h".parse().unwrap(),
        at: "2026-01-01T00:00:00Z".parse().unwrap(),
    }
}

#[tokio::test]
async fn a_token_that_is_echoed_is_not_repeated() {
    let echo = format!("bad header: Authorization: Bearer {TOKEN}");
    let json = json!({"message": echo, "errors": [{"message": echo}, echo]});
    for status in [200, 400, 401, 403, 404, 409, 422, 429, 500] {
        for answer in [
            ResponseTemplate::new(status).set_body_json(&json),
            ResponseTemplate::new(status).set_body_string(&echo),
        ] {
            let (_server, forge) = forge(answer.insert_header("retry-after", "900")).await;
            let new = NewPull::default();
            for error in [
                forge.create_issue(&NewIssue::default()).await.unwrap_err(),
                forge.create_pull(&new).await.unwrap_err(),
                forge.claim(1, "carson:ready", &claim()).await.unwrap_err(),
            ] {
                let all = all_of(&error);
                assert!(!all.contains(TOKEN), "{status}: {all}");
            }
            assert!(!format!("{forge:?}").contains(TOKEN));
        }
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_token_is_in_no_log_of_ours_or_of_the_libraries() {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .init();
    let echo = format!("no {TOKEN}");
    let (_server, forge) = forge(ResponseTemplate::new(403).set_body_string(echo)).await;
    forge.issue(1).await.unwrap_err();
    forge.claim(1, "carson:ready", &claim()).await.unwrap_err();
    let log = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(
        log.contains("connecting to"),
        "the libraries did log: {log}"
    );
    assert!(!log.contains(TOKEN));
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_without_repeating_it() {
    let newline = SecretString::from(format!("{TOKEN}\n"));
    let error = GitHubForge::new("https://api.example", "a/b", newline).unwrap_err();
    assert!(!all_of(&error).contains(TOKEN));
    assert!(error.to_string().contains("newline"), "{error}");

    for base in [
        format!("https://carson:{TOKEN}@api.example"),
        format!("https://{TOKEN}@api.example"),
        format!("{TOKEN}@api.example"),
    ] {
        let error = GitHubForge::new(&base, "a/b", SecretString::from("t")).unwrap_err();
        assert!(!all_of(&error).contains(TOKEN), "{error}");
    }
}

#[tokio::test]
async fn nobody_listens() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let base = format!("http://127.0.0.1:{port}");
    let forge = GitHubForge::new(&base, "a/b", TOKEN.to_owned().into()).unwrap();
    let error = forge.create_issue(&NewIssue::default()).await.unwrap_err();
    let all = all_of(&error);
    assert!(
        all.contains("no connection") && all.contains("refused"),
        "{all}"
    );
    assert!(!all.contains(TOKEN));
}

#[tokio::test]
async fn the_token_follows_no_link_to_another_host() {
    let (other, _) = forge(ResponseTemplate::new(200).set_body_json(json!([]))).await;
    let link = format!(
        "<{}/repos/acme/widget/issues?page=2>; rel=\"next\"",
        other.uri()
    );
    let answer = ResponseTemplate::new(200)
        .set_body_json(json!([]))
        .insert_header("link", link.as_str());
    let (_server, forge) = forge(answer).await;
    let error = forge.issues(None).await.unwrap_err().to_string();
    assert!(
        error.contains("another host"),
        "half a list is none: {error}"
    );
    assert!(other.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_list_without_an_end_has_one() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = MockServer::start().await;
    let link = format!("<{}/next>; rel=\"next\"", server.uri());
    let answer = ResponseTemplate::new(200)
        .set_body_json(json!([]))
        .insert_header("link", link.as_str());
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let forge = GitHubForge::new(&server.uri(), "a/b", TOKEN.to_owned().into()).unwrap();
    let error = forge.issues(None).await.unwrap_err().to_string();
    assert!(error.contains("more than 50 pages"), "{error}");
    assert_eq!(server.received_requests().await.unwrap().len(), 50);
}
