//! The official TypeScript SDK of the Model Context Protocol, installed by npm into the cache: a client of our
//! server that shares nothing with it.

use std::path::PathBuf;

use crate::interrupt::Interrupt;
use crate::npm_packages::{Package, install};
use crate::workspace::Cache;

/// The variable that tells the tests where it is.
pub const VARIABLE: &str = "CARSON_TEST_MCP_SDK";

const SDK: Package = ("@modelcontextprotocol/sdk", "1.32.2");

/// Installs it unless the cache has it; where it is.
///
/// # Errors
/// When npm is missing or fails, or what it installed is not the pinned version.
pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<PathBuf> {
    let dir = cache.dir("npm-mcp")?;
    install(interrupt, &dir, &[SDK])?;
    Ok(dir.join("node_modules").join(SDK.0))
}
