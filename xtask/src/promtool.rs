//! promtool, which reads what Prometheus would: of Debian's package, without the server that it would start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, on_path, output};

/// The variable that tells the tests which program it is.
pub const VARIABLE: &str = "CARSON_TEST_PROMTOOL";

/// What Debian calls the package.
const PACKAGE: &str = "prometheus";

/// The machine's own, or else the cache's, which is unpacked there where it has none.
///
/// # Errors
/// When the package cannot be fetched or has none.
pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<PathBuf> {
    if on_path("promtool") {
        return Ok("promtool".into());
    }
    let dir = cache.dir("promtool")?;
    let program = dir.join("usr/bin/promtool");
    if !is_there(&program) {
        ensure!(
            on_path("apt-get"),
            "the tests need promtool, and this machine has no apt-get to fetch it with"
        );
        println!("xtask: unpacking promtool into {}", dir.display());
        // Where nothing was installed there may be no lists yet; who may not make them may still have some.
        interrupt.run(Command::new("apt-get").args(["update", "--quiet"]))?;
        let mut fetch = Command::new("apt-get");
        interrupt.must(
            fetch
                .args(["download", "--quiet", PACKAGE])
                .current_dir(&dir),
        )?;
        let package = fetched(&dir)?;
        let mut unpack = Command::new("dpkg-deb");
        interrupt.must(unpack.arg("-x").arg(&package).arg(&dir))?;
        fs::remove_file(&package)?;
    }
    ensure!(
        is_there(&program),
        "{} is not promtool: remove {} and try again",
        program.display(),
        dir.display()
    );
    Ok(program)
}

fn fetched(dir: &Path) -> anyhow::Result<PathBuf> {
    let files = fs::read_dir(dir)?.flatten().map(|entry| entry.path());
    let mut packages = files.filter(|path| path.extension().is_some_and(|end| end == "deb"));
    packages.next().context("apt-get left no package")
}

fn is_there(program: &Path) -> bool {
    output(Command::new(program).arg("--version")).is_some()
}
