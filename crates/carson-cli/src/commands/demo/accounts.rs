//! The accounts of the demo's home.

use std::path::Path;

use serde_json::json;

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
pub fn sections(engine: EngineChoice, script: &Path) -> String {
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
            json!(CODEX_ARGS),
            sign_in("CODEX_HOME", "~/.codex", &CODEX)
        ),
    }
}

/// `codex exec` with the prompt on standard input; the answer is all it prints. Its own sandbox
/// makes a linked worktree's git directory read-only, so that nothing could be committed: the hook
/// is what stands before its tools here. Carson's environment says which program that is, and what
/// becomes of a call when it fails.
const CODEX_ARGS: [&str; 12] = [
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
    r#"hooks.PreToolUse=[{matcher=".*",hooks=[{type="command",command='eval "${CARSON_HOOK_COMMAND:?}"',timeout=5}]}]"#,
    "-",
];

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
            let text = sections(engine, Path::new("/a \"b\"/play.toml"));
            let parsed: toml::Table = text
                .parse()
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert!(parsed["accounts"].get(name(engine)).is_some(), "{text}");
        }
    }
}
