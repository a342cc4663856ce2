//! Where things are.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

/// The root of the checkout.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The cargo that runs us, from the root of the checkout. What cargo told us of our own package is not told
/// on: build scripts that watch those variables would be run anew, and half of the crates be built again.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    let ours = env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    });
    for name in ours {
        command.env_remove(name);
    }
    command
}

/// A program as an operator's shell starts it: without the directories of libraries that cargo adds for whom it runs. Every
/// dynamic program looks there first, git among them, and a firing starts thirty.
pub fn outside_cargo(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("LD_LIBRARY_PATH");
    command
}

/// Where downloads are kept between runs, held by one run at a time.
#[derive(Debug)]
pub struct Cache {
    dir: PathBuf,
    _lock: File,
}

impl Cache {
    /// Takes the cache. Waits for another run in this checkout that is setting up.
    ///
    /// # Errors
    /// When the directory cannot be made or locked.
    pub fn open() -> anyhow::Result<Self> {
        let dir = match env::var_os("CARSON_TEST_CACHE") {
            Some(dir) => std::path::absolute(dir)?,
            None => root().join(".cache"),
        };
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let path = dir.join("lock");
        let lock =
            File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        lock.lock()
            .with_context(|| format!("cannot lock {}", path.display()))?;
        Ok(Self { dir, _lock: lock })
    }

    /// A directory inside the cache, made if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn dir(&self, name: &str) -> anyhow::Result<PathBuf> {
        let dir = self.dir.join(name);
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(dir)
    }
}

/// What a program prints, trimmed; `None` when it is not there or fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// Whether a program of this name is on `PATH`.
pub fn on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|dir| dir.join(program).is_file())
}
