//! Where `cargo xtask test` put the official TypeScript SDK of the Model Context Protocol.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, ensure};

/// The package, which `cargo xtask test` names.
///
/// # Errors
/// When it is not there. It is part of the tests: without it they fail, they do not skip.
pub fn mcp_sdk() -> anyhow::Result<PathBuf> {
    const VARIABLE: &str = "CARSON_TEST_MCP_SDK";
    let path = env::var_os(VARIABLE).map(PathBuf::from);
    let path = path.with_context(|| format!("{VARIABLE} is not set: run `cargo xtask test`"))?;
    ensure!(path.exists(), "there is no SDK at {}", path.display());
    Ok(path)
}
