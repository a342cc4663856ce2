//! Claude Code 2.1: how it is told what it may do.
//!
//! Measured with 2.1.329. Project and user settings run code without asking, so none are loaded
//! (`--setting-sources ""`, `--strict-mcp-config`); our hook comes by `--settings`. `--tools` is
//! what restricts; an allowlist restricts only in `dontAsk` mode, and of MCP servers `bypassPermissions` allows every
//! tool that they show, so it is the porter in front of each that shows no other. A push is *not* disallowed here:
//! the hook must see it and say so.

mod output;

use std::path::Path;
use std::time::Duration;

use carson_proc::Command;
use serde_json::{Map, Value, json};

use output::Output;

use crate::adapter::{Adapter, Driven};
use crate::cli::{Cli, Release};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::rules::RuleFile;
use crate::session::{Access, Hook, ServerCommand, Servers, Session};
use crate::sign_in::{Age, Credential, Holders, Settings, SignIn};
use crate::version::Version;

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "claude",
    driven: Some(Driven {
        cli: &CLI,
        // There it is in the keychain, which cannot be looked into without a prompt on the screen.
        signs_in_otherwise: |_| cfg!(target_os = "macos"),
        sign_in_hint: "sign in with `claude` and /login, and set CLAUDE_CONFIG_DIR in the account's \
                       env to its folder; or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN there",
    }),
    command,
    reader: |_, _| Box::new(Output::new(&CLI.rules)),
    says: output::says,
    variables: switches,
    tells_denials: true,
};

static CLI: Cli = Cli {
    name: "claude",
    release: Some(Release {
        oldest: Version([2, 1, 329]),
        newest: Version([2, 1, 329]),
        update: "run `claude update`, or set the account's binary to a newer one",
        back: "`npm install -g @anthropic-ai/claude-code@2.1.329`",
    }),
    rules: RuleFile::new(include_str!("../../../rules/claude.toml")),
    // Claude Code. Hooks, `apiKeyHelper`, plugins and CLAUDE.md lie beside; `mcpOAuth` in the file
    // itself belongs to other services.
    sign_in: Some(SignIn {
        variable: "CLAUDE_CONFIG_DIR",
        own: "",
        credentials: &[Credential {
            file: ".credentials.json",
            keys: &["claudeAiOauth", "organizationUuid"],
            holders: Holders::At("/claudeAiOauth"),
            tokens: &["/accessToken", "/refreshToken"],
            age: Age::ExpiresMillis("/expiresAt"),
            same: &["/subscriptionType"],
        }],
        // The rest of that file is the history of all projects, and servers to start.
        settings: &[Settings {
            file: ".claude.json",
            keys: &["hasCompletedOnboarding", "oauthAccount", "userID"],
        }],
    }),
};

/// Nothing that is not needed leaves the machine; `@path` in a prompt, which others wrote, is no file that the CLI
/// reads into it; a limit shows after three tries, not eleven (the default keeps silent for 183 s).
const SWITCHES: [(&str, &str); 6] = [
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "2"),
];

/// The tool that reads skills.
const SKILL: &str = "Skill";

/// How long the CLI waits for an MCP server to be ready, and for an answer beyond the server's own time.
const SERVER_READY: Duration = Duration::from_secs(40);
const PORTER_GRACE: Duration = Duration::from_secs(10);

/// Seconds that the CLI waits for the hook; the hook's own watchdog is far shorter.
const HOOK_TIMEOUT_S: u32 = 10;

/// The variables that make the CLI behave.
fn switches(access: Access) -> Vec<(&'static str, &'static str)> {
    let mut switches = SWITCHES.to_vec();
    if access == Access::Write && nix::unistd::geteuid().is_root() {
        // The CLI refuses full trust for root unless it is told that it is contained.
        switches.push(("IS_SANDBOX", "1"));
    }
    switches
}

fn command(engine: &Engine, session: &Session<'_>) -> Result<Command, EngineError> {
    let mut command = Command::new(&engine.program, session.cwd)
        .exact_env(session.env.clone())
        .args(["-p", "--output-format", "stream-json", "--verbose"])
        .args(["--setting-sources", "", "--strict-mcp-config"])
        .args([
            "--no-session-persistence",
            "--append-system-prompt",
            session.system,
        ])
        .args(["--max-turns", &session.max_turns.to_string()])
        .args(access(session))
        .stdin_bytes(session.prompt);
    for (name, value) in switches(session.access) {
        command = command.env(name, value);
    }
    command = match session.skills {
        // Each is `carson:NAME` there; those that the CLI brings along are off by its settings.
        Some(plugin) => command.arg("--plugin-dir").arg(plugin),
        None => command.arg("--disable-slash-commands"),
    };
    if let Some(servers) = session.servers {
        write_servers(servers)?;
        command = command.arg("--mcp-config").arg(&servers.file);
        let call = servers.longest() + PORTER_GRACE;
        command = command
            .env("MCP_TIMEOUT", SERVER_READY.as_millis().to_string())
            .env("MCP_TOOL_TIMEOUT", call.as_millis().to_string());
    }
    if let Some(model) = &engine.model {
        command = command.args(["--model", model]);
    }
    if let Some(effort) = &engine.effort {
        command = command.args(["--effort", effort]);
    }
    if let Some(max) = session.max_cost_usd {
        command = command.args(["--max-budget-usd", &format!("{max:.4}")]);
    }
    if let Some(hook) = session.hook {
        write_settings(hook)?;
        command = command.arg("--settings").arg(&hook.settings_file);
    }
    Ok(command.args(engine.args.iter().cloned()))
}

/// Lists are one comma-joined value: the flags are variadic and would swallow what follows.
fn access(session: &Session<'_>) -> Vec<String> {
    let mut names: Vec<&str> = session.tools.iter().map(|tool| bare_name(tool)).collect();
    let mut allowed = session.tools.to_vec();
    if session.skills.is_some() {
        names.push(SKILL);
        allowed.push(SKILL.to_owned());
    }
    // `--tools` is about the CLI's own ones.
    allowed.extend(session.servers.iter().flat_map(|servers| servers.tools()));
    let mut unique: Vec<&str> = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    let tools = unique.join(",");
    // A tool that stands there with a pattern alone is not given whole.
    let whole = |name: &&str| allowed.iter().any(|tool| tool == name);
    let is_bounded = !unique.iter().all(whole);
    match session.access {
        Access::Write if !is_bounded => {
            let mode = ["--permission-mode", "bypassPermissions", "--tools", &tools];
            mode.map(str::to_owned).to_vec()
        }
        Access::Read | Access::Write => {
            let allowed = allowed.join(",");
            let mode = [
                "--permission-mode",
                "dontAsk",
                "--tools",
                &tools,
                "--allowedTools",
                &allowed,
            ];
            mode.map(str::to_owned).to_vec()
        }
    }
}

/// `Bash(git log *)` is a rule about the tool `Bash`.
fn bare_name(tool: &str) -> &str {
    tool.split('(').next().unwrap_or(tool)
}

fn write_settings(hook: &Hook) -> Result<(), EngineError> {
    let settings = json!({
        "disableBundledSkills": true,
        "hooks": { "PreToolUse": [ {
            "matcher": ".*",
            "hooks": [ {
                "type": "command",
                "command": hook.command,
                "timeout": HOOK_TIMEOUT_S,
            } ],
        } ] },
    });
    write(&hook.settings_file, &settings)
}

fn write_servers(servers: &Servers) -> Result<(), EngineError> {
    let one = |server: &ServerCommand| {
        let (program, args) = server.command.split_first().unzip();
        let entry = json!({ "type": "stdio", "command": program, "args": args, "env": {} });
        (server.name.clone(), entry)
    };
    let all: Map<String, Value> = servers.list.iter().map(one).collect();
    write(&servers.file, &json!({ "mcpServers": all }))
}

fn write(path: &Path, settings: &Value) -> Result<(), EngineError> {
    std::fs::write(path, settings.to_string()).map_err(|source| EngineError::File {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_their_tool() {
        assert_eq!(bare_name("Bash(git log *)"), "Bash");
        assert_eq!(bare_name("Read"), "Read");
    }
}
