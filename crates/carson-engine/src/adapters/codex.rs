//! Codex: `codex exec --json`.
//!
//! Measured with 0.169.0. The prompt goes in by standard input, so that one that begins with `review`
//! is no subcommand. A repository's `.codex/` is not loaded unless somebody trusts it, which nobody
//! does here, and its AGENTS.md is no instruction (`project_doc_max_bytes`). The hook comes by `-c`;
//! it has the same input and the same answers as Claude Code's.
//!
//! Its own directory is a copy of the sign-in where the account names one, else a new one in each session: in `~/.codex`
//! a setup of the repository's, or an earlier session, may have left servers and hooks that it would start.
//!
//! Its own sandbox makes a linked worktree's git directory read-only, so that nothing could be
//! committed, and cannot be built inside of another: Carson's walls and the hook are what stands
//! around its tools.
//!
//! It has no ceiling of turns and none of money, says nothing of calls that the hook refused, and
//! names no model: each tool call is counted as a turn (`rules_reader.rs`), and the last one stops it.
//! It takes no list of tools either, so settings that give one are refused.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carson_core::Api;
use carson_proc::{Command, Finished};
use carson_redact::Redactor;
use chrono::{DateTime, Utc};
use toml::{Table, Value};

use super::begun_by_sh::begun_by_sh;
use crate::adapter::{Adapter, Driven};
use crate::cli::{Cli, Release};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::reader::Reader;
use crate::rules::RuleFile;
use crate::rules_reader::RulesReader;
use crate::said::Said;
use crate::session::{Event, Hook, ServerCommand, Session, SessionEnd};
use crate::sign_in::{Age, Credential, Holders, Settings, SignIn};
use crate::variables::{Variables, given};
use crate::version::Version;

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "codex",
    driven: Some(Driven {
        cli: &CLI,
        signs_in_otherwise: names_its_provider,
        sign_in_hint: "sign in with `codex login`, and set CODEX_HOME in the account's env to its \
                       folder; or set CODEX_API_KEY or OPENAI_API_KEY there",
    }),
    command,
    reader: |_, session| Box::new(Output::new(session.max_turns)),
    says,
    variables: |_| vec![("CODEX_HOME", "…")],
    tells_denials: false,
};

static CLI: Cli = Cli {
    name: "codex",
    release: Some(Release {
        // 0.166.0 starts the hooks and servers of a repository's `.codex/`, which nobody trusted (seen 2026-11-25).
        oldest: Version([0, 169, 0]),
        newest: Version([0, 169, 0]),
        update: "run `npm install -g @openai/codex`, or set the account's binary to a newer one",
        back: "`npm install -g @openai/codex@0.169.0`",
    }),
    rules: RuleFile::new(include_str!("../../rules/codex.toml")),
    // Codex. Its settings name the provider and may start programs: they are the operator's, and
    // go in only.
    sign_in: Some(SignIn {
        variable: "CODEX_HOME",
        own: "",
        credentials: &[Credential {
            file: "auth.json",
            keys: &[],
            holders: Holders::At(""),
            tokens: &[
                "/tokens/id_token",
                "/tokens/access_token",
                "/tokens/refresh_token",
            ],
            age: Age::RenewedAt("/last_refresh"),
            same: &["/tokens/account_id", "/auth_mode", "/OPENAI_API_KEY"],
        }],
        // What names servers, programs and other projects stays outside, with the secrets in it.
        settings: &[Settings {
            file: "config.toml",
            keys: &[
                "model",
                "model_provider",
                "model_providers",
                "model_context_window",
                "model_max_output_tokens",
                "model_reasoning_effort",
                "model_reasoning_summary",
                "model_verbosity",
                "service_tier",
                "chatgpt_base_url",
                "openai_base_url",
                "forced_login_method",
                "preferred_auth_method",
                "cli_auth_credentials_store",
                "disable_response_storage",
                "check_for_update_on_startup",
                "analytics",
                "features",
                "oss_provider",
            ],
        }],
    }),
};

/// Makes its directory where it has none, and begins it.
const BEGIN: &str = r#"set -eu
umask 077
if [ -z "${CODEX_HOME:-}" ]; then
    CODEX_HOME=$(mktemp -d "${HOME:-/tmp}/.codex-XXXXXXXX")
    export CODEX_HOME
fi
exec "$@"
"#;

/// Nothing that is not needed leaves the machine (at its end it would wait five seconds for that);
/// nothing of the repository is an instruction; the provider searches nothing in a session's place.
const SETTINGS: [&str; 6] = [
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "project_doc_max_bytes=0",
    "web_search=\"disabled\"",
    // Without these the descriptions of `.agents/skills` and `.codex/skills` are a developer's message.
    "skills.include_instructions=false",
    "skills.bundled.enabled=false",
];

/// What stands for the sign of a dollar before a name, and what the model is told of it.
const DOLLAR: char = '\u{ff04}';
const DOLLARS: &str = " In your prompt \u{ff04} stands for $: what it says and shows has $ there.";

/// Seconds that the CLI waits for an MCP server to be ready.
const SERVER_READY_S: i64 = 40;

/// Seconds that the CLI waits for the hook; the hook's own watchdog is far shorter.
const HOOK_TIMEOUT_S: i64 = 10;

/// Keys that its own provider may be asked with.
const KEYS: [&str; 2] = ["OPENAI_API_KEY", "CODEX_API_KEY"];

fn command(engine: &Engine, session: &Session<'_>) -> Result<Command, EngineError> {
    let mut command = begun_by_sh(engine, session, BEGIN, [])
        .args(["exec", "--json", "--ephemeral", "--skip-git-repo-check"])
        .args(["--ignore-rules", "--disable", "plugins"])
        .args(["--disable", "multi_agent"])
        .arg("--dangerously-bypass-approvals-and-sandbox")
        .stdin_bytes(prompt(session));
    let mut system = session.system.to_owned();
    if session.may_hold_skills {
        system.push_str(DOLLARS);
    }
    let given = [setting("developer_instructions", system.into())];
    let provider = provider(&session.env).into_iter().flatten();
    let settings = SETTINGS.map(str::to_owned).into_iter().chain(given);
    for setting in settings.chain(provider) {
        command = command.args(["-c", &setting]);
    }
    if let Some(hook) = session.hook {
        command = command
            .arg("--dangerously-bypass-hook-trust")
            .args(["-c", &before_tools(hook)]);
    }
    for server in session.servers.iter().flat_map(|servers| &servers.list) {
        command = command.args(["-c", &mcp_server(server)]);
    }
    if let Some(model) = &engine.model {
        command = command.args(["--model", model]);
    }
    if let Some(effort) = &engine.effort {
        let effort = setting("model_reasoning_effort", effort.as_str().into());
        command = command.args(["-c", &effort]);
    }
    Ok(command.args(engine.args.iter().cloned()).arg("-"))
}

/// In a prompt `$name` is a mention of a skill, and if the repository has one of that name its text is read in. No
/// setting keeps the CLI from that: where there may be one, no sign of a dollar stands before a name.
fn prompt(session: &Session<'_>) -> String {
    if !session.may_hold_skills {
        return session.prompt.to_owned();
    }
    let mut letters = session.prompt.chars().peekable();
    let mut prompt = String::with_capacity(session.prompt.len());
    while let Some(letter) = letters.next() {
        let names = |next: &char| next.is_alphanumeric() || "_-:".contains(*next);
        match letters.peek() {
            Some(next) if letter == '$' && names(next) => prompt.push(DOLLAR),
            _ => prompt.push(letter),
        }
    }
    prompt
}

fn setting(key: &str, value: Value) -> String {
    format!("{key}={value}")
}

fn table<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.map(|(key, value)| (key.to_owned(), value));
    Value::Table(Table::from_iter(members))
}

/// Its own times are a little longer than the server's.
fn mcp_server(server: &ServerCommand) -> String {
    let text = |word: &String| Value::from(word.as_str());
    let (program, args) = server.command.split_first().unzip();
    let args: Vec<Value> = args.into_iter().flatten().map(text).collect();
    let tools: Vec<Value> = server.tools.iter().map(text).collect();
    let call = i64::try_from(server.timeout.as_secs()).unwrap_or(i64::MAX);
    let members = table([
        ("command", program.map(text).unwrap_or_else(|| "".into())),
        ("args", args.into()),
        ("enabled_tools", tools.into()),
        ("startup_timeout_sec", SERVER_READY_S.into()),
        ("tool_timeout_sec", call.saturating_add(10).into()),
    ]);
    setting(&format!("mcp_servers.{}", server.name), members)
}

fn before_tools(hook: &Hook) -> String {
    let command = table([
        ("type", "command".into()),
        ("command", hook.command.as_str().into()),
        ("timeout", HOOK_TIMEOUT_S.into()),
    ]);
    let matcher = table([
        ("matcher", ".*".into()),
        ("hooks", Value::Array(vec![command])),
    ]);
    setting("hooks.PreToolUse", Value::Array(vec![matcher]))
}

/// A key in the environment is asked with only where a provider names it. The sign-in in the
/// account's directory comes first, and a provider that the settings there name.
fn provider(env: &Variables) -> Option<[String; 2]> {
    let is_signed_in = file(env, "auth.json").is_some_and(|file| file.exists());
    if is_signed_in || names_its_provider(env) {
        return None;
    }
    let key = KEYS.into_iter().find(|name| given(env, name).is_some())?;
    let (_, (address, path)) = Api::OpenAi.variables();
    let base = match given(env, address) {
        Some(address) => address.to_string_lossy().into_owned(),
        None => format!("{}{path}", Api::OpenAi.upstream()),
    };
    let provider = table([
        ("name", "carson".into()),
        ("base_url", base.into()),
        ("env_key", key.into()),
        ("wire_api", "responses".into()),
        ("supports_websockets", false.into()),
        ("stream_max_retries", 2.into()),
    ]);
    Some([
        setting("model_provider", "carson".into()),
        setting("model_providers.carson", provider),
    ])
}

/// Whether its own settings name a provider: how that one is asked is between the two.
fn names_its_provider(env: &Variables) -> bool {
    let text = file(env, "config.toml").and_then(|file| std::fs::read_to_string(file).ok());
    let settings = text.and_then(|text| text.parse::<Table>().ok());
    settings.is_some_and(|settings| settings.contains_key("model_provider"))
}

/// A file in the account's directory.
fn file(env: &Variables, name: &str) -> Option<PathBuf> {
    Some(Path::new(given(env, "CODEX_HOME")?).join(name))
}

fn says(event: &serde_json::Value) -> Vec<Said> {
    let item = &event["item"];
    let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    match (event["type"].as_str(), item["type"].as_str()) {
        (Some("item.completed"), Some("agent_message")) => vec![Said::Text(text("text"))],
        (Some("item.completed"), Some("command_execution")) => vec![
            Said::Call {
                tool: "shell".to_owned(),
                call: text("command"),
            },
            Said::Result {
                text: text("aggregated_output"),
                failed: item["exit_code"] != 0,
            },
        ],
        (Some("item.completed"), Some("error")) => vec![Said::Result {
            text: text("message"),
            failed: true,
        }],
        (Some("item.completed"), Some(tool @ ("file_change" | "mcp_tool_call" | "web_search"))) => {
            vec![Said::Call {
                tool: tool.to_owned(),
                call: item.to_string(),
            }]
        }
        _ => Vec::new(),
    }
}

/// Its events by its rules.
struct Output {
    events: RulesReader,
    /// Whether it said a final text; what else it printed is none.
    answered: bool,
}

impl Output {
    fn new(max_turns: u32) -> Self {
        Self {
            events: RulesReader::speaking(Some(&CLI), max_turns),
            answered: false,
        }
    }
}

impl Reader for Output {
    fn line(&mut self, line: &[u8], on_event: &mut dyn FnMut(&Event)) -> ControlFlow<()> {
        let mut answered = false;
        let flow = self.events.line(line, &mut |event| {
            answered |= matches!(event, Event::Text(_));
            on_event(event);
        });
        self.answered |= answered;
        flow
    }

    fn end(
        self: Box<Self>,
        done: &Finished,
        redactor: &Redactor,
        now: DateTime<Utc>,
    ) -> SessionEnd {
        let mut end = Box::new(self.events).end(done, redactor, now);
        if !self.answered {
            end.text.clear();
        }
        end
    }
}

#[cfg(test)]
mod tests;
