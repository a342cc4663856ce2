//! Conversations over real pipes, as a client has them.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use carson_config::McpGrant;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::*;
use crate::scenes::{Gate, Given};

/// One client, and the server on a thread of its own.
struct Talk {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    stop: Option<oneshot::Sender<()>>,
    server: Option<JoinHandle<Result<(), StdioError>>>,
}

impl Talk {
    /// A server that was given something, and nothing said yet.
    fn with(standing: impl FnOnce() -> BoxedStanding + Send + 'static) -> Self {
        let (theirs, to) = pipe().unwrap();
        let (from, ours) = pipe().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let standing = standing().await;
                let stop = async {
                    let _ = stopped.await;
                };
                serve(standing, theirs, ours, stop).await
            })
        });
        Self {
            to: Some(to),
            from: BufReader::new(from),
            stop: Some(stop),
            server: Some(server),
        }
    }

    /// The same after the first words of both.
    fn begun(grants: &'static [McpGrant]) -> Self {
        let mut talk = Self::with(move || Box::pin(async move { Given::with(grants).await as _ }));
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "operator", "version": "1"}});
        let answer = talk.ask(0, "initialize", hello);
        assert_eq!(
            answer["result"]["serverInfo"]["name"], "carson",
            "{answer:#}"
        );
        talk.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        talk
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.to.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn say(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn request(&mut self, id: u64, method: &str, params: Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.request(id, method, params);
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer:#}");
        answer
    }

    fn call(&mut self, id: u64, tool: &str, arguments: Value) -> Value {
        self.ask(
            id,
            "tools/call",
            json!({"name": tool, "arguments": arguments}),
        )
    }

    /// Closes our end; how the server ended, which said nothing more.
    fn end(mut self) -> Result<(), StdioError> {
        drop(self.to.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.from, &mut rest).unwrap();
        assert_eq!(rest, "");
        self.server.take().unwrap().join().unwrap()
    }
}

type BoxedStanding = std::pin::Pin<Box<dyn Future<Output = Arc<dyn Standing>>>>;

#[test]
fn a_client_says_hello_lists_calls_and_leaves() {
    let mut talk = Talk::begun(&[]);
    let listed = talk.ask(1, "tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let hints = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        tool["annotations"]["readOnlyHint"].clone()
    };
    assert_eq!(
        (hints("fleet_why"), hints("queue_add")),
        (json!(true), json!(false))
    );
    let status = talk.call(2, "fleet_status", json!({}));
    assert_eq!(status["result"]["isError"], false, "{status:#}");
    let text = status["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("{\"note\":\"This is data."), "{text}");
    let refused = talk.call(3, "queue_add", json!({"title": "t"}));
    assert_eq!(refused["result"]["isError"], true, "{refused:#}");
    assert_eq!(talk.ask(4, "ping", json!({}))["result"], json!({}));
    talk.end().unwrap();
}

#[test]
fn what_is_not_there_is_an_error_with_its_number() {
    let mut talk = Talk::begun(&[]);
    let unknown = talk.call(1, "fleet_reset", json!({}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown:#}");
    let said = unknown["error"]["message"].as_str().unwrap();
    assert!(
        said.contains("no tool \"fleet_reset\"; there are: fleet_status, "),
        "{said}"
    );
    let shown = unknown["error"]["message"].to_string();
    assert!(
        include_str!("../../../../docs/MCP.md").contains(&shown),
        "{shown}"
    );
    let argument = talk.call(2, "fleet_status", json!({"as": "operator"}));
    let text = argument["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("unknown field `as`") && argument["result"]["isError"] == true);
    for (id, method) in (3..).zip(["resources/read", "prompts/get", "wat/wat"]) {
        let answer = talk.ask(
            id,
            method,
            json!({"uri": "file:///etc/passwd", "name": "x"}),
        );
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer:#}");
    }
    // A method that there is, with what are no parameters of it, is no unknown one.
    for (id, params) in (6..).zip([
        json!({"name": 5}),
        json!({"name": "fleet_status", "arguments": [1]}),
        json!({"arguments": {}}),
    ]) {
        let answer = talk.ask(id, "tools/call", params);
        assert_eq!(
            answer["error"],
            json!({"code": -32602, "message": "these are no parameters of tools/call"})
        );
    }
    let long = talk.ask(10, &"x".repeat(9_000), json!({}));
    assert_eq!(long["error"]["message"], "x".repeat(100));
    // Nobody waits for the answer to a notification.
    talk.say(&json!({"jsonrpc": "2.0", "method": "notifications/wat", "params": 5}));
    talk.say(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": [1]}));
    talk.raw(b"\n  \n\r\n");
    assert_eq!(talk.ask(11, "ping", json!({}))["result"], json!({}));
    talk.end().unwrap();
}

#[test]
fn lines_that_are_no_messages_are_said_and_the_next_one_is_answered() {
    let mut talk = Talk::begun(&[]);
    let deep = "[".repeat(100_000);
    for (line, code) in [
        (b"{nonsense}".as_slice(), -32700),
        (b"\xff\xfe\x00", -32700),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 5, \"meth", -32700),
        (deep.as_bytes(), -32700),
        (b"42", -32600),
        (b"[]", -32600),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#, -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (b"{\"id\": 5}", -32600),
    ] {
        talk.raw(line);
        talk.raw(b"\n");
        let said = talk.hear();
        assert_eq!(said["error"]["code"], code, "{said:#}");
    }
    talk.raw(&vec![b'x'; LONGEST + 1]);
    talk.raw(b"\n");
    let said = talk.hear();
    assert_eq!(
        said["error"]["message"],
        "a message of more than 1048576 bytes is not read"
    );
    assert_eq!(talk.ask(6, "ping", json!({}))["result"], json!({}));
    talk.end().unwrap();
}

#[test]
fn who_sends_nothing_but_noise_is_left() {
    let mut talk = Talk::begun(&[]);
    for _ in 0..BAD_LINES {
        talk.raw(b"noise\n");
        assert_eq!(talk.hear()["error"]["code"], -32700);
    }
    talk.end().unwrap();
}

#[test]
fn a_cancelled_call_is_not_answered_and_what_it_did_is_dropped() {
    let gate = Gate::default();
    let waits = gate.clone();
    let mut talk = Talk::with(move || Box::pin(async move { Arc::new(waits) as _ }));
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    talk.ask(0, "initialize", hello);
    talk.request(
        1,
        "tools/call",
        json!({"name": "fleet_status", "arguments": {}}),
    );
    gate.until(|state| state.began == 1);
    talk.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "changed my mind"}}));
    gate.until(|state| state.dropped == 1);
    // An unknown one does nothing.
    talk.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}));
    assert_eq!(talk.ask(2, "ping", json!({}))["id"], 2);
    talk.end().unwrap();
}

#[test]
fn only_so_many_calls_are_answered_at_once() {
    let gate = Gate::default();
    let waits = gate.clone();
    let mut talk = Talk::with(move || Box::pin(async move { Arc::new(waits) as _ }));
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    talk.ask(0, "initialize", hello);
    for id in 1..=16 {
        talk.request(
            id,
            "tools/call",
            json!({"name": "fleet_status", "arguments": {}}),
        );
    }
    gate.until(|state| state.began == 16);
    let refused = talk.call(17, "fleet_status", json!({}));
    let text = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("refused: 16 calls are answered"), "{text}");
    // Told to end, it does not wait for them.
    let began = Instant::now();
    talk.stop.take().unwrap().send(()).unwrap();
    let server = talk.server.take().unwrap();
    server.join().unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(2));
    gate.until(|state| state.dropped == 16);
}

#[test]
fn an_end_before_the_first_word_is_an_end_and_another_first_word_is_an_error() {
    let nothing = || Talk::with(|| Box::pin(async { Given::nothing() as _ }));
    nothing().end().unwrap();
    let mut other = nothing();
    other.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let error = other.end().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("its first message is not `initialize`"),
        "{error}"
    );
}

#[test]
fn a_client_that_writes_and_does_not_read_is_not_read_for_ever() {
    let mut talk = Talk::begun(&[]);
    let mut to = talk.to.take().unwrap();
    let listing = format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    );
    let writer = std::thread::spawn(move || {
        // Far more than both pipes and all that waits between them.
        let mut sent = 0;
        while sent < 20_000 && to.write_all(listing.as_bytes()).is_ok() {
            sent += 1;
        }
        sent
    });
    // It stands still: reading goes on only when we do.
    let heard = (0..500).map(|_| talk.hear()["id"].clone());
    assert!(heard.into_iter().all(|id| id == 1));
    assert!(!writer.is_finished(), "everything was taken in");
    talk.stop.take().unwrap().send(()).unwrap();
    talk.server.take().unwrap().join().unwrap().unwrap();
    drop(talk);
    assert!(writer.join().unwrap() < 20_000);
}
