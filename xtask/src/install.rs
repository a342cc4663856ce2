//! Every program of the product, installed beside each other: `carson` looks for the others there.

use std::process::ExitCode;

use crate::interrupt::{self, Interrupt};
use crate::workspace::cargo;

/// A package with programs, and the profile that it is built with.
pub type Package = (&'static str, &'static str);

/// The hook is built for size.
pub const HOOK: Package = ("hooks/pre-tool-use", "hook");
/// `carson-agent`.
pub const AGENT: Package = ("crates/carson-agent", "release");
/// The launcher.
pub const LAUNCHER: Package = ("crates/carson-proc", "release");
/// `carson`, and the inspector.
pub const CARSON: Package = ("crates/carson-cli", "release");

const PACKAGES: [Package; 4] = [HOOK, AGENT, LAUNCHER, CARSON];

/// Installs them; `args` go to each `cargo install`. `carson` comes last: whoever sees it has all.
///
/// # Errors
/// When one cannot be installed.
pub fn run(interrupt: &Interrupt, args: &[&str]) -> anyhow::Result<ExitCode> {
    for (path, profile) in PACKAGES {
        let mut install = cargo();
        install.args(["install", "--locked", "--profile", profile, "--path", path]);
        interrupt.must(install.args(args))?;
    }
    Ok(interrupt::exit_code(std::process::ExitStatus::default()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workspace::root;

    #[test]
    fn every_program_of_the_product_is_installed() {
        let mut programs = Vec::new();
        for group in ["crates", "hooks"] {
            for package in fs::read_dir(root().join(group)).unwrap() {
                let dir = package.unwrap().path();
                let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap_or_default();
                if dir.join("src/main.rs").is_file()
                    || dir.join("src/bin").is_dir()
                    || manifest.contains("[[bin]]")
                {
                    let dir = dir.strip_prefix(root()).unwrap();
                    programs.push(dir.to_string_lossy().into_owned());
                }
            }
        }
        programs.sort();
        let mut installed = PACKAGES.map(|(path, _)| path.to_owned());
        installed.sort();
        assert_eq!(programs, installed);
    }
}
