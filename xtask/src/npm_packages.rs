//! Packages of npm that the tests use as they are, in exactly these versions.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::agents::npm_install;
use crate::interrupt::Interrupt;
use crate::workspace::on_path;

/// Its name and its version.
pub(crate) type Package = (&'static str, &'static str);

/// Installs them into a directory of their own, unless they are there.
///
/// # Errors
/// When npm is missing or fails, or what it installed is not what was asked for.
pub(crate) fn install(interrupt: &Interrupt, dir: &Path, all: &[Package]) -> anyhow::Result<()> {
    if !all.iter().all(|package| is_in(dir, package)) {
        ensure!(
            on_path("npm"),
            "the tests need npm: install Node.js 20 or later, then try again"
        );
        for (package, version) in all {
            println!(
                "xtask: installing {package} {version} into {}",
                dir.display()
            );
        }
        fs::write(dir.join("package.json"), manifest(all)).context("cannot write package.json")?;
        npm_install(interrupt, dir)?;
    }
    for package in all {
        ensure!(
            is_in(dir, package),
            "{} {} is not what npm installed: remove {} and try again",
            package.0,
            package.1,
            dir.display()
        );
    }
    Ok(())
}

/// By its own manifest: not every package has a program that could be asked.
fn is_in(dir: &Path, (package, version): &Package) -> bool {
    let file = dir.join("node_modules").join(package).join("package.json");
    let text = fs::read(file).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&text).unwrap_or_default();
    manifest["version"] == *version
}

fn manifest(all: &[Package]) -> String {
    let wanted: serde_json::Map<String, Value> = all
        .iter()
        .map(|(package, version)| ((*package).to_owned(), json!(version)))
        .collect();
    json!({"private": true, "dependencies": wanted}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_version_is_there() {
        const WANTED: Package = ("@stoplight/prism-cli", "5.16.0");
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_in(dir.path(), &WANTED));
        let package = dir.path().join("node_modules").join(WANTED.0);
        fs::create_dir_all(&package).unwrap();
        for (version, there) in [("5.15.0", false), (WANTED.1, true)] {
            let manifest = json!({"name": WANTED.0, "version": version}).to_string();
            fs::write(package.join("package.json"), manifest).unwrap();
            assert_eq!(is_in(dir.path(), &WANTED), there, "{version}");
        }
    }
}
