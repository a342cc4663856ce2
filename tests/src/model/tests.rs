//! The parts of the server that Claude Code does not exercise: other clients and bad requests.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Message, Reply, ScriptedModel, say, when};

/// Sends one request as raw text and returns the whole response.
fn raw(model: &ScriptedModel, request: &str) -> String {
    let address = model.base_url().strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn post(model: &ScriptedModel, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    raw(
        model,
        &format!("POST /v1/messages HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}"),
    )
}

fn ask(prompt: &str) -> Value {
    json!({ "model": "m", "messages": [{ "role": "user", "content": prompt }] })
}

#[test]
fn a_client_that_does_not_stream_gets_one_document() {
    let model = ScriptedModel::start().unwrap();
    model.on(
        when().model("m"),
        Message::new().text("Look.").bash("ls").usage(7, 3),
    );

    let response = post(&model, &ask("Go."));

    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["stop_reason"], "tool_use");
    assert_eq!(
        body["content"][0],
        json!({ "type": "text", "text": "Look." })
    );
    assert_eq!(body["content"][1]["input"]["command"], "ls");
    assert_eq!(
        (
            &body["usage"]["input_tokens"],
            &body["usage"]["output_tokens"]
        ),
        (&7.into(), &3.into())
    );
}

#[test]
fn without_a_session_id_the_prompt_tells_sessions_apart() {
    let model = ScriptedModel::start().unwrap();
    model.on(when(), Reply::sessions([say("first"), say("second")]));

    for (prompt, answer) in [
        ("A", "first"),
        ("B", "second"),
        ("A", "first"),
        ("C", "second"),
    ] {
        assert!(post(&model, &ask(prompt)).contains(answer), "{prompt}");
    }
    assert_eq!(
        model.requests().iter().map(|r| r.nth).collect::<Vec<_>>(),
        [0, 0, 1, 0]
    );
}

#[test]
fn the_first_rule_that_matches_answers() {
    let model = ScriptedModel::start().unwrap();
    model
        .on(when().prompt("plan"), say("special"))
        .on(when(), say("general"));

    assert!(post(&model, &ask("the plan")).contains("special"));
    assert!(post(&model, &ask("the rest")).contains("general"));
}

#[test]
fn a_choice_of_nothing_is_a_hole() {
    let model = ScriptedModel::start().unwrap();
    model.on(when(), Reply::turns([]));

    assert!(post(&model, &ask("Go.")).starts_with("HTTP/1.1 400 "));
    assert_eq!(model.unmatched().len(), 1);
}

#[test]
fn another_path_is_recorded_and_not_found() {
    let model = ScriptedModel::start().unwrap();
    model.on(when(), say("no"));

    let response = raw(&model, "HEAD / HTTP/1.1\r\n\r\n");

    assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
    assert_eq!((model.count(), model.unmatched().len()), (1, 0));
}

#[test]
fn bad_requests_are_refused_and_not_recorded() {
    let model = ScriptedModel::start().unwrap();
    for (request, complaint) in [
        ("nonsense\r\n\r\n", "not a request line"),
        (
            "POST /v1/messages HTTP/1.1\r\nbroken\r\n\r\n",
            "not a header",
        ),
        (
            "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "chunked",
        ),
        (
            "POST /v1/messages HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            "bad length",
        ),
        (
            "POST /v1/messages HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
            "too long",
        ),
        (
            "POST /v1/messages HTTP/1.1\r\nContent-Length: 3\r\n\r\n{]}",
            "key must be a string",
        ),
    ] {
        let response = raw(&model, request);
        assert!(
            response.starts_with("HTTP/1.1 400 ") && response.contains(complaint),
            "{response}"
        );
    }
    assert_eq!(model.count(), 0);
}
