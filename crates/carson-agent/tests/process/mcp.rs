//! Tools of MCP servers.

use std::fs;

use serde_json::json;

use crate::server::{Server, call, words};
use crate::{Ran, Work, testdata};

/// One that every machine of ours has; what `PATH` names may be a script of a version manager.
const PYTHON: &str = "/usr/bin/python3";

/// Behind walls that let the server's program be read.
fn walled() -> [&'static str; 2] {
    ["--read", concat!(env!("CARGO_MANIFEST_DIR"), "/testdata")]
}

/// A run with one server; what the model reads of each call.
async fn results(
    kind: &str,
    tools: &[&str],
    walls: &[&str],
    script: Vec<crate::server::Say>,
) -> (Work, Ran, Vec<String>) {
    let work = Work::with(&[]);
    let program = testdata("mcp_server.py");
    let server = json!({ "command": [PYTHON, program, kind], "tools": tools });
    let file = work.outside().join("mcp.json");
    fs::write(&file, json!({ "servers": { "test": server } }).to_string()).unwrap();
    let endpoint = Server::plays(script);
    let args = [&["--mcp", file.to_str().unwrap()], walls, &["Go."]].concat();
    let ran = work.agent(&endpoint.url(), &args).await;
    let heard = endpoint.heard();
    let messages = heard
        .last()
        .map(|asked| asked.body["messages"].as_array().unwrap().clone());
    let results = messages.into_iter().flatten();
    let results = results.filter(|message| message["role"] == "tool");
    let results = results.map(|message| message["content"].as_str().unwrap().to_owned());
    let results = results.collect();
    if let Some(asked) = heard.first() {
        let given = asked.body["tools"].to_string();
        assert!(!given.contains("hidden"), "{given}");
    }
    (work, ran, results)
}

#[tokio::test]
async fn a_tool_answers_in_the_newest_and_in_older_versions_of_the_protocol() {
    for (kind, version) in [
        ("newest", "2026-07-28"),
        ("older", "2025-06-18"),
        ("silent", "2025-06-18"),
    ] {
        let script = vec![
            call("mcp__test__echo", json!({ "n": 1 })),
            call("mcp__test__fails", json!({})),
            call("mcp__test__hidden", json!({})),
            words("Done."),
        ];
        let (work, ran, results) = results(kind, &["echo", "fails"], &walled(), script).await;
        assert_eq!(ran.code, 0, "{kind}: {}", ran.stderr);
        assert_eq!(work.text("version"), version);
        assert_eq!(results[..2], ["{\"n\": 1}", "[error] {}"], "{kind}");
        assert!(
            results[2].starts_with("[error] there is no tool"),
            "{}",
            results[2]
        );
    }
}

#[tokio::test]
async fn a_slow_call_is_an_error_and_its_late_answer_is_nobodys() {
    let script = vec![
        call("mcp__test__slow", json!({})),
        call("run", json!({ "command": "sleep 1.5" })),
        call("mcp__test__echo", json!({ "n": 2 })),
        words("Done."),
    ];
    let (_, ran, results) = results("newest", &["echo", "slow"], &walled(), script).await;
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(results[0], "[error] no answer to tools/call within 2 s");
    assert_eq!(results[2], "{\"n\": 2}");
}

#[tokio::test]
async fn a_server_that_is_none_ends_the_run_before_it_begins() {
    let (_, ran, _) = results("newest", &["fly"], &walled(), vec![words("Done.")]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("has no tool \"fly\""), "{}", ran.stderr);
}

#[tokio::test]
async fn a_server_ends_with_the_run() {
    let script = vec![call("mcp__test__slow", json!({})), words("Done.")];
    // Without walls its number is one of our world.
    let (work, ran, _) = results("newest", &["slow"], &["--no-walls"], script).await;
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let line = format!("/proc/{}/cmdline", work.text("pid"));
    // A dead one that nobody has reaped has no command line any more.
    let left = fs::read(line).unwrap_or_default();
    assert!(left.is_empty(), "{}", String::from_utf8_lossy(&left));
}
