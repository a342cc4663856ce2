//! Where `cargo xtask test` put the agent CLIs.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

/// The path in this variable, which `cargo xtask test` exports, else the program in the cache that
/// it keeps.
pub(super) fn installed(variable: &str, program: &str) -> anyhow::Result<PathBuf> {
    let binary = match env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => cache_dir().join("npm/node_modules/.bin").join(program),
    };
    ensure!(
        binary.exists(),
        "{program} is not at {}: run `cargo xtask test` once, which installs it",
        binary.display()
    );
    binary
        .canonicalize()
        .with_context(|| format!("cannot resolve {}", binary.display()))
}

fn cache_dir() -> PathBuf {
    env::var_os("CARSON_TEST_CACHE").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache"),
        PathBuf::from,
    )
}
