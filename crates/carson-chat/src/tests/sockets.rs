//! Socket Mode over a real WebSocket.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use carson_notify::slack::Web;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};
use wiremock::matchers::{header, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::stage::{ANN, Stage};
use crate::face;
use crate::inbox::Inbox;
use crate::newest::Newest;
use crate::socket::{Refused, Tell, keep};

const LIMIT: Duration = Duration::from_secs(30);

async fn slack(answer: Value) -> (MockServer, Web) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = MockServer::start().await;
    Mock::given(path("/apps.connections.open"))
        .and(header("authorization", "Bearer xapp-1"))
        .respond_with(ResponseTemplate::new(200).set_body_json(answer))
        .mount(&server)
        .await;
    let web = Web::at(&server.uri(), "xapp-1".into());
    (server, web)
}

fn nobody() -> Tell {
    Arc::new(|_| ())
}

async fn accepted(listener: &TcpListener) -> WebSocketStream<TcpStream> {
    let (stream, _) = timeout(LIMIT, listener.accept()).await.unwrap().unwrap();
    accept_async(stream).await.unwrap()
}

async fn tell(socket: &mut WebSocketStream<TcpStream>, value: &Value) {
    socket.send(Message::text(value.to_string())).await.unwrap();
}

/// Something that somebody says, under this name.
fn said(stage: &mut Stage, name: &str) -> Value {
    let mut envelope = stage.mention(ANN, name);
    envelope["envelope_id"] = json!(name);
    envelope
}

/// What is acknowledged next.
async fn acknowledged(socket: &mut WebSocketStream<TcpStream>) -> Option<Value> {
    while let Some(Ok(message)) = timeout(LIMIT, socket.next()).await.unwrap() {
        if message.is_text() {
            let told: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
            return Some(told["envelope_id"].clone());
        }
    }
    None
}

async fn disconnect(socket: &mut WebSocketStream<TcpStream>, reason: &str) {
    tell(socket, &json!({"type": "disconnect", "reason": reason})).await;
}

/// What is kept, in its order.
async fn kept(stage: &Stage) -> Vec<String> {
    let mut texts = Vec::new();
    while let Some(row) = stage
        .home
        .store
        .take_heard(false, stage.home.clock.now())
        .await
        .unwrap()
    {
        let text = row.heard["deed"]["said"]["text"].as_str();
        texts.push(text.unwrap().to_owned());
        stage.home.store.heard_is_dealt_with(row.seq).await.unwrap();
    }
    texts
}

#[tokio::test]
async fn envelopes_are_kept_and_acknowledged_across_connections() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (_server, web) =
        slack(json!({"ok": true, "url": format!("ws://{at}/link?ticket=1")})).await;
    let mut stage = Stage::new().await;
    let inbox = stage.inbox();
    let task = tokio::spawn(async move { keep(&web, &inbox, &nobody()).await });
    for (name, reason) in [
        ("e1", "refresh_requested"),
        ("e2", "warning"),
        ("e3", "link_disabled"),
    ] {
        let mut socket = accepted(&listener).await;
        tell_hello(&mut socket).await;
        let envelope = said(&mut stage, name);
        tell(&mut socket, &envelope).await;
        assert_eq!(acknowledged(&mut socket).await.unwrap(), name);
        disconnect(&mut socket, reason).await;
    }
    let ended = timeout(LIMIT, task).await.unwrap().unwrap();
    assert_eq!(ended, Refused("link_disabled".to_owned()));
    assert_eq!(kept(&stage).await, ["e1", "e2", "e3"]);
}

#[tokio::test]
async fn a_sign_in_that_is_refused_ends_it_at_once() {
    let (server, web) = slack(json!({"ok": false, "error": "invalid_auth"})).await;
    let inbox = Stage::new().await.inbox();
    let ended = timeout(LIMIT, keep(&web, &inbox, &nobody())).await.unwrap();
    assert_eq!(ended, Refused("invalid_auth".to_owned()));
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

/// Found by a locked database: an envelope was acknowledged, and what it said was lost.
#[tokio::test]
async fn what_cannot_be_written_down_is_not_acknowledged_and_is_kept_when_it_comes_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (_server, web) = slack(json!({"ok": true, "url": format!("ws://{at}/")})).await;
    let mut stage = Stage::new().await;
    let (well, asked) = (stage.home.clone(), AtomicBool::new(false));
    stage.restart().await;
    let broken = stage.home.clone();
    broken.store.close().await;
    stage.home = well.clone();
    let inbox = Inbox::of(Arc::new(move || {
        match asked.swap(true, Ordering::Relaxed) {
            false => broken.clone(),
            true => well.clone(),
        }
    }));
    let task = tokio::spawn(async move { keep(&web, &inbox, &nobody()).await });
    let mut socket = accepted(&listener).await;
    let (one, two) = (said(&mut stage, "e1"), said(&mut stage, "e2"));
    for envelope in [&one, &two, &one, &one] {
        tell(&mut socket, envelope).await;
    }
    disconnect(&mut socket, "link_disabled").await;
    timeout(LIMIT, task).await.unwrap().unwrap();
    let mut told = Vec::new();
    while let Some(name) = acknowledged(&mut socket).await {
        told.push(name);
    }
    assert_eq!(told, ["e2", "e1", "e1"], "not what could not be written");
    assert_eq!(kept(&stage).await, ["e2", "e1"], "once");
}

/// What a face told last.
fn heard() -> (Tell, watch::Receiver<Option<String>>) {
    let (told, heard) = watch::channel(None);
    let tell: Tell = Arc::new(move |why| {
        told.send_replace(why.map(str::to_owned));
    });
    (tell, heard)
}

async fn until(heard: &mut watch::Receiver<Option<String>>, wanted: Option<&str>) {
    let is = |why: &Option<String>| why.as_deref() == wanted;
    timeout(LIMIT, heard.wait_for(is)).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_token_that_was_refused_is_told_and_another_one_in_the_file_is_tried_by_itself() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let stage = Stage::new().await;
    for (token, answer) in [
        (
            "xapp-hidden-2",
            json!({"ok": false, "error": "invalid_auth"}),
        ),
        (
            "xapp-hidden-3",
            json!({"ok": true, "url": format!("ws://{at}/")}),
        ),
    ] {
        Mock::given(path("/apps.connections.open"))
            .and(header("authorization", format!("Bearer {token}")))
            .respond_with(ResponseTemplate::new(200).set_body_json(answer))
            .mount(&stage.slack)
            .await;
    }
    let (tell, mut heard) = heard();
    let home = stage.home.clone();
    let newest: Newest = Arc::new(move || home.clone());
    let look = Duration::from_millis(5);
    let listens = tokio::spawn(face::keep(
        newest,
        stage.chat.clone(),
        (tell, Arc::default()),
        look,
    ));
    until(&mut heard, Some("the sign-in is refused: invalid_auth")).await;
    // A mistake in between is told as one, and ends nothing.
    std::fs::remove_file(&stage.chat.app_token_file).unwrap();
    timeout(LIMIT, heard.changed()).await.unwrap().unwrap();
    assert!(heard.borrow().is_some(), "there is no token");
    stage.app_token("xapp-hidden-3");
    let mut socket = accepted(&listener).await;
    tell_hello(&mut socket).await;
    until(&mut heard, None).await;
    let refused = stage.events().await;
    assert_eq!(refused.len(), 2, "each once: {refused:?}");
    assert_eq!(
        refused[0],
        ("chat.sign-in-refused".to_owned(), "invalid_auth".to_owned())
    );
    listens.abort();
}

#[tokio::test]
async fn a_socket_that_does_not_open_three_times_is_told_until_it_does() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (_server, web) = slack(json!({"ok": true, "url": format!("ws://{at}/")})).await;
    let ((tell, mut heard), inbox) = (heard(), Stage::new().await.inbox());
    let task = tokio::spawn(async move { keep(&web, &inbox, &tell).await });
    for _ in 0..3 {
        assert_eq!(*heard.borrow_and_update(), None);
        let (stream, _) = timeout(LIMIT, listener.accept()).await.unwrap().unwrap();
        drop(stream);
    }
    timeout(LIMIT, heard.changed()).await.unwrap().unwrap();
    let why = heard.borrow_and_update().clone().unwrap();
    assert!(why.starts_with("its socket does not open: "), "{why}");
    let mut socket = accepted(&listener).await;
    tell_hello(&mut socket).await;
    until(&mut heard, None).await;
    task.abort();
}

async fn tell_hello(socket: &mut WebSocketStream<TcpStream>) {
    tell(socket, &json!({"type": "hello"})).await;
}
