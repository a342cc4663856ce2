//! What drives a real browser over the page, installed by npm into the cache: `puppeteer-core`, which brings no browser
//! of its own, and the accessibility checker `axe-core`. The browser is Debian's Chromium.

use std::path::PathBuf;

use crate::interrupt::Interrupt;
use crate::npm_packages::{Package, install};
use crate::workspace::Cache;

/// The variable that tells the tests where they are.
pub const VARIABLE: &str = "CARSON_TEST_BROWSER";

const PACKAGES: [Package; 2] = [("puppeteer-core", "24.8.2"), ("axe-core", "4.14.1")];

/// Installs them unless the cache has them; where they are.
///
/// # Errors
/// When npm is missing or fails, or what it installed is not what is pinned.
pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<PathBuf> {
    let dir = cache.dir("npm-browser")?;
    install(interrupt, &dir, &PACKAGES)?;
    Ok(dir)
}
