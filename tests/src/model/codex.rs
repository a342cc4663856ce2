//! The real Codex CLI, and the settings with which it talks to a scripted model only.

use std::path::{Path, PathBuf};

use super::ScriptedModel;
use super::installed::installed;

/// Where the pinned Codex is: `CARSON_TEST_CODEX`, which `cargo xtask test` exports, else the cache
/// that it keeps.
///
/// # Errors
/// When it is in neither place. It is part of the tests: without it they fail, they do not skip.
pub fn codex_binary() -> anyhow::Result<PathBuf> {
    installed("CARSON_TEST_CODEX", "codex")
}

/// Makes `home` a `CODEX_HOME` for sessions against this model, and returns the environment that
/// they need in addition to `PATH`. With these settings Codex connects to nothing else; without the
/// one on analytics it waits five seconds at its end.
///
/// # Errors
/// When the directory cannot be made or written to.
pub fn codex_env(model: &ScriptedModel, home: &Path) -> std::io::Result<Vec<(String, String)>> {
    std::fs::create_dir_all(home)?;
    let settings = format!(
        "model = \"gpt-5.5\"\n\
         model_provider = \"scripted\"\n\
         check_for_update_on_startup = false\n\
         analytics.enabled = false\n\
         features.plugins = false\n\
         [model_providers.scripted]\n\
         name = \"scripted\"\n\
         base_url = \"{}/v1\"\n\
         env_key = \"OPENAI_API_KEY\"\n\
         wire_api = \"responses\"\n\
         supports_websockets = false\n\
         stream_max_retries = 2\n",
        model.base_url()
    );
    std::fs::write(home.join("config.toml"), settings)?;
    let home = home.display().to_string();
    let env = [("CODEX_HOME", home.as_str()), ("OPENAI_API_KEY", "sk-test")];
    Ok(env
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into())
}
