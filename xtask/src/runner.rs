//! The test runner: cargo-nextest, or `cargo test` where it cannot be had.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::interrupt::{Interrupt, Interrupted};
use crate::workspace::{Cache, cargo, output};

/// Known to build with the toolchain that this repository pins.
const NEXTEST: &str = "0.9.143";

/// How the tests are run.
#[derive(Debug)]
pub enum Runner {
    /// `cargo nextest`, installed on the machine.
    Nextest,
    /// Our own copy of it, in the cache.
    CachedNextest(PathBuf),
    /// `cargo test`.
    CargoTest,
}

impl Runner {
    /// Finds cargo-nextest, or installs it into the cache.
    ///
    /// # Errors
    /// With [`Interrupted`] when we were told to stop.
    pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<Self> {
        if output(cargo().args(["nextest", "--version"])).is_some() {
            return Ok(Self::Nextest);
        }
        let root = cache.dir("cargo")?;
        let binary = root.join("bin/cargo-nextest");
        let cached = |binary: &PathBuf| {
            output(Command::new(binary).args(["nextest", "--version"])).is_some()
        };
        if !cached(&binary) {
            println!(
                "xtask: installing cargo-nextest {NEXTEST} into {}",
                root.display()
            );
            // The runner itself does little, and a debug build takes a third of the time.
            let mut install = cargo();
            install.args(["install", "cargo-nextest", "--locked", "--debug"]);
            install.args(["--version", NEXTEST, "--root"]).arg(&root);
            if let Err(error) = interrupt.must(&mut install) {
                if error.is::<Interrupted>() {
                    return Err(error);
                }
                eprintln!("xtask: cargo-nextest cannot be installed ({error:#}): using cargo test");
                return Ok(Self::CargoTest);
            }
        }
        Ok(Self::CachedNextest(binary))
    }

    /// `cargo nextest ARGS` in the checkout; `None` where there is no nextest.
    pub fn nextest(&self, args: &[&str]) -> Option<Command> {
        let mut command = match self {
            Self::Nextest => cargo(),
            Self::CachedNextest(binary) => {
                let mut command = Command::new(binary);
                command.current_dir(crate::workspace::root());
                command
            }
            Self::CargoTest => return None,
        };
        command.arg("nextest").args(args);
        Some(command)
    }

    /// The command that runs all tests, or those that the arguments choose.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = match self.nextest(&["run"]) {
            Some(mut nextest) => {
                // Whoever names another one has a reason.
                if !args.contains(&"--profile") {
                    nextest.args(profile());
                }
                nextest
            }
            None => {
                let mut plain = cargo();
                plain.args(["test", "--no-fail-fast"]);
                plain
            }
        };
        if !chooses_packages(args) {
            command.arg("--workspace");
        }
        command.args(args);
        command
    }

    /// Whether it writes down how long each test took.
    pub fn tells_times(&self) -> bool {
        !matches!(self, Self::CargoTest)
    }
}

/// `.config/nextest.toml` says what is different on a machine that nobody watches.
pub fn profile() -> &'static [&'static str] {
    let ci = env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
    if ci { &["--profile", "ci"] } else { &[] }
}

fn chooses_packages(args: &[&str]) -> bool {
    args.iter()
        .any(|arg| arg.starts_with("-p") || arg.starts_with("--package"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<&str> {
        command
            .get_args()
            .map(|arg| arg.to_str().unwrap())
            .collect()
    }

    #[test]
    fn all_packages_are_tested_unless_some_are_chosen() {
        let all = Runner::Nextest.command(&["-E", "test(salvage)"]);
        assert!(words(&all).contains(&"--workspace"));
        for chosen in [
            &["-p", "carson-core"][..],
            &["-pcarson-core"],
            &["--package=carson-core"],
        ] {
            let some = Runner::Nextest.command(chosen);
            assert!(!words(&some).contains(&"--workspace"), "{chosen:?}");
        }
    }

    #[test]
    fn without_nextest_cargo_runs_the_same_tests() {
        let command = Runner::CargoTest.command(&[]);
        assert_eq!(words(&command), ["test", "--no-fail-fast", "--workspace"]);
    }
}
