//! Clients of this machine, over real connections.

use carson_config::McpGrant;
use carson_door::HEAD;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::*;
use crate::scenes::{Gate, Given};

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
        let mut events = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let last = events.rfind(|data| !data.is_empty());
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

/// The first version without sessions.
const VERSION: &str = "2026-07-28";

/// What a client of it says with every request.
fn of_today() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
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
    let mut message = call(1, "fleet_status", json!({}));
    message["params"]["_meta"] = of_today();
    let headers = [
        ("mcp-protocol-version", VERSION),
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
async fn bodies_have_bounds() {
    let scene = Scene::with(&[]).await;
    let long =
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y".repeat(BODY)}});
    assert_eq!(scene.post(&[], &long).await.status, 413);
    for wrong in [json!(42), json!({"jsonrpc": "2.0"}), json!([])] {
        let got = scene.post(&[], &wrong).await;
        assert!((400..500).contains(&got.status), "{got:#?}");
    }
}

#[tokio::test]
async fn a_client_that_took_no_leave_makes_room_for_the_next_one() {
    let scene = Scene::with(&[]).await;
    let mut ids = Vec::new();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    for n in 0..SESSIONS {
        let begun = scene.post(&[], &hello()).await;
        ids.push(begun.header("mcp-session-id").unwrap().to_owned());
        assert_eq!(begun.status, 200, "{n}");
    }
    // The first one still speaks.
    let speaks = async |id: &String| {
        let session = [("mcp-session-id", id.as_str())];
        scene.post(&session, &initialized).await.status
    };
    assert_eq!(speaks(&ids[0]).await, 202);
    for _ in 0..2 {
        assert_eq!(scene.post(&[], &hello()).await.status, 200);
    }
    let mut spoke = Vec::new();
    for id in &ids[..4] {
        spoke.push(speaks(id).await);
    }
    assert_eq!(spoke, [202, 404, 404, 202]);
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_the_next_one_is_answered() {
    let scene = Scene::with(&[]).await;
    let host = scene.at.to_string();
    let bearer = format!("Bearer {TOKEN}");
    let (own, shown) = (("host", host.as_str()), ("authorization", bearer.as_str()));
    let accept = ("accept", "application/json, text/event-stream");
    let json_type = ("content-type", "application/json");
    let hello = hello().to_string();
    let two = format!("[{hello},{hello}]");
    let deep = "[".repeat(100_000);
    for (body, kind) in [
        ("{nonsense}", json_type),
        ("", json_type),
        (two.as_str(), json_type),
        (deep.as_str(), json_type),
        // What a page sends without asking first.
        (&hello, ("content-type", "text/plain")),
        (
            &hello,
            ("content-type", "application/x-www-form-urlencoded"),
        ),
    ] {
        let headers = [own, shown, accept, kind];
        let got = scene.send("POST", "/mcp", &headers, body).await;
        assert!((400..500).contains(&got.status), "{kind:?}: {got:#?}");
        assert_eq!(got.header("mcp-session-id"), None);
    }
    for (method, path, status) in [
        ("PUT", "/mcp", 405),
        ("POST", "/mcp/../mcp", 404),
        ("POST", "//mcp", 404),
        ("POST", "/mcp%00", 404),
    ] {
        let headers = [own, shown, accept, json_type];
        let got = scene.send(method, path, &headers, &hello).await;
        assert_eq!(got.status, status, "{method} {path}");
    }
    // A token in the address would stand in logs.
    let address = format!("/mcp?token={TOKEN}&access_token={TOKEN}");
    let headers = [own, accept, json_type];
    let got = scene.send("POST", &address, &headers, &hello).await;
    assert_eq!(got.status, 401);
    let session = [("mcp-session-id", "00000000-0000-0000-0000-000000000000")];
    let guessed = scene
        .post(&session, &call(1, "fleet_status", json!({})))
        .await;
    assert_eq!(guessed.status, 404, "{guessed:#?}");
    assert_eq!(
        scene
            .send("POST", "/mcp", &[own, shown, accept, json_type], &hello)
            .await
            .status,
        200
    );
}

#[tokio::test(start_paused = true)]
async fn who_does_not_say_what_it_wants_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let token: Token = Arc::new(|| Ok(SecretString::from(TOKEN)));
    let task = tokio::spawn(serve(listener, Given::nothing(), token));
    for said in ["", "POST /mcp HTTP/1.1\r\n", "POST /mcp HTTP/1.1\r\nhost: "] {
        let mut slow = TcpStream::connect(at).await.unwrap();
        slow.write_all(said.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let waited = tokio::time::timeout(2 * HEAD, slow.read_to_end(&mut rest));
        waited
            .await
            .unwrap_or_else(|_| panic!("{said:?} is waited for"))
            .unwrap();
    }
    task.abort();
}

#[tokio::test]
async fn a_call_whose_client_is_gone_is_dropped() {
    let gate = Gate::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let token: Token = Arc::new(|| Ok(SecretString::from(TOKEN)));
    let task = tokio::spawn(serve(listener, Arc::new(gate.clone()), token));
    let mut message = call(1, "fleet_status", json!({}));
    message["params"]["_meta"] = of_today();
    let message = message.to_string();
    let mut stream = TcpStream::connect(at).await.unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {at}\r\nauthorization: Bearer {TOKEN}\r\n\
         accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
         mcp-protocol-version: {VERSION}\r\nmcp-method: tools/call\r\nmcp-name: fleet_status\r\n\
         content-length: {}\r\n\r\n{message}",
        message.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let begun = gate.clone();
    let wait = move |gate: Gate, dropped| {
        tokio::task::spawn_blocking(move || {
            gate.until(|state| state.began == 1 && state.dropped == dropped);
        })
    };
    wait(begun, 0).await.unwrap();
    drop(stream);
    wait(gate, 1).await.unwrap();
    task.abort();
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
async fn without_its_token_nobody_comes_in() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let token: Token = Arc::new(|| Err("it is gone".into()));
    let given = Given::nothing();
    let task = tokio::spawn(serve(listener, given.clone(), token));
    let scene = Scene { at, given, task };
    assert_eq!(scene.post(&[], &hello()).await.status, 503);
}
