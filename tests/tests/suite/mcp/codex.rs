//! The real Codex as the client: a scripted model calls every tool, over both transports.
#![expect(
    clippy::disallowed_methods,
    reason = "the CLI is run bare here, below carson-proc"
)]

use std::process::Stdio;
use std::time::Duration;

use carson_tests::fleet::TestFleet;
use carson_tests::model::{
    Reply, ScriptedModel, ToolResult, codex_binary, codex_env, say, tool, when,
};
use serde_json::{Value, json};

use super::daemon::Served;
use super::scene::{calls, errand, fleet, holds};
use crate::hook_desk::CODEX_ARGS;

/// The variable that Codex takes the token from.
const TOKEN: &str = "CARSON_MCP_TOKEN";

/// One session with these settings, in which the model makes these calls; what it is answered.
async fn session(
    fleet: &TestFleet,
    settings: &[String],
    token: &str,
    calls: &[(&str, Value)],
) -> Vec<ToolResult> {
    let model = ScriptedModel::start().unwrap();
    let turns = calls
        .iter()
        .map(|(name, arguments)| tool(format!("mcp__carson__{name}"), arguments.clone()));
    model.on(when(), Reply::turns(turns.chain([say("[OK]")])));
    let home = fleet.root().join("codex-home");
    let env = codex_env(&model, &home).unwrap();
    let mut command = tokio::process::Command::new(codex_binary().unwrap());
    command.args(CODEX_ARGS);
    for setting in settings {
        command.args(["-c", setting]);
    }
    let child = command
        .arg("How is the fleet?")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", &home)
        .env(TOKEN, token)
        .envs(env)
        .current_dir(errand(fleet))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(90), child)
        .await
        .unwrap()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let requests = model.requests();
    let last = requests.last().unwrap_or_else(|| panic!("{said}"));
    let results = last.tool_results();
    assert_eq!(
        results.len(),
        calls.len(),
        "{:?} {results:#?}\n{said}",
        last.tools()
    );
    results
}

#[tokio::test]
async fn codex_calls_every_tool() {
    let fleet = fleet();
    let settings = [
        format!("mcp_servers.carson.command={:?}", fleet.binary()),
        "mcp_servers.carson.args=[\"mcp\", \"--grant\", \"loop,queue,memory\"]".to_owned(),
        format!("mcp_servers.carson.env={{CARSON_HOME={:?}}}", fleet.home()),
    ];
    let asked: Vec<(&str, Value)> = calls()
        .into_iter()
        .map(|(name, arguments, _)| (name, arguments))
        .collect();
    let results = session(&fleet, &settings, "", &asked).await;
    for (result, (name, _, wanted)) in results.iter().zip(calls()) {
        assert!(holds(&result.text, wanted), "{name}: {result:#?}");
    }
    assert_eq!(fleet.labels(2), ["for:hand", "p2"]);
}

#[tokio::test]
async fn codex_is_refused_what_was_not_granted_and_over_http_reads_the_same() {
    let fleet = fleet();
    let served = Served::by(&fleet, "");
    let settings = [
        format!("mcp_servers.carson.url={:?}", served.url()),
        format!("mcp_servers.carson.bearer_token_env_var={TOKEN:?}"),
    ];
    let asked = [
        ("fleet_status", json!({})),
        ("queue_add", json!({"title": "OWNED"})),
    ];
    let results = session(&fleet, &settings, served.token(), &asked).await;
    assert!(
        holds(&results[0].text, "\"fleet\":\"test\""),
        "{results:#?}"
    );
    assert!(
        results[1].text.contains("has not the grant"),
        "{results:#?}"
    );
}
