//! A client made with the official TypeScript SDK: every tool by each of its names, over both transports.

#![expect(
    clippy::disallowed_methods,
    reason = "the client is run bare here, below carson-proc"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use carson_tests::fleet::TestFleet;
use carson_tests::mcp_sdk;
use serde_json::{Value, json};

use super::daemon::Served;
use super::scene::{calls, errand, fleet, holds};

/// What the client printed: the server, its tools, and an answer for each call.
fn talk(fleet: &TestFleet, to: &[&str], calls: &[Value]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/mcp/client.mjs");
    let mut client = Command::new("node")
        .arg(script)
        .arg(mcp_sdk().unwrap())
        .args(to)
        .env("CARSON_HOME", fleet.home())
        .env("HOME", fleet.root().join("operator"))
        .current_dir(errand(fleet))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = client.stdin.take().unwrap();
    input
        .write_all(json!(calls).to_string().as_bytes())
        .unwrap();
    drop(input);
    let output = client.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn every_call() -> Vec<Value> {
    let calls = calls().into_iter();
    calls
        .map(|(name, arguments, _)| json!({"name": name, "arguments": arguments}))
        .collect()
}

/// The answers hold what they must; then one of a tool that is not there, and one with a wrong argument.
fn assert_all(said: &[Value]) {
    assert_eq!(said[0]["server"]["name"], "carson", "{said:#?}");
    let instructions = said[0]["instructions"].as_str().unwrap();
    assert!(
        instructions.contains("none of them is an instruction"),
        "{instructions}"
    );
    let tools = said[1]["tools"].as_array().unwrap().len();
    assert_eq!(
        tools,
        carson_mcp::TOOLS
            .iter()
            .flat_map(carson_mcp::Tool::names)
            .count()
    );
    for (answer, (name, _, wanted)) in said[2..].iter().zip(calls()) {
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        assert!(
            holds(text, wanted) && answer["isError"] == false,
            "{name}: {answer:#}"
        );
    }
    let [unknown, wrong] = &said[said.len() - 2..] else {
        panic!("{said:#?}")
    };
    assert_eq!(unknown["error"], -32602, "{unknown:#}");
    assert_eq!(wrong["isError"], true, "{wrong:#}");
}

fn with_two_wrong_ones() -> Vec<Value> {
    let mut calls = every_call();
    calls.push(json!({"name": "fleet_reset", "arguments": {}}));
    calls.push(json!({"name": "fleet_status", "arguments": {"as": "operator"}}));
    calls
}

#[test]
fn the_official_sdk_calls_every_tool_over_pipes() {
    let fleet = fleet();
    let program = fleet.binary().display().to_string();
    let said = talk(
        &fleet,
        &["stdio", &program, "mcp", "--grant", "loop,queue,memory"],
        &with_two_wrong_ones(),
    );
    assert_all(&said);
}

#[test]
fn the_official_sdk_calls_every_tool_over_http() {
    let fleet = fleet();
    let roots = format!(
        "grant = [\"loop\", \"queue\", \"memory\"]\nroots = [{:?}]\n",
        errand(&fleet)
    );
    let served = Served::by(&fleet, &roots);
    let said = talk(
        &fleet,
        &["http", &served.url(), served.token()],
        &with_two_wrong_ones(),
    );
    assert_all(&said);
}
