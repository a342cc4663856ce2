//! Any program: the prompt on standard input, the answer on standard output.
//!
//! Exit 0 is an end with a text; exit 75 (`EX_TEMPFAIL` of sysexits.h) is a limit without a known
//! end; anything else is a crash. Such a program has no hook of its own.
//!
//! Where the account says whose words the program speaks (`speaks = "codex"`), its JSON lines are
//! read too: the final text, the tokens, the tool calls, and what a failure means by that CLI's rules.

use carson_proc::Command;

use crate::adapter::Adapter;
use crate::cli::{Cli, Release};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::rules::RuleFile;
use crate::rules_reader::RulesReader;
use crate::session::Session;
use crate::sign_in::{Age, Credential, Holders, Settings, SignIn};
use crate::version::Version;

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "command",
    driven: None,
    command,
    reader: |engine, session| Box::new(RulesReader::speaking(engine.limits, session.max_turns)),
    // Its output as it stands is its answer.
    says: |_| Vec::new(),
    variables: |_| vec![("CARSON_MAX_TURNS", "…"), ("CARSON_STAGE", "…")],
    tells_denials: false,
};

fn command(engine: &Engine, session: &Session<'_>) -> Result<Command, EngineError> {
    Ok(Command::new(&engine.program, session.cwd)
        .args(engine.args.iter().cloned())
        .exact_env(session.env.clone())
        .env("CARSON_STAGE", session.stage.as_str())
        .env("CARSON_MAX_TURNS", session.max_turns.to_string())
        .stdin_bytes(session.prompt))
}

/// CLIs that no adapter drives, whose words are known.
pub(super) static SPOKEN: [Cli; 3] = [
    Cli {
        name: "gemini",
        release: Some(Release {
            oldest: Version([0, 61, 0]),
            update: "run `npm install -g @google/gemini-cli`, or set the account's binary to a newer one",
        }),
        rules: RuleFile::new(include_str!("../../rules/gemini.toml")),
        // Gemini CLI, whose directory is a home. Google's refresh tokens do not change.
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
                    keys: &[],
                },
                Settings {
                    file: ".gemini/google_accounts.json",
                    keys: &[],
                },
            ],
        }),
    },
    Cli {
        name: "opencode",
        release: Some(Release {
            oldest: Version([1, 18, 33]),
            update: "run `opencode upgrade`, or set the account's binary to a newer one",
        }),
        rules: RuleFile::new(include_str!("../../rules/opencode.toml")),
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
    },
    Cli {
        name: "openai",
        release: None,
        rules: RuleFile::new(include_str!("../../rules/openai.toml")),
        sign_in: None,
    },
];
