//! What a session says, while it does.

use std::io::Write;
use std::time::Duration;

use carson_core::Outcome;
use carson_core::breaker::Thresholds;
use carson_store::Ending;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::scene::{HOSTILE, Scene, story};

struct Listener {
    stream: TcpStream,
    heard: String,
}

impl Listener {
    async fn at(scene: &Scene, cookie: &str, path: &str, more: &str) -> Self {
        let mut stream = TcpStream::connect(scene.at).await.unwrap();
        let text = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\n{more}\r\n",
            scene.at
        );
        stream.write_all(text.as_bytes()).await.unwrap();
        Self {
            stream,
            heard: String::new(),
        }
    }

    async fn until(&mut self, words: &str) {
        let wait = async {
            while !self.heard.contains(words) {
                let mut bytes = [0; 4096];
                let read = self.stream.read(&mut bytes).await.unwrap();
                assert!(read > 0, "it ended before {words:?}: {}", self.heard);
                self.heard
                    .push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        };
        let waited = timeout(Duration::from_secs(20), wait).await;
        assert!(waited.is_ok(), "no {words:?}: {}", self.heard);
    }
}

#[tokio::test]
async fn what_is_said_comes_as_it_is_said_and_ends_with_the_firing() {
    let scene = Scene::empty().await;
    let story = story(&scene.home).await;
    let signed = scene.signed_in().await;
    let id = story.runs;
    let path = format!("/firings/{id}/live?after=01-execute:0");
    let mut listener = Listener::at(&scene, &signed.cookie, &path, "").await;
    listener.until("I begin.").await;
    assert!(
        listener.heard.contains("content-type: text/event-stream"),
        "{}",
        listener.heard
    );
    let file = scene
        .home
        .fleet
        .layout
        .transcripts(&id)
        .join("01-execute.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
    let say = serde_json::json!({"type": "say", "text": HOSTILE}).to_string();
    // Half a line is none.
    file.write_all(&say.as_bytes()[..10]).unwrap();
    file.write_all(&say.as_bytes()[10..]).unwrap();
    file.write_all(b"\n").unwrap();
    listener.until("dlrow").await;
    for hidden in ['\u{202e}', '\u{200b}'] {
        assert!(!listener.heard.contains(hidden), "{}", listener.heard);
    }
    let end = Ending {
        outcome: Outcome::Ok,
        reason: "done".to_owned(),
        skip: None,
        at: scene.home.clock.now(),
        thresholds: Some(Thresholds {
            fail_streak: 3,
            max_rejections: 2,
        }),
        posts: Vec::new(),
    };
    scene
        .home
        .store
        .as_firing(id, carson_store::Epoch::FIRST)
        .end_firing(&end)
        .await
        .unwrap();
    listener.until("event: end").await;
    assert_eq!(
        listener.heard.matches("I begin.").count(),
        1,
        "{}",
        listener.heard
    );
    // Whose connection broke goes on where it was.
    let last = listener
        .heard
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("id: "))
        .unwrap();
    let more = format!("last-event-id: {last}\r\n");
    let mut again = Listener::at(&scene, &signed.cookie, &path, &more).await;
    again.until("event: end").await;
    assert!(!again.heard.contains("I begin."), "{}", again.heard);
}

#[tokio::test]
async fn listeners_have_a_bound_and_a_session() {
    let scene = Scene::empty().await;
    let story = story(&scene.home).await;
    let signed = scene.signed_in().await;
    let path = format!("/firings/{}/live", story.runs);
    let mut open = Vec::new();
    for _ in 0..8 {
        let mut one = Listener::at(&scene, &signed.cookie, &path, "").await;
        one.until("I begin.").await;
        open.push(one);
    }
    let got = signed.get(&path).await;
    assert_eq!(got.status, 503, "{got:#?}");
    // Whoever takes leave hears no more.
    let csrf = signed.get("/stops").await.field("csrf").to_owned();
    scene
        .post("/sign-out", &signed.cookie, &format!("csrf={csrf}"))
        .await;
    for one in &mut open {
        let mut rest = Vec::new();
        let ended = timeout(Duration::from_secs(20), one.stream.read_to_end(&mut rest)).await;
        // The connection is kept for the next request; its answer has ended.
        assert!(
            ended.is_ok() || rest.ends_with(b"0\r\n\r\n"),
            "{}",
            String::from_utf8_lossy(&rest)
        );
    }
    assert_eq!(signed.get(&path).await.status, 303);
}
