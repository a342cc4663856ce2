//! The real opencode, and the environment in which it talks to a scripted model only, by Anthropic's API.

use std::path::PathBuf;

use super::ScriptedModel;
use super::installed::installed;

/// A model that it knows, and whose money it counts.
pub const OPENCODE_MODEL: &str = "anthropic/claude-sonnet-4-5";

/// Where the pinned opencode is: `CARSON_TEST_OPENCODE`, which `cargo xtask test` exports, else the cache that it
/// keeps.
///
/// # Errors
/// When it is in neither place. It is part of the tests: without it they fail, they do not skip.
pub fn opencode_binary() -> anyhow::Result<PathBuf> {
    installed("CARSON_TEST_OPENCODE", "opencode")
}

/// How it is signed in, and whom it asks: this model.
#[must_use]
pub fn opencode_env(model: &ScriptedModel) -> Vec<(String, String)> {
    let env = [
        ("ANTHROPIC_API_KEY", "sk-test".to_owned()),
        ("ANTHROPIC_BASE_URL", model.base_url()),
    ];
    env.map(|(name, value)| (name.to_owned(), value)).into()
}
