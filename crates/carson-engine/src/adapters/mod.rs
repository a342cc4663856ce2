//! The engines, one file each. A new one is a file here, its line in [`ADAPTERS`], and its row in
//! `carson_core::ENGINES`.

mod agent;
mod at_sign;
mod begun_by_sh;
mod claude;
mod codex;
mod command;
mod gemini;
mod opencode;
mod rehearsal;

use carson_core::{ENGINES, EngineKind};
use serde_json::Value;

use crate::adapter::Adapter;
use crate::cli::Cli;
use crate::said::Said;
use crate::sign_in::SignIn;

/// Every adapter.
static ADAPTERS: [&Adapter; ENGINES.len()] = [
    // In the order of the rows in `carson_core::ENGINES`.
    &claude::ADAPTER,
    &codex::ADAPTER,
    &command::ADAPTER,
    &rehearsal::ADAPTER,
    &agent::ADAPTER,
    &gemini::ADAPTER,
    &opencode::ADAPTER,
];

/// How an engine is driven.
pub(crate) fn adapter(kind: EngineKind) -> &'static Adapter {
    let adapter = ADAPTERS[kind.row()];
    debug_assert_eq!(adapter.name, kind.facts().name, "the two lists differ");
    adapter
}

/// Every CLI that Carson knows, whether an adapter drives it or not.
pub(crate) fn clis() -> impl Iterator<Item = &'static Cli> {
    let driven = ADAPTERS.iter().filter_map(|adapter| adapter.cli());
    driven.chain(&command::SPOKEN)
}

/// The CLI of this name.
#[must_use]
pub fn cli(name: &str) -> Option<&'static Cli> {
    clis().find(|cli| cli.name == name)
}

impl SignIn {
    /// The one whose directory this variable names. What no CLI's file lists names no sign-in, and
    /// is not granted.
    #[must_use]
    pub fn named(variable: &str) -> Option<&'static Self> {
        let mut known = clis().filter_map(|cli| cli.sign_in.as_ref());
        known.find(|known| known.variable == variable)
    }
}

/// What a line of a transcript says, whichever engine wrote it: one firing may have had several.
pub(crate) fn says(event: &Value) -> Vec<Said> {
    let mut all = ADAPTERS.iter().map(|adapter| (adapter.says)(event));
    all.find(|said| !said.is_empty()).unwrap_or_default()
}

/// Whether an engine's own output tells of each tool call, and of those that the hook refused.
#[must_use]
pub fn tells_denials(kind: EngineKind) -> bool {
    adapter(kind).tells_denials
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::time::Duration;

    use carson_core::{Clock, Stage, WORDS_WITH_CALLS};
    use carson_redact::Redactor;

    use super::*;
    use crate::engine::Engine;
    use crate::session::{Access, ServerCommand, Servers, Session};

    /// Everything by which an engine's program could hear of a server that a session has.
    fn told_of_servers(kind: EngineKind) -> String {
        let dir = tempfile::tempdir().unwrap();
        let servers = Servers {
            list: vec![ServerCommand {
                name: "docs".to_owned(),
                tools: vec!["search".to_owned()],
                command: vec!["/opt/porter-of-docs".to_owned()],
                timeout: Duration::from_secs(60),
            }],
            file: dir.path().join("servers"),
        };
        let engine = Engine {
            kind,
            program: "/opt/cli".into(),
            args: Vec::new(),
            model: Some("m".to_owned()),
            effort: None,
            script: Some("/opt/script".into()),
            limits: None,
        };
        let session = Session {
            stage: Stage::Execute,
            access: Access::Write,
            prompt: "",
            cwd: Path::new("/"),
            env: Vec::new(),
            tools: &[],
            servers: Some(&servers),
            skills: None,
            may_hold_skills: false,
            max_turns: 7,
            max_tool_calls: 70,
            max_cost_usd: None,
            wall_clock: Duration::from_secs(60),
            silence: Duration::from_secs(30),
            max_output: 1 << 20,
            transcript: Path::new("/nowhere"),
            redactor: &Redactor::default(),
            confined: None,
            hook: None,
            system: "",
            clock: &Clock::system(),
        };
        let command = (adapter(kind).command)(&engine, &session).unwrap();
        let file = std::fs::read_to_string(&servers.file).unwrap_or_default();
        format!("{:?}{:?}{file}", command.args, command.env)
    }

    #[test]
    fn an_engine_takes_servers_whose_program_is_told_of_them() {
        for kind in EngineKind::all() {
            let is_told = told_of_servers(kind).contains("porter-of-docs");
            assert_eq!(is_told, kind.facts().takes_servers, "{kind}");
        }
    }

    #[test]
    fn every_engine_has_its_adapter_and_every_cli_is_named_once() {
        for kind in EngineKind::all() {
            let adapter = adapter(kind);
            assert_eq!(adapter.cli().map(|cli| cli.name), kind.cli(), "{kind}");
            let dir = adapter.cli().and_then(|cli| cli.sign_in.as_ref());
            let named = kind.facts().sign_in_dir.map(|(variable, _)| variable);
            assert_eq!(dir.map(|dir| dir.variable), named, "{kind}");
        }
        let names: BTreeSet<&str> = clis().map(|cli| cli.name).collect();
        assert_eq!(names.len(), clis().count());
    }

    #[test]
    fn the_words_that_tell_of_calls_are_those_whose_rules_read_them() {
        let reads = clis().filter(|cli| cli.rules.rules().calls.is_some());
        let mut reads: BTreeSet<&str> = reads.map(|cli| cli.name).collect();
        // No other program speaks as this one does.
        assert!(reads.remove("carson-agent"));
        assert_eq!(reads, WORDS_WITH_CALLS.iter().copied().collect());
        for calls in clis().filter_map(|cli| cli.rules.rules().calls.as_ref()) {
            // What cannot be compared can never be seen to repeat itself.
            assert!(!calls.arguments.is_empty());
            assert!(calls.id.is_some() == calls.done.is_some());
            assert!(calls.result.is_empty() == calls.done.is_some());
        }
    }
}
