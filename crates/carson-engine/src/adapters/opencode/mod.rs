//! opencode: `opencode run --format json`.
//!
//! Measured with 1.18.33. The settings of a repository are not read (`OPENCODE_DISABLE_PROJECT_CONFIG`), but the plugins
//! that it names, or has in `.opencode/plugins/`, are run all the same, in the CLI's own process, and so are the
//! references of its settings told: where there may be any, the session does not begin, and the role's next account is
//! asked. A reader in a sub-directory is shown the AGENTS.md there.
//!
//! It has no hook of a command, and none of its plugins': permission rules ([`permission`]) say what is allowed, and
//! the walls hold. Nothing is ever asked: "ask" ends a run without a word. It has no ceiling of turns that it keeps;
//! each step is an event, and is counted.
//!
//! It asks a provider again up to five times, or after whatever time `retry-after` says, and tells of that on standard
//! error alone (`asks_again` of its rules).

mod permission;

use std::ffi::OsStr;

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
use crate::session::Session;
use crate::short_call::short_call;
use crate::sign_in::{Age, Credential, Holders, SignIn};
use crate::variables::{Variables, given};
use crate::version::Version;

use super::begun_by_sh::begun_by_sh;

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "opencode",
    driven: Some(Driven {
        cli: &CLI,
        signs_in_otherwise,
        sign_in_hint: "sign in with `opencode auth login`, and set XDG_DATA_HOME in the account's env to the \
                       directory that has its opencode/auth.json; or set its provider's key there, such as \
                       ANTHROPIC_API_KEY, or the account's key_file",
    }),
    command,
    reader: |_, session| Box::new(RulesReader::speaking(Some(&CLI), session.max_turns)),
    says,
    variables: |_| VARIABLES.to_vec(),
    tells_denials: true,
};

static CLI: Cli = Cli {
    name: "opencode",
    release: Some(Release {
        oldest: Version([1, 18, 18]),
        newest: Version([1, 18, 33]),
        update: "run `opencode upgrade`, or set the account's binary to a newer one",
        back: "`opencode upgrade 1.18.33`",
    }),
    rules: RuleFile::new(include_str!("../../../rules/opencode.toml")),
    // opencode: one member for each provider, with a key or with tokens.
    sign_in: Some(SignIn {
        variable: "XDG_DATA_HOME",
        own: "opencode",
        credentials: &[Credential {
            file: "opencode/auth.json",
            keys: &[],
            holders: Holders::Each,
            tokens: &["/access", "/refresh"],
            age: Age::ExpiresMillis("/expires"),
            same: &["/type", "/accountId", "/enterpriseUrl"],
        }],
        settings: &[],
    }),
};

/// The settings that it gets, as an account may add to them.
const CONFIG: &str = "OPENCODE_CONFIG_CONTENT";

/// What of the account's own settings is kept: whom it asks. The rest is the session's.
const KEPT: [&str; 5] = [
    "provider",
    "model",
    "small_model",
    "enabled_providers",
    "disabled_providers",
];

/// Nothing of the repository, and nothing that is not needed to the network.
const VARIABLES: [(&str, &str); 14] = [
    (CONFIG, "…"),
    ("XDG_CONFIG_HOME", "…"),
    ("XDG_STATE_HOME", "…"),
    ("OPENCODE_TEST_HOME", "…"),
    ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
    ("OPENCODE_PURE", "1"),
    ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ("OPENCODE_DISABLE_CLAUDE_CODE", "1"),
    ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1"),
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ("OPENCODE_DISABLE_SHARE", "1"),
    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ("OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER", "1"),
];

/// Looks whether anything of the repository would run; makes its home; begins it. In a home that an earlier session of
/// the firing wrote there are no settings and no programs for it. What other tools have as settings there stays.
const BEGIN: &str = r#"set -eu
umask 077
refuse() {
    printf '{"type":"error","error":{"name":"CarsonRefused","data":{"message":"opencode would run or read what the repository has in %s"}}}\n' "$1"
    exit 1
}
for at in .opencode/plugin .opencode/plugins; do
    if [ -e "$at" ]; then refuse "$at"; fi
done
for at in opencode.json opencode.jsonc .opencode/opencode.json .opencode/opencode.jsonc; do
    if [ -e "$at" ] || [ -L "$at" ]; then
        [ -f "$at" ] || refuse "$at"
        if LC_ALL=C grep -qiE 'plugin|reference|polic|\\' "$at"; then refuse "$at"; fi
    fi
done
home=$(mktemp -d "${TMPDIR:-/tmp}/opencode-XXXXXXXX")
mkdir -p "$home/config/opencode" "$home/state" "$home/home"
printf %s "$1" >"$home/config/opencode/AGENTS.md"
for at in "${XDG_CONFIG_HOME:-$HOME/.config}"/*; do
    case "${at##*/}" in
    opencode | \*) ;;
    *) ln -s "$at" "$home/config/" ;;
    esac
done
rm -rf "${XDG_CACHE_HOME:-$HOME/.cache}/opencode"
if [ "${XDG_DATA_HOME:-$HOME/.local/share}" = "$HOME/.local/share" ]; then XDG_DATA_HOME=$home/data; fi
export XDG_DATA_HOME XDG_CONFIG_HOME="$home/config" XDG_STATE_HOME="$home/state" OPENCODE_TEST_HOME="$home/home"
shift
program=$1
shift
exec "$program" run "$@"
"#;

fn command(engine: &Engine, session: &Session<'_>) -> Result<Command, EngineError> {
    let files = [session.system.to_owned()];
    let mut command = begun_by_sh(engine, session, BEGIN, files)
        .args(["--format", "json", "--title", "carson", "--pure"])
        // What it waits for stands nowhere else.
        .args(["--print-logs", "--log-level", "ERROR"])
        .env(CONFIG, config(session).to_string())
        .stdin_bytes(session.prompt);
    for (name, value) in VARIABLES.iter().filter(|(_, value)| *value != "…") {
        command = command.env(name, value);
    }
    if let Some(model) = &engine.model {
        command = command.args(["--model", model]);
    }
    if let Some(effort) = &engine.effort {
        command = command.args(["--variant", effort]);
    }
    Ok(command.args(engine.args.iter().cloned()))
}

/// All settings of the session.
fn config(session: &Session<'_>) -> Value {
    let mut config = json!({
        "permission": permission::permission(session.tools),
        "share": "disabled",
        "autoupdate": false,
        "snapshot": false,
        "lsp": false,
        "formatter": false,
    });
    let own = given(&session.env, CONFIG).and_then(OsStr::to_str);
    let own: Option<Map<String, Value>> = own.and_then(|own| serde_json::from_str(own).ok());
    for (key, value) in own.into_iter().flatten() {
        if KEPT.contains(&key.as_str()) {
            config[key] = value;
        }
    }
    for (provider, api, path) in ADDRESSES {
        if let Some(base) = given(&session.env, api.variables().1.0).and_then(OsStr::to_str) {
            let base = format!("{}{path}", base.trim_end_matches('/'));
            config["provider"][provider]["options"]["baseURL"] = base.into();
        }
    }
    config
}

/// Its name for a provider, and what its client wants behind the address that the API's variable says.
const ADDRESSES: [(&str, Api, &str); 3] = [
    ("anthropic", Api::Anthropic, "/v1"),
    ("openai", Api::OpenAi, ""),
    ("google", Api::Google, "/v1beta"),
];

/// Of most providers the variable is known to opencode alone; settings may name one that wants no key.
fn signs_in_otherwise(env: &Variables) -> bool {
    let is_key = |name: &OsStr| {
        let name = name.to_string_lossy();
        name == CONFIG || name.ends_with("_API_KEY") || name.starts_with("AWS_BEARER_TOKEN_")
    };
    env.iter()
        .any(|(name, value)| is_key(name) && !value.is_empty())
}

fn says(event: &Value) -> Vec<Said> {
    let part = &event["part"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match (event["type"].as_str(), part["type"].as_str()) {
        (Some("text"), Some("text")) => vec![Said::Text(text(&part["text"]))],
        (Some("tool_use"), Some("tool")) => {
            let state = &part["state"];
            let failed = state["status"] != "completed";
            let said = if failed {
                &state["error"]
            } else {
                &state["output"]
            };
            vec![
                Said::Call {
                    tool: text(&part["tool"]),
                    call: short_call(&state["input"]),
                },
                Said::Result {
                    text: text(said),
                    failed,
                },
            ]
        }
        (Some("error"), None) if event["error"]["data"].is_object() => vec![Said::Result {
            text: text(&event["error"]["data"]["message"]),
            failed: true,
        }],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
