//! `cargo xtask soak` and `cargo xtask hostile`: tests of the suite that run for as long as one likes.

use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::interrupt::Interrupt;
use crate::test;

/// The runner ends what takes longer (`profile.soak` in `.config/nextest.toml`).
const LONGEST_MINUTES: u64 = 60;

/// A test that takes its time and its seed from the environment.
pub struct Endurance {
    /// The command, and with `CARSON_` before it the variables.
    pub name: &'static str,
    /// Which tests of the suite these are.
    pub tests: &'static [&'static str],
    /// Variables that make them larger than the suite does.
    pub larger: &'static [(&'static str, &'static str)],
}

/// Kills everything at random.
pub const SOAK: Endurance = Endurance {
    name: "soak",
    tests: &["soak::"],
    larger: &[],
};

/// Sessions that leave what nobody would make by accident.
pub const HOSTILE: Endurance = Endurance {
    name: "hostile",
    tests: &["hostile::generated::", "hostile::bounds::a_flood_"],
    larger: &[("CARSON_HOSTILE_FLOOD_MB", "1024")],
};

/// Runs it; `args` are `--minutes N` and `--seed N`.
///
/// # Errors
/// When an argument is not understood, or the test cannot be run.
pub fn run(interrupt: &Interrupt, what: &Endurance, args: &[&str]) -> anyhow::Result<ExitCode> {
    let (mut minutes, mut seed) = (10, 7);
    let mut args = args.iter();
    while let Some(name) = args.next() {
        let value = args
            .next()
            .with_context(|| format!("{name} needs a number"))?;
        let number = value.parse().with_context(|| format!("{name} {value}"))?;
        match *name {
            "--minutes" if (1..=LONGEST_MINUTES).contains(&number) => minutes = number,
            "--minutes" => bail!("--minutes takes 1 to {LONGEST_MINUTES}"),
            "--seed" => seed = number,
            _ => bail!("{} takes --minutes N and --seed N, not {name}", what.name),
        }
    }
    let chosen = ["--profile", "soak", "--test", "suite", "--no-capture"];
    let variable = |of| format!("CARSON_{}_{of}", what.name.to_uppercase());
    let env = [
        (variable("SECONDS"), (minutes * 60).to_string()),
        (variable("SEED"), seed.to_string()),
    ];
    let larger = what.larger.iter();
    let env: Vec<(&str, String)> = env
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()))
        .chain(larger.map(|&(name, value)| (name, value.to_owned())))
        .collect();
    test::run(interrupt, &[&chosen[..], what.tests].concat(), &env)
}
