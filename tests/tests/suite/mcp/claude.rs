//! The real Claude Code as the client: a scripted model calls every tool, over both transports.
#![expect(
    clippy::disallowed_methods,
    reason = "the CLI is run bare here, below carson-proc"
)]

use std::process::Stdio;
use std::time::Duration;

use carson_tests::fleet::TestFleet;
use carson_tests::model::{
    Reply, ScriptedModel, ToolResult, claude_binary, claude_env, say, tool, when,
};
use serde_json::{Value, json};

use super::daemon::Served;
use super::scene::{calls, errand, fleet, holds};

/// One session with this server, in which the model makes these calls; what it is answered.
async fn session(fleet: &TestFleet, server: Value, calls: &[(&str, Value)]) -> Vec<ToolResult> {
    let model = ScriptedModel::start().unwrap();
    let turns = calls
        .iter()
        .map(|(name, arguments)| tool(format!("mcp__carson__{name}"), arguments.clone()));
    model.on(when(), Reply::turns(turns.chain([say("[OK]")])));
    let config = json!({ "mcpServers": { "carson": server } });
    let home = fleet.root().join("claude-home");
    std::fs::create_dir_all(&home).unwrap();
    let child = tokio::process::Command::new(claude_binary().unwrap())
        .args(["-p", "--output-format", "stream-json", "--verbose"])
        .args(["--model", "claude-sonnet-5", "--setting-sources", ""])
        .args(["--strict-mcp-config", "--mcp-config", &config.to_string()])
        .args([
            "--no-session-persistence",
            "--permission-mode",
            "bypassPermissions",
        ])
        .args(["--", "How is the fleet?"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs(claude_env(&model, &home))
        .current_dir(errand(fleet))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(90), child)
        .await
        .unwrap()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let requests = model.requests();
    let results = requests
        .last()
        .unwrap_or_else(|| panic!("{said}"))
        .tool_results();
    assert_eq!(results.len(), calls.len(), "{results:#?}\n{said}");
    results
}

fn stdio(fleet: &TestFleet, args: &[&str]) -> Value {
    let env = json!({ "CARSON_HOME": fleet.home(), "HOME": fleet.root().join("operator") });
    let args = [&["mcp"], args].concat();
    json!({ "command": fleet.binary(), "args": args, "env": env })
}

#[tokio::test]
async fn claude_code_calls_every_tool() {
    let fleet = fleet();
    let asked: Vec<(&str, Value)> = calls()
        .into_iter()
        .map(|(name, arguments, _)| (name, arguments))
        .collect();
    let server = stdio(&fleet, &["--grant", "loop,queue,memory"]);
    let results = session(&fleet, server, &asked).await;
    for (result, (name, _, wanted)) in results.iter().zip(calls()) {
        assert!(
            !result.is_error && holds(&result.text, wanted),
            "{name}: {result:#?}"
        );
    }
    assert_eq!(fleet.labels(2), ["for:hand", "p2"]);
}

#[tokio::test]
async fn claude_code_is_refused_what_was_not_granted_and_over_http_reads_the_same() {
    let fleet = fleet();
    let served = Served::by(&fleet, "");
    let server = json!({ "type": "http", "url": served.url(), "headers": { "Authorization": served.bearer() } });
    let asked = [
        ("fleet_status", json!({})),
        ("queue_add", json!({"title": "OWNED"})),
    ];
    let results = session(&fleet, server, &asked).await;
    assert!(
        !results[0].is_error && holds(&results[0].text, "\"fleet\":\"test\""),
        "{results:#?}"
    );
    assert!(
        results[1].is_error && results[1].text.contains("has not the grant"),
        "{results:#?}"
    );
}
