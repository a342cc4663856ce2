//! The accounts of the demo's home.

use std::path::Path;

use carson_firing::bench::hook_command;
use serde_json::{Value, json};

use crate::args::EngineChoice;

/// Variables that pass from the operator's environment when they are set: how somebody is signed
/// in, and where the provider is.
const CLAUDE: [&str; 8] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
];
const CODEX: [&str; 3] = ["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"];

/// The name of the account that a real engine works with.
pub fn name(engine: EngineChoice) -> &'static str {
    match engine {
        EngineChoice::Rehearsal => "play",
        EngineChoice::Claude => "claude",
        EngineChoice::Codex => "codex",
    }
}

/// Their sections of `carson.toml`.
pub fn sections(engine: EngineChoice, script: &Path, program: &Path) -> String {
    match engine {
        EngineChoice::Rehearsal => {
            let script = json!(script.to_string_lossy());
            ["play", "tired"]
                .map(|name| {
                    format!("[accounts.{name}]\nengine = \"rehearsal\"\nscript = {script}\n")
                })
                .join("\n")
        }
        EngineChoice::Claude => format!(
            "[accounts.claude]\nengine = \"claude\"\nbinary = \"claude\"\n{}",
            sign_in("CLAUDE_CONFIG_DIR", "~/.claude", &CLAUDE)
        ),
        EngineChoice::Codex => format!(
            "[accounts.codex]\nengine = \"command\"\nbinary = \"codex\"\nargs = {}\n{}",
            json!(codex_args(program)),
            sign_in("CODEX_HOME", "~/.codex", &CODEX)
        ),
    }
}

/// `codex exec` with the prompt on standard input; the answer is all it prints. Its own sandbox
/// makes a linked worktree's git directory read-only, so that nothing could be committed: the hook
/// is what stands before its tools here.
fn codex_args(program: &Path) -> Vec<String> {
    let hook = json!([{"matcher": ".*", "hooks": [
        {"type": "command", "command": hook_command(program), "timeout": 5}
    ]}]);
    let mut args: Vec<String> = [
        "exec",
        "--ephemeral",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "-c",
        "analytics.enabled=false",
        "-c",
        "check_for_update_on_startup=false",
        "-c",
    ]
    .map(str::to_owned)
    .into();
    args.push(format!("hooks.PreToolUse={}", inline(&hook)));
    args.push("-".to_owned());
    args
}

/// A value as TOML writes it on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{name} = {}", inline(value));
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
        plain => plain.to_string(),
    }
}

fn sign_in(folder: &str, default: &str, passed: &[&str]) -> String {
    let given = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let folder_is = given(folder).unwrap_or_else(|| default.to_owned());
    let mut env = vec![format!("{folder} = {}", json!(folder_is))];
    for name in passed {
        if let Some(value) = given(name) {
            env.push(format!("{name} = {}", json!(value)));
        }
    }
    format!("env = {{ {} }}\n", env.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sections_are_toml() {
        for engine in [
            EngineChoice::Rehearsal,
            EngineChoice::Claude,
            EngineChoice::Codex,
        ] {
            let text = sections(
                engine,
                Path::new("/a \"b\"/play.toml"),
                Path::new("/c'd/carson"),
            );
            let parsed: toml::Table = text
                .parse()
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert!(parsed["accounts"].get(name(engine)).is_some(), "{text}");
        }
    }

    #[test]
    fn the_hook_of_codex_is_toml_too() {
        let args = codex_args(Path::new("/c'd/carson"));
        let hooks = args.iter().find(|arg| arg.starts_with("hooks.")).unwrap();
        let parsed: toml::Table = hooks.parse().unwrap();
        let command = &parsed["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
        assert!(
            command.as_str().unwrap().contains("/c'\\''d/carson"),
            "{command}"
        );
    }
}
