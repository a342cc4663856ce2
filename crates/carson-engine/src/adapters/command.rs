//! Any program: the prompt on standard input, the answer on standard output.
//!
//! Exit 0 is an end with a text; exit 75 (`EX_TEMPFAIL` of sysexits.h) is a limit without a known
//! end; anything else is a crash. Such a program has no hook of its own.
//!
//! Where the account says whose words the program speaks (`speaks = "codex"`), its JSON lines are
//! read too: the final text, the tokens, the tool calls, and what a failure means by that CLI's rules.

use carson_proc::Command;

use crate::adapter::Adapter;
use crate::cli::Cli;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::rules::RuleFile;
use crate::rules_reader::RulesReader;
use crate::session::Session;

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

/// Whose words are known, and whose program no adapter drives.
pub(super) static SPOKEN: [Cli; 1] = [Cli {
    name: "openai",
    release: None,
    rules: RuleFile::new(include_str!("../../rules/openai.toml")),
    sign_in: None,
}];
