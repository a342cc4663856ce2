//! Gemini CLI: `gemini -o stream-json`.
//!
//! Measured with 0.61.0. A repository's `.gemini/` (settings, hooks, servers, agents, skills, commands), its
//! `.env` files and its GEMINI.md are read in a *trusted* folder only, and none is one here
//! (`GEMINI_CLI_TRUST_WORKSPACE=false`). In such a folder the CLI runs no hooks of settings either, and asks before
//! each command of git; so the hook comes as an extension, and the tools by a policy ([`policy`]), which is what
//! restricts. If a later version closes one of these ways, calls are refused; none is let through.
//!
//! Its home is one of the session's own: a copy of the sign-in where the account names one, else nothing. All that
//! stands there is written here.
//!
//! It tells git in its shell to run no hooks and to read no settings, which would also be Carson's own: the lines in
//! `shell-env` take that back.
//!
//! `@path` in a prompt is a file that the CLI reads into it, and a prompt that begins with `/` a command: both are
//! taken from what others wrote (`prompt`).

mod policy;
mod settings;

use carson_proc::Command;
use serde_json::Value;

use crate::adapter::{Adapter, Driven};
use crate::cli::{Cli, Release};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::rules::RuleFile;
use crate::rules_reader::RulesReader;
use crate::said::Said;
use crate::session::Session;
use crate::short_call::short_call;
use crate::sign_in::{Age, Credential, Holders, Settings, SignIn};
use crate::variables::given;
use crate::version::Version;

use super::at_sign;
use super::begun_by_sh::begun_by_sh;

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "gemini",
    driven: Some(Driven {
        cli: &CLI,
        signs_in_otherwise: |env| given(env, "GOOGLE_APPLICATION_CREDENTIALS").is_some(),
        sign_in_hint: "sign in with `gemini` and /auth, and set GEMINI_CLI_HOME in the account's env to the \
                       home that has its .gemini; or set GEMINI_API_KEY there, or the account's key_file",
    }),
    command,
    // It has a ceiling of its own, and says when it was met.
    reader: |_, _| Box::new(RulesReader::speaking(Some(&CLI), u32::MAX)),
    says,
    variables: |_| VARIABLES.to_vec(),
    tells_denials: true,
};

static CLI: Cli = Cli {
    name: "gemini",
    release: Some(Release {
        oldest: Version([0, 57, 0]),
        newest: Version([0, 61, 0]),
        update: "run `npm install -g @google/gemini-cli`, or set the account's binary to a newer one",
        back: "`npm install -g @google/gemini-cli@0.61.0`",
    }),
    rules: RuleFile::new(include_str!("../../../rules/gemini.toml")),
    // Gemini CLI, whose directory is a home. Google's refresh tokens do not change. What names servers,
    // hooks and programs stays outside, with the secrets in it.
    sign_in: Some(SignIn {
        variable: "GEMINI_CLI_HOME",
        own: ".gemini",
        credentials: &[Credential {
            file: ".gemini/oauth_creds.json",
            keys: &[],
            holders: Holders::At(""),
            tokens: &["/access_token", "/id_token"],
            age: Age::ExpiresMillis("/expiry_date"),
            same: &["/refresh_token", "/token_type", "/scope"],
        }],
        settings: &[
            Settings {
                file: ".gemini/settings.json",
                keys: &[
                    "security",
                    "selectedAuthType",
                    "model",
                    "general",
                    "privacy",
                    "telemetry",
                ],
            },
            Settings {
                file: ".gemini/google_accounts.json",
                keys: &[],
            },
        ],
    }),
};

/// What the session gets beside its environment. One process rather than two, so that a signal reaches it.
const VARIABLES: [(&str, &str); 5] = [
    ("GEMINI_CLI_HOME", "…"),
    ("BASH_ENV", "…"),
    ("GEMINI_CLI_TRUST_WORKSPACE", "false"),
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ("NO_BROWSER", "true"),
];

/// Makes its home, and begins it: settings, the hook as an extension, the policy, what is said to every session.
const BEGIN: &str = r#"set -eu
umask 077
home=${GEMINI_CLI_HOME:-}
[ -n "$home" ] || home=$(mktemp -d "${TMPDIR:-/tmp}/gemini-XXXXXXXX")
own=$home/.gemini
mkdir -p "$own/extensions/carson/hooks"
printf %s "$1" >"$own/settings.json"
printf %s '{"name":"carson","version":"1.0.0"}' >"$own/extensions/carson/gemini-extension.json"
printf %s "$2" >"$own/extensions/carson/hooks/hooks.json"
printf %s "$3" >"$own/carson-policy.toml"
printf %s "$4" >"$own/GEMINI.md"
echo 'unset BASH_ENV GIT_CONFIG_COUNT GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM' >"$own/shell-env"
export GEMINI_CLI_HOME="$home" BASH_ENV="$own/shell-env"
shift 4
program=$1
shift
exec "$program" --admin-policy "$own/carson-policy.toml" "$@"
"#;

fn command(engine: &Engine, session: &Session<'_>) -> Result<Command, EngineError> {
    let files = [
        settings::settings(session),
        settings::hooks(session.hook),
        policy::policy(session.tools, session.access),
        format!("{}\n\n{}\n", session.system, at_sign::NOTE),
    ];
    let mut command = begun_by_sh(engine, session, BEGIN, files)
        .args(["--output-format", "stream-json"])
        .stdin_bytes(prompt(session.prompt));
    for (name, value) in VARIABLES.iter().filter(|(_, value)| *value != "…") {
        command = command.env(name, value);
    }
    if let Some(model) = &engine.model {
        command = command.args(["--model", model]);
    }
    Ok(command.args(engine.args.iter().cloned()))
}

/// A prompt of which nothing is a file to be read or a command.
fn prompt(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    if text.trim_start().starts_with(['/', '?', '!']) {
        safe.push_str("The task:\n\n");
    }
    safe.push_str(&at_sign::escaped(text, |before| before != Some('\\')));
    safe
}

fn says(event: &Value) -> Vec<Said> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match event["type"].as_str() {
        Some("message") if event["role"] == "assistant" => {
            vec![Said::Text(text(&event["content"]))]
        }
        Some("tool_use") if event["tool_id"].is_string() => vec![Said::Call {
            tool: text(&event["tool_name"]),
            call: short_call(&event["parameters"]),
        }],
        Some("tool_result") if event["tool_id"].is_string() => vec![Said::Result {
            text: match event["output"].as_str() {
                Some(output) => output.to_owned(),
                None => text(&event["error"]["message"]),
            },
            failed: event["status"] != "success",
        }],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
