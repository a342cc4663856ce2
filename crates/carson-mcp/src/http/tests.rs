//! Clients of this machine, over real connections.

use carson_config::McpGrant;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

use super::*;
use crate::scenes::Given;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server, and the token that it has now.
struct Scene {
    at: SocketAddr,
    given: Arc<Given>,
    task: JoinHandle<Infallible>,
}

/// What came back.
#[derive(Debug)]
struct Got {
    status: u16,
    head: String,
    body: String,
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        let prefix = format!("{name}: ");
        self.head
            .lines()
            .find_map(|line| line.strip_prefix(&prefix))
    }

    /// The last message of its stream, or its body.
    fn message(&self) -> Value {
        let events = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let last = events.filter(|data| !data.is_empty()).last();
        serde_json::from_str(last.unwrap_or(&self.body))
            .unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl Scene {
    async fn with(grants: &[McpGrant]) -> Self {
        let given = Given::with(grants).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let token: Token = Arc::new(|| Ok(SecretString::from(TOKEN)));
        let task = tokio::spawn(serve(listener, given.clone(), token));
        Self { at, given, task }
    }

    /// One request on a connection of its own, to the end of its answer.
    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        stream
            .write_all(format!("{text}\r\n{body}").as_bytes())
            .await
            .unwrap();
        let mut bytes = Vec::new();
        // Whoever is refused is not read to the end, so the connection may break.
        let _ = stream.read_to_end(&mut bytes).await;
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("{text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Got {
            status,
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    async fn post(&self, more: &[(&str, &str)], message: &Value) -> Got {
        let host = self.at.to_string();
        let bearer = format!("Bearer {TOKEN}");
        let usual = [
            ("host", host.as_str()),
            ("authorization", bearer.as_str()),
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
        ];
        self.send(
            "POST",
            "/mcp",
            &[&usual[..], more].concat(),
            &message.to_string(),
        )
        .await
    }
}

fn hello() -> Value {
    let client = json!({"name": "operator", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[tokio::test]
async fn a_client_has_a_session_from_its_hello_until_it_takes_leave() {
    let scene = Scene::with(&[]).await;
    let begun = scene.post(&[], &hello()).await;
    assert_eq!(begun.status, 200, "{begun:#?}");
    assert_eq!(begun.message()["result"]["serverInfo"]["name"], "carson");
    let id = begun.header("mcp-session-id").unwrap().to_owned();
    let session = [("mcp-session-id", id.as_str())];
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(scene.post(&session, &initialized).await.status, 202);
    let status = scene
        .post(&session, &call(1, "fleet_status", json!({})))
        .await
        .message();
    let text = status["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"fleet\":\"attic\""), "{text}");
    let refused = scene
        .post(&session, &call(2, "queue_add", json!({"title": "t"})))
        .await
        .message();
    assert_eq!(refused["result"]["isError"], true, "{refused:#}");
    // What is granted while it talks counts for its next call.
    scene.given.grants.lock().unwrap().push(McpGrant::Queue);
    let added = scene
        .post(&session, &call(3, "queue_add", json!({"title": "t"})))
        .await
        .message();
    assert_eq!(added["result"]["isError"], false, "{added:#}");
    let host = scene.at.to_string();
    let bearer = format!("Bearer {TOKEN}");
    let leave = [
        ("host", host.as_str()),
        ("authorization", bearer.as_str()),
        session[0],
    ];
    let left = scene.send("DELETE", "/mcp", &leave, "").await;
    assert!((200..300).contains(&left.status), "{left:#?}");
    let after = scene
        .post(&session, &call(4, "fleet_status", json!({})))
        .await;
    assert_eq!(after.status, 404, "{after:#?}");
}

#[tokio::test]
async fn a_client_of_today_needs_no_session() {
    let scene = Scene::with(&[]).await;
    let version = "2026-07-28";
    let mut message = call(1, "fleet_status", json!({}));
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = [
        ("mcp-protocol-version", version),
        ("mcp-method", "tools/call"),
        ("mcp-name", "fleet_status"),
    ];
    let got = scene.post(&headers, &message).await;
    assert_eq!(got.status, 200, "{got:#?}");
    assert_eq!(got.message()["result"]["isError"], false, "{got:#?}");
    assert_eq!(got.header("mcp-session-id"), None);
}

#[tokio::test]
async fn strangers_and_web_pages_are_refused_before_anything_is_read() {
    let scene = Scene::with(&[McpGrant::Queue]).await;
    let host = scene.at.to_string();
    let bearer = format!("Bearer {TOKEN}");
    let (own, shown) = (("host", host.as_str()), ("authorization", bearer.as_str()));
    let wrong = ("authorization", "Bearer 0123456789abcdef0123456789abcdeX");
    let evil = format!("evil.example:{}", scene.at.port());
    let usual = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
    ];
    for (headers, path, status) in [
        (vec![own], "/mcp", 401),
        (vec![own, wrong], "/mcp", 401),
        (vec![own, wrong], "/", 401),
        (vec![shown], "/mcp", 403),
        (vec![("host", evil.as_str()), shown], "/mcp", 403),
        (
            vec![own, shown, ("origin", "http://evil.example")],
            "/mcp",
            403,
        ),
        (vec![own, shown, ("origin", "null")], "/mcp", 403),
        (vec![own, shown], "/other", 404),
    ] {
        let all = [&headers[..], &usual].concat();
        let got = scene.send("POST", path, &all, &hello().to_string()).await;
        assert_eq!(got.status, status, "{headers:?} {path}: {got:#?}");
        assert_eq!(got.header("mcp-session-id"), None);
        assert_eq!(got.header("www-authenticate").is_some(), status == 401);
        assert_eq!(got.header("access-control-allow-origin"), None);
    }
    // What a browser asks before a request of a page's is no different.
    let preflight = [
        own,
        ("origin", "http://evil.example"),
        ("access-control-request-method", "POST"),
    ];
    assert_eq!(
        scene.send("OPTIONS", "/mcp", &preflight, "").await.status,
        403
    );
}

#[tokio::test]
async fn bodies_and_sessions_have_bounds() {
    let scene = Scene::with(&[]).await;
    let long =
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y".repeat(BODY)}});
    assert_eq!(scene.post(&[], &long).await.status, 413);
    for wrong in [json!(42), json!({"jsonrpc": "2.0"}), json!([])] {
        let got = scene.post(&[], &wrong).await;
        assert!((400..500).contains(&got.status), "{got:#?}");
    }
    for n in 0..SESSIONS {
        assert_eq!(scene.post(&[], &hello()).await.status, 200, "{n}");
    }
    let full = scene.post(&[], &hello()).await;
    assert_eq!(
        (full.status, full.header("retry-after")),
        (503, Some("60")),
        "{full:#?}"
    );
}

#[tokio::test]
async fn who_stops_serving_lets_the_address_and_all_connections_go() {
    let scene = Scene::with(&[]).await;
    let mut idle = TcpStream::connect(scene.at).await.unwrap();
    // Somebody is there: one answer came.
    assert_eq!(scene.post(&[], &hello()).await.status, 200);
    scene.task.abort();
    assert!(scene.task.await.unwrap_err().is_cancelled());
    let mut rest = Vec::new();
    let _ = idle.read_to_end(&mut rest).await;
    assert_eq!(rest, b"");
    TcpListener::bind(scene.at).await.unwrap();
}

#[tokio::test]
async fn an_address_that_is_taken_is_waited_for() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = taken.local_addr().unwrap();
    let waiting = tokio::spawn(bound(at, Duration::from_millis(5)));
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!waiting.is_finished());
    drop(taken);
    let listener = waiting.await.unwrap();
    assert_eq!(listener.local_addr().unwrap(), at);
}

#[tokio::test]
async fn without_its_token_nobody_comes_in() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let token: Token = Arc::new(|| Err("it is gone".into()));
    let given = Given::nothing();
    let task = tokio::spawn(serve(listener, given.clone(), token));
    let scene = Scene { at, given, task };
    assert_eq!(scene.post(&[], &hello()).await.status, 503);
}
