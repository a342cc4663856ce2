//! Socket Mode over a real WebSocket.

use std::time::Duration;

use carson_notify::slack::Web;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::channel;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};
use wiremock::matchers::{header, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::socket::{Refused, keep};

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

async fn accepted(listener: &TcpListener) -> WebSocketStream<TcpStream> {
    let (stream, _) = timeout(LIMIT, listener.accept()).await.unwrap().unwrap();
    accept_async(stream).await.unwrap()
}

async fn tell(socket: &mut WebSocketStream<TcpStream>, value: &Value) {
    socket.send(Message::text(value.to_string())).await.unwrap();
}

#[tokio::test]
async fn envelopes_are_acknowledged_and_handed_over_across_connections() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (_server, web) =
        slack(json!({"ok": true, "url": format!("ws://{at}/link?ticket=1")})).await;
    let (to, mut from) = channel(1);
    let task = tokio::spawn(async move { keep(&web, &to).await });
    for (n, reason) in [
        (1, "refresh_requested"),
        (2, "warning"),
        (3, "link_disabled"),
    ] {
        let mut socket = accepted(&listener).await;
        tell(&mut socket, &json!({"type": "hello"})).await;
        tell(
            &mut socket,
            &json!({"type": "events_api", "envelope_id": format!("e{n}"), "payload": {}}),
        )
        .await;
        let told = timeout(LIMIT, socket.next())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        let told: Value = serde_json::from_str(told.to_text().unwrap()).unwrap();
        assert_eq!(told, json!({"envelope_id": format!("e{n}")}));
        let handed = timeout(LIMIT, from.recv()).await.unwrap().unwrap();
        assert_eq!(handed["envelope_id"], format!("e{n}"));
        tell(
            &mut socket,
            &json!({"type": "disconnect", "reason": reason}),
        )
        .await;
    }
    let ended = timeout(LIMIT, task).await.unwrap().unwrap();
    assert_eq!(ended, Refused("link_disabled".to_owned()));
}

#[tokio::test]
async fn a_sign_in_that_is_refused_ends_it_at_once() {
    let (server, web) = slack(json!({"ok": false, "error": "invalid_auth"})).await;
    let (to, _from) = channel(1);
    let ended = timeout(LIMIT, keep(&web, &to)).await.unwrap();
    assert_eq!(ended, Refused("invalid_auth".to_owned()));
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_has_no_room_is_not_acknowledged() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (_server, web) = slack(json!({"ok": true, "url": format!("ws://{at}/")})).await;
    let (to, mut from) = channel(1);
    let task = tokio::spawn(async move { keep(&web, &to).await });
    let mut socket = accepted(&listener).await;
    for n in 1..=2 {
        tell(
            &mut socket,
            &json!({"type": "events_api", "envelope_id": format!("e{n}"), "payload": {}}),
        )
        .await;
    }
    tell(
        &mut socket,
        &json!({"type": "disconnect", "reason": "link_disabled"}),
    )
    .await;
    timeout(LIMIT, task).await.unwrap().unwrap();
    let mut acknowledged = 0;
    while let Ok(Some(Ok(message))) = timeout(LIMIT, socket.next()).await {
        acknowledged += u32::from(message.is_text());
    }
    assert_eq!(acknowledged, 1);
    assert_eq!(from.recv().await.unwrap()["envelope_id"], "e1");
    assert!(from.recv().await.is_none());
}
