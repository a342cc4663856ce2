//! The pinned Claude Code CLI, installed by npm into the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, on_path, output};

const PACKAGE: &str = "@anthropic-ai/claude-code";
/// What the engine was measured against. A newer one is a change to be reviewed, not to be met.
const VERSION: &str = "2.1.329";

/// Installs the pinned version unless the cache has it, and returns the program's path.
///
/// # Errors
/// When npm is missing or fails, or what it installed is not the pinned version.
pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<PathBuf> {
    let dir = cache.dir("npm")?;
    let binary = dir.join("node_modules/.bin/claude");
    if version(&binary).is_some_and(|version| is_pinned(&version)) {
        return Ok(binary);
    }
    ensure!(
        on_path("npm"),
        "the tests need npm: install Node.js 20 or later, then try again"
    );
    println!(
        "xtask: installing {PACKAGE} {VERSION} into {}",
        dir.display()
    );
    fs::write(dir.join("package.json"), manifest()).context("cannot write package.json")?;
    npm_install(interrupt, &dir)?;
    if version(&binary).is_none() {
        place_binary(interrupt, &dir)?;
    }
    match version(&binary) {
        Some(version) if is_pinned(&version) => Ok(binary),
        found => bail!(
            "{} says {found:?}, not {VERSION}: remove {} and try again",
            binary.display(),
            dir.display()
        ),
    }
}

fn version(binary: &Path) -> Option<String> {
    output(Command::new(binary).arg("--version"))
}

fn is_pinned(version: &str) -> bool {
    version.split_whitespace().next() == Some(VERSION)
}

/// Recent npm runs a package's install script only when the manifest allows it.
fn manifest() -> String {
    format!(
        "{{\n  \"private\": true,\n  \"dependencies\": {{ \"{PACKAGE}\": \"{VERSION}\" }},\n  \
         \"allowScripts\": {{ \"{PACKAGE}\": true }}\n}}\n"
    )
}

fn npm_install(interrupt: &Interrupt, dir: &Path) -> anyhow::Result<()> {
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts=false",
    ])
    .current_dir(dir);
    interrupt
        .must(&mut npm)
        .context("npm could not install Claude Code")
}

/// The package's own install script links the platform's binary into place. It is not run where
/// npm's configuration forbids scripts altogether.
fn place_binary(interrupt: &Interrupt, dir: &Path) -> anyhow::Result<()> {
    let package = dir.join("node_modules").join(PACKAGE);
    interrupt.must(Command::new("node").arg("install.cjs").current_dir(package))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_version_will_do() {
        assert!(is_pinned("2.1.329 (Claude Code)"));
        assert!(!is_pinned("2.1.3290 (Claude Code)"));
        assert!(!is_pinned(""));
    }
}
