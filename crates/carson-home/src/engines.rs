//! The CLI of an account.

use std::path::PathBuf;

use carson_config::Account;
use carson_engine::Engine;

use crate::home::Home;

/// The account's CLI, when it is installed.
pub fn engine_of(home: &Home, account: &Account) -> Option<Engine> {
    Some(engine_at(home.engine_program(account)?, account))
}

/// The account's CLI as if it were installed there.
pub fn engine_at(program: PathBuf, account: &Account) -> Engine {
    Engine {
        kind: account.engine,
        program,
        args: account.args.clone(),
        model: account.model.clone(),
        effort: None,
        // A session sees no directory that its path only passes through.
        script: account
            .script
            .as_ref()
            .map(|script| script.canonicalize().unwrap_or_else(|_| script.clone())),
        limits: account.speaks.as_deref().and_then(carson_engine::cli),
    }
}
