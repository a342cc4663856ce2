//! `[accounts.*]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use carson_core::{AccountName, EngineKind, Program};

use super::provider;
use crate::check::Check;
use crate::fleet::Account;
use crate::paths::Paths;
use crate::raw::AccountSection;

pub(crate) fn accounts(
    raw: BTreeMap<String, AccountSection>,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> BTreeMap<AccountName, Account> {
    let mut accounts = BTreeMap::new();
    for (name, section) in raw {
        let at = format!("accounts.{name}");
        let Some(name) = check.name::<AccountName>(&at, &name) else {
            continue;
        };
        if at.starts_with("accounts.forge-") {
            let problem = "a name that begins with forge- is that of a forge's limit";
            check.problem(&at, problem, "give it another name");
        }
        let Some(engine) = EngineKind::named(&section.engine) else {
            check.problem(&at, "engine is missing", "engine = \"claude\"");
            continue;
        };
        let any_program = engine.facts().program == Program::Any;
        if any_program && section.binary.is_none() {
            let problem = format!("engine \"{engine}\" needs a binary");
            check.problem(&at, problem, "binary = \"my-agent\"");
        }
        if !any_program && section.speaks.is_some() {
            let key = format!("{at}.speaks");
            let problem = "only a program of engine \"command\" needs it";
            check.problem(&key, problem, "leave it out");
        }
        if engine.facts().needs_model && section.model.is_none() {
            let problem = format!("engine \"{engine}\" needs a model");
            check.problem(&at, problem, "model = \"qwen3-coder\"");
        }
        own_flags(&at, engine, &section.args, check);
        if let Some(model) = &section.model
            && engine.facts().provider_in_model
            && !model.contains('/')
        {
            let problem = format!(
                "engine \"{engine}\" has no model {model:?}: they are named with whose they are"
            );
            let hint = format!("model = \"anthropic/{model}\", or whoever's it is");
            check.problem(&format!("{at}.model"), problem, &hint);
        }
        if engine.facts().plays_script && section.script.is_none() {
            let problem = format!("engine \"{engine}\" needs a script");
            check.problem(&at, problem, "script = \"play.toml\"");
        }
        let key = provider::key(&at, engine, &section, paths, check);
        let default = engine.cli().map(PathBuf::from);
        let binary = section.binary.map(|binary| paths.program(&binary));
        let env = section
            .env
            .into_iter()
            .map(|(name, value)| (name, paths.tilde(&value)));
        let account = Account {
            name: name.clone(),
            engine,
            binary: binary.or(default),
            args: section.args,
            env: env.collect(),
            model: section.model,
            script: section.script.map(|script| paths.expand(&script)),
            key,
            speaks: section.speaks,
            warn_at: section.warn_at,
            reserve: section.reserve,
        };
        accounts.insert(name, account);
    }
    accounts
}

/// A flag that Carson passes as well would break the command line, or a bound on it.
fn own_flags(at: &str, engine: EngineKind, args: &[String], check: &mut Check<'_>) {
    let own = engine.facts().own_flags;
    for (n, arg) in args.iter().enumerate() {
        let flag = arg.split_once('=').map_or(arg.as_str(), |(flag, _)| flag);
        if own.contains(&flag) {
            let problem = format!("Carson passes {flag} to {engine} by itself");
            let hint =
                "take it out; limits.*, model and [tools] of accounts and roles say what it is";
            check.problem(&format!("{at}.args.{n}"), problem, hint);
        }
    }
}
