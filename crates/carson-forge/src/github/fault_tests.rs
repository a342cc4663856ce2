//! A forge whose connections are ill.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use secrecy::SecretString;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::GitHubForge;
use super::tests::issue;
use crate::{Forge, ForgeError, NewIssue};

const ONE: Duration = Duration::from_millis(400);
const ALL: Duration = Duration::from_secs(2);

/// What happens to a connection once its request was read.
#[derive(Clone)]
enum Does {
    Answer(String),
    /// Says this and closes.
    BreakOff(&'static str),
    /// A byte now and then, without an end.
    Drip,
    /// Says all it can, without an end.
    Flood,
}

fn fine() -> Does {
    Does::Answer(json_of(&issue(7, &[]).to_string()))
}

fn json_of(body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n";

/// The first requests meet these, and all later ones the last of them; how many came.
async fn forge(plays: Vec<Does>) -> (Forge, Arc<AtomicUsize>) {
    let (base, came) = server(plays).await;
    (hurried(&base, ONE, ALL), came)
}

fn hurried(base: &str, one: Duration, all: Duration) -> Forge {
    let token = SecretString::from("ghp_test");
    let mut forge = GitHubForge::new(base, "acme/widget", token).unwrap();
    forge.client = forge.client.hurried(one, all);
    Forge::of(forge)
}

/// Its address, and how many requests came.
async fn server(plays: Vec<Does>) -> (String, Arc<AtomicUsize>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let came = Arc::new(AtomicUsize::new(0));
    let count = came.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let at = count.fetch_add(1, Ordering::SeqCst).min(plays.len() - 1);
            tokio::spawn(play(stream, plays[at].clone()));
        }
    });
    (base, came)
}

/// An error of its own end is the client's answer to what it is told.
async fn play(mut stream: TcpStream, does: Does) -> std::io::Result<()> {
    let mut asked = Vec::new();
    while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut asked).await? == 0 {
            return Ok(());
        }
    }
    match does {
        Does::Answer(text) => stream.write_all(text.as_bytes()).await,
        Does::BreakOff(text) => stream.write_all(text.as_bytes()).await,
        Does::Drip => {
            stream.write_all(HEAD.as_bytes()).await?;
            loop {
                stream.write_all(b" ").await?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Does::Flood => {
            stream.write_all(HEAD.as_bytes()).await?;
            loop {
                stream.write_all(&[b' '; 65_536]).await?;
            }
        }
    }
}

async fn unavailable(forge: &Forge) -> String {
    match forge.issue(7).await {
        Err(ForgeError::Unavailable { detail }) => detail,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    for half in ["", "HTTP/1.1 200 OK\r\nconten", HEAD] {
        let (forge, came) = forge(vec![Does::BreakOff(half), fine()]).await;
        assert_eq!(forge.issue(7).await.unwrap().number, 7, "{half:?}");
        assert_eq!(came.load(Ordering::SeqCst), 2, "{half:?}");
    }
}

#[tokio::test]
async fn an_answer_that_never_ends_is_given_up_in_time() {
    let (forge, came) = forge(vec![Does::Drip]).await;
    let started = Instant::now();
    let detail = unavailable(&forge).await;
    assert!(detail.starts_with("no answer in time"), "{detail}");
    // The last try begins before the patience ends.
    assert!(started.elapsed() < ALL + 3 * ONE, "{:?}", started.elapsed());
    assert!((2..=4).contains(&came.load(Ordering::SeqCst)));
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_not_kept() {
    let (base, came) = server(vec![Does::Flood]).await;
    let detail = unavailable(&hurried(&base, 20 * ALL, 20 * ALL)).await;
    assert_eq!(detail, "an answer of more than 32 MiB");
    assert_eq!(came.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_is_no_json_is_no_answer() {
    let nothing = "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_owned();
    for text in [
        json_of("{\"number\": 7, \"ti"),
        json_of(""),
        json_of("[]"),
        nothing,
    ] {
        let (forge, _) = forge(vec![Does::Answer(text.clone())]).await;
        let detail = unavailable(&forge).await;
        assert!(
            detail.starts_with("an answer that is none"),
            "{text}: {detail}"
        );
    }
}

#[tokio::test]
async fn the_token_follows_no_redirect() {
    let (elsewhere, asked) = server(vec![fine()]).await;
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        let text = format!(
            "HTTP/1.1 {status}\r\nlocation: {elsewhere}/repos/acme/widget/issues/7\r\ncontent-length: 0\r\n\r\n"
        );
        let (forge, _) = forge(vec![Does::Answer(text)]).await;
        assert!(forge.issue(7).await.is_err(), "{status}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0, "somebody else was asked");
}

#[tokio::test]
async fn an_issue_that_was_transferred_is_gone_and_a_renamed_repository_is_said() {
    let moved = "HTTP/1.1 301 Moved Permanently\r\nlocation: http://127.0.0.1:9/repositories/1/issues/2\r\n\
                 content-length: 0\r\nconnection: close\r\n\r\n";
    let (one, _) = forge(vec![Does::Answer(moved.to_owned()), fine()]).await;
    let error = one.issue(7).await.unwrap_err();
    assert!(matches!(error, ForgeError::NotFound { .. }), "{error}");
    let (all, came) = forge(vec![Does::Answer(moved.to_owned())]).await;
    let error = all.issue(7).await.unwrap_err();
    assert!(matches!(error, ForgeError::Moved { .. }), "{error}");
    assert!(error.hint().contains("slug"));
    assert_eq!(came.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn what_may_have_been_made_is_not_made_again() {
    for half in [Does::BreakOff(""), Does::BreakOff(HEAD), Does::Drip] {
        let (forge, came) = forge(vec![half, fine()]).await;
        let new = NewIssue {
            title: "t".into(),
            body: "b".into(),
            labels: Vec::new(),
        };
        let made = forge.create_issue(&new).await;
        assert!(
            matches!(made, Err(ForgeError::Unavailable { .. })),
            "{made:?}"
        );
        // The second asks who we are, to look for it.
        assert_eq!(came.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn one_malformed_entry_of_a_list_hides_no_other() {
    let mut ill = issue(8, &[]);
    ill["title"] = serde_json::Value::Null;
    let list = serde_json::json!([issue(7, &[]), ill, "no issue at all"]);
    let (forge, _) = forge(vec![Does::Answer(json_of(&list.to_string()))]).await;
    let all = forge.issues(None).await.unwrap();
    assert_eq!(all.found.len(), 1);
    let places: Vec<&str> = all.unread.iter().map(|one| &*one.place).collect();
    assert_eq!(
        places,
        ["repos/acme/widget/issues/8", "repos/acme/widget/issues/?"]
    );
    assert!(all.unread[0].why.contains("null"), "{all:?}");
    // A comment that cannot be read may be a claim: that issue is not worked on.
    let error = forge.comments(7).await.unwrap_err();
    assert!(error.unread().is_some(), "{error}");
}
