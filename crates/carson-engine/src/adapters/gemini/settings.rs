//! The settings of one session, and the hook.

use std::path::Path;

use serde_json::{Value, json};

use crate::session::{Hook, Session};
use crate::variables::{Variables, given};

/// Milliseconds that the CLI waits for the hook; the hook's own watchdog is far shorter.
const HOOK_TIMEOUT_MS: u32 = 10_000;

/// How often a request is made before a refusal is one: the CLI waits 5 s, then 10 s.
const ATTEMPTS: u32 = 3;

/// Ways to sign in that work where nobody sits at a terminal.
const WAYS: [&str; 4] = [
    "oauth-personal",
    "gemini-api-key",
    "vertex-ai",
    "compute-default-credentials",
];

/// All settings of the session. Nothing that is not needed leaves the machine; nothing is learned from one
/// session for the next; the CLI's own watch over repetitions, which asks a model, is Carson's affair.
pub(super) fn settings(session: &Session<'_>) -> String {
    let mut settings = json!({
        "security": {
            // Whether this folder is trusted is not for a file to say.
            "folderTrust": { "enabled": false },
            "environmentVariableRedaction": { "enabled": false },
        },
        "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "maxAttempts": ATTEMPTS,
            "plan": { "enabled": false },
        },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "context": { "includeDirectoryTree": false },
        "skills": { "enabled": false },
        "experimental": { "enableAgents": false },
        "advanced": { "ignoreLocalEnv": true, "autoConfigureMemory": false },
        "model": {
            "maxSessionTurns": session.max_turns,
            "disableLoopDetection": true,
            "skipNextSpeakerCheck": true,
        },
        "tools": {
            // It would be fetched from elsewhere.
            "useRipgrep": false,
            "shell": {
                "enableInteractiveShell": false,
                "inactivityTimeout": session.silence.as_secs().max(1),
            },
        },
        "hooksConfig": { "enabled": true },
    });
    if let Some(way) = way(&session.env) {
        settings["security"]["auth"] = json!({ "selectedType": way });
    }
    settings.to_string()
}

/// How it signs in: as the operator chose, where their settings say so; else by what is there.
fn way(env: &Variables) -> Option<&'static str> {
    let file = |name: &str| Some(Path::new(given(env, "GEMINI_CLI_HOME")?).join(name));
    let chosen = file(".gemini/settings.json").and_then(|file| std::fs::read(file).ok());
    let chosen: Option<Value> = chosen.and_then(|text| serde_json::from_slice(&text).ok());
    let chosen = chosen.and_then(|settings| {
        let now = settings.pointer("/security/auth/selectedType");
        let chosen = now.or(settings.get("selectedAuthType"))?.as_str()?;
        WAYS.into_iter().find(|way| *way == chosen)
    });
    let has = |name: &str| given(env, name).is_some();
    let signed_in = || file(".gemini/oauth_creds.json").is_some_and(|file| file.exists());
    chosen.or_else(|| match () {
        () if has("GEMINI_API_KEY") => Some("gemini-api-key"),
        () if has("GOOGLE_API_KEY") || has("GOOGLE_GENAI_USE_VERTEXAI") => Some("vertex-ai"),
        () if has("GOOGLE_APPLICATION_CREDENTIALS") => Some("vertex-ai"),
        () if signed_in() => Some("oauth-personal"),
        () => None,
    })
}

/// The hooks of the extension.
pub(super) fn hooks(hook: Option<&Hook>) -> String {
    let asked = hook.map(|hook| {
        json!([{ "matcher": ".*", "hooks": [{
            "type": "command",
            "name": "carson",
            "command": hook.command,
            "timeout": HOOK_TIMEOUT_MS,
        }] }])
    });
    json!({ "hooks": { "BeforeTool": asked.unwrap_or_else(|| json!([])) } }).to_string()
}
