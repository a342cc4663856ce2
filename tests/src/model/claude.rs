//! The real Claude Code CLI, and the environment in which it talks to a scripted model only.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::ScriptedModel;
use super::installed::installed;

/// Where the pinned Claude Code is: `CARSON_TEST_CLAUDE`, which `cargo xtask test` exports, else
/// the cache that it keeps.
///
/// # Errors
/// When it is in neither place. It is part of the tests: without it they fail, they do not skip.
pub fn claude_binary() -> anyhow::Result<PathBuf> {
    installed("CARSON_TEST_CLAUDE", "claude")
}

/// A program of a directory that starts the real binary without any hook, and the variable of the account by which
/// it finds it: Carson lets no account take its hook away by an argument.
///
/// # Errors
/// When there is no binary, or no room for the program.
pub fn unhooked_claude(dir: &Path) -> anyhow::Result<(PathBuf, (String, String))> {
    let real = claude_binary()?.canonicalize()?;
    let program = dir.join("unhooked-claude");
    let line = "exec \"$REAL_CLAUDE\" \"$@\" --settings '{\"disableAllHooks\": true}'";
    std::fs::write(&program, format!("#!/bin/sh\n{line}\n"))?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    let variable = ("REAL_CLAUDE".to_owned(), real.display().to_string());
    Ok((program, variable))
}

/// The environment for a session against this model as an API user, in addition to `PATH`. With
/// these switches Claude Code connects to nothing else.
#[must_use]
pub fn claude_env(model: &ScriptedModel, home: &Path) -> Vec<(String, String)> {
    let mut env = vec![
        ("HOME", home.display().to_string()),
        ("ANTHROPIC_BASE_URL", model.base_url()),
        ("ANTHROPIC_API_KEY", "sk-test".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("DISABLE_ERROR_REPORTING", "1".to_owned()),
        // The default of 10 is three minutes of silence for every error that is retried.
        ("CLAUDE_CODE_MAX_RETRIES", "2".to_owned()),
    ];
    if nix::unistd::geteuid().is_root() {
        // Without it Claude Code refuses to run tools unasked as root.
        env.push(("IS_SANDBOX", "1".to_owned()));
    }
    env.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
