//! The real Gemini CLI, and the environment in which it talks to a scripted model only.

use std::path::PathBuf;

use super::ScriptedModel;
use super::installed::installed;

/// Where the pinned Gemini CLI is: `CARSON_TEST_GEMINI`, which `cargo xtask test` exports, else the cache that it
/// keeps.
///
/// # Errors
/// When it is in neither place. It is part of the tests: without it they fail, they do not skip.
pub fn gemini_binary() -> anyhow::Result<PathBuf> {
    installed("CARSON_TEST_GEMINI", "gemini")
}

/// How it is signed in, and whom it asks: this model.
#[must_use]
pub fn gemini_env(model: &ScriptedModel) -> Vec<(String, String)> {
    let env = [
        ("GEMINI_API_KEY", "sk-test".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", model.base_url()),
    ];
    env.map(|(name, value)| (name.to_owned(), value)).into()
}
