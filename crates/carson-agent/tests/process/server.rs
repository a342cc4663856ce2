//! A chat endpoint that plays a script, on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What it answers to one request.
#[derive(Clone, Debug)]
pub enum Say {
    /// Words, as a stream.
    Words(String),
    /// Calls, as a stream: each a tool and its arguments.
    Calls(Vec<(&'static str, Value)>),
    /// A whole answer that is no stream.
    Whole(Value),
    /// A status, a header line and a body.
    Status(u16, &'static str, &'static str),
    /// A stream without choices.
    NoChoices,
    /// A stream that breaks off.
    Cut,
    /// A stream that never ends.
    Endless,
    /// Nothing, for ever.
    Hang,
}

/// A call of one tool.
pub fn call(tool: &'static str, arguments: Value) -> Say {
    Say::Calls(vec![(tool, arguments)])
}

/// Words.
pub fn words(text: &str) -> Say {
    Say::Words(text.to_owned())
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its headers, in lower case.
    pub head: String,
    /// Its body.
    pub body: Value,
}

/// The server; the last line of its script is said for ever.
pub struct Server {
    at: SocketAddr,
    heard: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Plays a script.
    pub fn plays(script: Vec<Say>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let at = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let (script, noted) = (script.clone(), Arc::clone(&noted));
                std::thread::spawn(move || serve(&stream, &script, &noted));
            }
        });
        Self { at, heard }
    }

    /// Its base address.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.at)
    }

    /// What it was asked.
    pub fn heard(&self) -> Vec<Request> {
        self.heard.lock().unwrap().clone()
    }
}

fn serve(stream: &TcpStream, script: &[Say], noted: &Mutex<Vec<Request>>) {
    let Some(request) = read(stream) else { return };
    let n = {
        let mut noted = noted.lock().unwrap();
        noted.push(request);
        noted.len() - 1
    };
    let say = script.get(n).or(script.last()).unwrap();
    // Whoever asked may be gone.
    let _ = answer(stream, say);
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        let line = match line.split_once(':') {
            Some((name, value)) => format!("{}:{value}", name.to_ascii_lowercase()),
            None => line,
        };
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).ok()?;
    Some(Request { head, body })
}

fn answer(mut to: &TcpStream, say: &Say) -> std::io::Result<()> {
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let piece = |delta: Value, end: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": end });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let usage =
        json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 10 } });
    let end = format!("data: {usage}\n\ndata: [DONE]\n\n");
    match say {
        Say::Words(text) => {
            let (half, rest) = text.split_at(text.floor_char_boundary(text.len() / 2));
            let begin = piece(json!({ "role": "assistant", "content": half }), Value::Null);
            let rest = piece(json!({ "content": rest }), "stop".into());
            write!(to, "{stream}{begin}{rest}{end}")
        }
        Say::Calls(calls) => {
            let one = |(n, (tool, arguments)): (usize, &(&str, Value))| {
                let function = json!({ "name": tool, "arguments": arguments.to_string() });
                let call = json!({ "index": n, "id": format!("c{n}"), "function": function });
                piece(json!({ "tool_calls": [call] }), Value::Null)
            };
            let calls: String = calls.iter().enumerate().map(one).collect();
            write!(
                to,
                "{stream}{calls}{}{end}",
                piece(json!({}), "tool_calls".into())
            )
        }
        Say::Whole(body) => write!(
            to,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{body}"
        ),
        Say::Status(status, header, body) => {
            let length = body.len();
            let header = if header.is_empty() {
                "x-none: 1"
            } else {
                header
            };
            write!(
                to,
                "HTTP/1.1 {status} Said\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )
        }
        Say::NoChoices => write!(to, "{stream}data: {{\"choices\":[]}}\n\ndata: [DONE]\n\n"),
        Say::Cut => write!(
            to,
            "{stream}{}",
            piece(json!({ "content": "half" }), Value::Null)
        ),
        Say::Endless => {
            write!(to, "{stream}")?;
            let piece = piece(json!({ "content": "x".repeat(4_000) }), Value::Null);
            loop {
                to.write_all(piece.as_bytes())?;
            }
        }
        Say::Hang => {
            let mut byte = [0];
            while to.read(&mut byte)? > 0 {}
            Ok(())
        }
    }
}
