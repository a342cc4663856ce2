//! The tests of what holds a hostile agent, once more as an ordinary user.
//!
//! Where root runs the tests, a user without rights does not reach the build: the checkout may lie
//! where only root can look. So this user gets a directory of its own with the binaries, laid out
//! as the build's, and the test runner, which stays who it is, starts each test as that user.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, ensure};
use nix::unistd::geteuid;

use crate::agents::Agents;
use crate::interrupt::Interrupt;
use crate::runner::{Runner, profile};
use crate::workspace::{cargo, root};

/// `nobody`: a user without a home, a name that matters, or rights.
const USER: u32 = 65_534;

/// Not the temporary directory that the environment names, which may be root's alone.
const PARENT: &str = "/tmp";

/// What is different for who is not root: the walls, and what is looked for behind them. The
/// package managers may be installed where only root can look, and a gigabyte is as long for all.
const TESTS: &str = "binary_id(carson-tests::suite) & test(/^(hostile|sandbox|egress)::/) \
                     - test(/^egress::packages::/) - test(/a_flood_of_output/)";

/// The binaries that the suite runs.
const BINARIES: [&str; 5] = [
    "carson",
    "carson-hook",
    "carson-inspect",
    "carson-launch",
    "hostile",
];

/// Whether there is anybody else to be.
pub fn applies() -> bool {
    cfg!(target_os = "linux") && geteuid().is_root()
}

/// Runs the tests that `args` choose, or those of [`TESTS`]; they are built already.
///
/// # Errors
/// When the binaries cannot be put into their place, or the runner not be started.
pub fn run(
    interrupt: &Interrupt,
    runner: &Runner,
    agents: &Agents,
    args: &[&str],
) -> anyhow::Result<ExitStatus> {
    let (Some(mut list), Some(mut tests)) = (runner.nextest(&LIST), runner.nextest(&["run"]))
    else {
        println!("xtask: without cargo-nextest, nothing is tested as an ordinary user");
        return Ok(ExitStatus::default());
    };
    println!("xtask: the walls once more, as an ordinary user (uid {USER})");
    let place = Place::new()?;
    let binaries = output(&mut list)?;
    place.fill(&binaries)?;
    let metadata = output(cargo().args(["metadata", "--format-version=1"]))?;
    tests.args(profile());
    for (option, file, text) in [
        ("--cargo-metadata", "cargo.json", &metadata),
        ("--binaries-metadata", "binaries.json", &binaries),
    ] {
        let file = place.dir.join(file);
        fs::write(&file, text)?;
        tests.arg(option).arg(file);
    }
    let config = root().join(".config/nextest.toml");
    tests.arg("--config-file").arg(config);
    tests.arg("--target-dir-remap").arg(place.target());
    tests.arg("--workspace-remap").arg(place.workspace());
    let own = if args.is_empty() {
        &["-E", TESTS][..]
    } else {
        args
    };
    tests.args(own);
    tests.env(runner_variable(&binaries)?, SETPRIV);
    interrupt.run(place.settle(&mut tests, agents)?)
}

/// How the test runner is asked what it runs.
const LIST: [&str; 4] = [
    "list",
    "--workspace",
    "--list-type=binaries-only",
    "--message-format=json",
];

/// How each test becomes that user.
const SETPRIV: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --";

/// `CARGO_TARGET_<triple>_RUNNER`, for the triple that was built for.
fn runner_variable(binaries: &str) -> anyhow::Result<String> {
    let known: serde_json::Value = serde_json::from_str(binaries)?;
    let triple = known["rust-build-meta"]["platforms"]["host"]["platform"]["triple"]
        .as_str()
        .context("the test runner does not say what it built for")?;
    let triple = triple.replace('-', "_").to_uppercase();
    Ok(format!("CARGO_TARGET_{triple}_RUNNER"))
}

/// What the ordinary user can reach; goes with its content.
struct Place {
    dir: PathBuf,
}

impl Place {
    fn new() -> anyhow::Result<Self> {
        let name = format!("carson-test-ordinary-{}", std::process::id());
        let place = Self {
            dir: Path::new(PARENT).join(name),
        };
        for dir in [
            place.dir.clone(),
            place.target().join("debug/deps"),
            place.target().join("debug"),
            place.workspace().join("tests"),
            place.home(),
        ] {
            fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
            fs::set_permissions(&dir, fs::Permissions::from_mode(0o755))?;
            chown(&dir, Some(USER), Some(USER))?;
        }
        // The runner looks whether it is a workspace.
        let manifest = place.workspace().join("Cargo.toml");
        fs::copy(root().join("Cargo.toml"), manifest).context("cannot copy Cargo.toml")?;
        Ok(place)
    }

    fn target(&self) -> PathBuf {
        self.dir.join("target")
    }

    fn workspace(&self) -> PathBuf {
        self.dir.join("workspace")
    }

    fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    /// Puts the binaries where this user can run them.
    fn fill(&self, binaries: &str) -> anyhow::Result<()> {
        let known: serde_json::Value = serde_json::from_str(binaries)?;
        let suite = known["rust-binaries"]["carson-tests::suite"]["binary-path"]
            .as_str()
            .context("the test runner does not know carson-tests::suite")?;
        let suite = PathBuf::from(suite);
        let built = suite.parent().and_then(Path::parent);
        let built = built.context("the suite lies in no build")?;
        let mine = self.target().join("debug");
        for name in BINARIES {
            // Copies: tests give binaries of their own a second name, which a user may do with
            // what is its own.
            let copy = mine.join(name);
            fs::copy(built.join(name), &copy).with_context(|| format!("cannot copy {name}"))?;
            chown(&copy, Some(USER), Some(USER))?;
        }
        let name = suite.file_name().unwrap_or_default();
        second_name(&suite, &mine.join("deps").join(name))
    }

    /// Its environment: its own home, and a Claude Code that it can read.
    fn settle<'c>(
        &self,
        command: &'c mut Command,
        agents: &Agents,
    ) -> anyhow::Result<&'c mut Command> {
        let claude = self.dir.join("claude");
        second_name(&agents.claude().canonicalize()?, &claude)?;
        Ok(command
            .current_dir(self.workspace())
            .env("HOME", self.home())
            .env("USER", "nobody")
            .env("LOGNAME", "nobody")
            .env("CARSON_TEST_CLAUDE", claude)
            .env_remove("TMPDIR")
            .env_remove("XDG_RUNTIME_DIR"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A second name costs nothing; elsewhere than on the same disk it is a copy.
fn second_name(file: &Path, name: &Path) -> anyhow::Result<()> {
    if fs::hard_link(file, name).is_err() {
        fs::copy(file, name).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(())
}

/// What a program prints, which must succeed; what it says beside is shown.
fn output(command: &mut Command) -> anyhow::Result<String> {
    let done = command.stderr(Stdio::inherit()).output();
    let done = done.with_context(|| format!("cannot run {command:?}"))?;
    ensure!(
        done.status.success(),
        "failed ({}): {command:?}",
        done.status
    );
    Ok(String::from_utf8(done.stdout)?)
}
