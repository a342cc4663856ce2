//! Programs for developers that cargo builds into the cache.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, cargo, output};

/// One of them.
pub struct CargoTool {
    /// Its package, and its program.
    pub name: &'static str,
    /// Known to build with the toolchain that this repository pins.
    pub version: &'static str,
    /// What it is asked for its version with.
    pub asks: &'static [&'static str],
    /// What it is built with beside that.
    pub args: &'static [&'static str],
}

impl CargoTool {
    /// Its program, which is built where the cache has none of this version.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn ensure(&self, interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<PathBuf> {
        let root = cache.dir("cargo")?;
        let program = root.join("bin").join(self.name);
        if !self.is_there(&program) {
            let (name, version) = (self.name, self.version);
            println!("xtask: installing {name} {version} into {}", root.display());
            // They do little, and a debug build takes a third of the time.
            let mut install = cargo();
            install.args(["install", name, "--locked", "--debug", "--force"]);
            install.args(["--version", version]).args(self.args);
            interrupt.must(install.arg("--root").arg(&root))?;
        }
        Ok(program)
    }

    /// `cargo-nextest 0.9.143 (…)`, `cargo-deny 0.20.2`.
    fn is_there(&self, program: &Path) -> bool {
        let said = output(Command::new(program).args(self.asks));
        said.is_some_and(|said| said.split([' ', '\n']).any(|word| word == self.version))
    }
}
