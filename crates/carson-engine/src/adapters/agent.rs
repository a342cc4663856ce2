//! carson-agent: Carson's own small agent over any OpenAI-compatible endpoint (docs/AGENT.md).
//!
//! Its bounds of turns and tool calls are passed on, and it keeps them itself. The hook's rules are part of it, and each
//! call passes them. Where nobody may write it has no tool that does, and commands run behind the session's walls.

use carson_core::Api;
use carson_proc::Command;
use serde_json::{Map, Value, json};

use crate::adapter::{Adapter, Driven};
use crate::cli::{Cli, Release};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::rules::RuleFile;
use crate::rules_reader::RulesReader;
use crate::said::Said;
use crate::session::{Access, ServerCommand, Servers, Session};
use crate::variables::given;
use crate::version::Version;

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "agent",
    driven: Some(Driven {
        cli: &CLI,
        // An endpoint of one's own asks nobody who they are.
        signs_in_otherwise: |env| given(env, Api::OpenAi.variables().1.0).is_some(),
        sign_in_hint: "set the account's key_file, or OPENAI_API_KEY in its env; of an endpoint without keys, \
                       OPENAI_BASE_URL there",
    }),
    command,
    // It stops by itself.
    reader: |_, _| Box::new(RulesReader::speaking(Some(&CLI), u32::MAX)),
    says,
    variables: |_| Vec::new(),
    tells_denials: false,
};

static CLI: Cli = Cli {
    name: "carson-agent",
    release: Some(Release {
        oldest: Version([0, 1, 0]),
        newest: Version([0, 1, 0]),
        update: "install it anew, as the README says",
        back: "the one that was installed with this carson",
    }),
    rules: RuleFile::new(include_str!("../../rules/agent.toml")),
    sign_in: None,
};

/// The tools of who may not write.
const READS: &str = "read_file,list,grep,run";

fn command(engine: &Engine, session: &Session<'_>) -> Result<Command, EngineError> {
    let model = engine.model.as_ref();
    let model = model.ok_or(EngineError::Incomplete { what: "model" })?;
    let (key, (address, path)) = Api::OpenAi.variables();
    let base = match given(&session.env, address) {
        Some(base) => base.to_string_lossy().into_owned(),
        None => format!("{}{path}", Api::OpenAi.upstream()),
    };
    let turns = session.max_turns.to_string();
    let mut command = Command::new(&engine.program, session.cwd)
        .exact_env(session.env.clone())
        .args(["--json", "--no-walls", "--yes", "--base-url", &base])
        .args([
            "--model",
            model,
            "--max-turns",
            &turns,
            "--max-iterations",
            &turns,
        ])
        .args(["--max-tool-calls", &session.max_tool_calls.to_string()])
        .args([
            "--wall-clock",
            // Carson's own is the first to be met.
            &format!("{}s", session.wall_clock.as_secs() + 60),
        ])
        .args(["--silence", &format!("{}s", endpoint_silence(session))])
        .stdin_bytes(format!("{}\n\n{}", session.prompt, session.system));
    if given(&session.env, key).is_some() {
        command = command.args(["--api-key-env", key]);
    }
    if let Some(servers) = session.servers {
        write_servers(servers)?;
        command = command.arg("--mcp").arg(&servers.file);
    }
    if session.access == Access::Read {
        command = command.args(["--tools", READS]);
    }
    Ok(command.args(engine.args.iter().cloned()).arg("-"))
}

/// Seconds that the endpoint may say nothing. The agent knows that it is the endpoint, and tells it as an outage: it is
/// the first to be met, not Carson's own, which only sees that nothing comes.
fn endpoint_silence(session: &Session<'_>) -> u64 {
    (session.silence.as_secs() * 9 / 10).max(1)
}

/// None of them is required: what one lacks is the porter's to tell.
fn write_servers(servers: &Servers) -> Result<(), EngineError> {
    let one = |server: &ServerCommand| {
        let (command, tools) = (&server.command, &server.tools);
        let entry = json!({ "command": command, "tools": tools, "required": false });
        (server.name.clone(), entry)
    };
    let all: Map<String, Value> = servers.list.iter().map(one).collect();
    let text = json!({ "servers": all }).to_string();
    std::fs::write(&servers.file, text).map_err(|source| EngineError::File {
        path: servers.file.clone(),
        source,
    })
}

fn says(event: &Value) -> Vec<Said> {
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    match event["type"].as_str() {
        Some("text") if event["turn"].is_u64() => vec![Said::Text(text("text"))],
        Some("tool_call") => vec![Said::Call {
            tool: text("tool"),
            call: event["arguments"].to_string(),
        }],
        Some("tool_result") if event["went"].is_string() => vec![Said::Result {
            text: text("output"),
            failed: event["went"] != "well",
        }],
        _ => Vec::new(),
    }
}
