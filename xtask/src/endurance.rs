//! `cargo xtask soak`, `hostile` and `week`: tests of the suite that are larger here.

use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::interrupt::Interrupt;
use crate::test;

/// The runner ends what takes longer (`profile.soak` in `.config/nextest.toml`).
const LONGEST_MINUTES: u64 = 60;

/// A test that takes its size and its seed from the environment.
pub struct Endurance {
    /// The command, and with `CARSON_` before it the variables.
    pub name: &'static str,
    /// Which tests of the suite these are.
    pub tests: &'static [&'static str],
    /// Whether they run for as long as they are told.
    pub timed: bool,
    /// Variables that make them larger than the suite does.
    pub larger: &'static [(&'static str, &'static str)],
}

/// Kills everything at random.
pub const SOAK: Endurance = Endurance {
    name: "soak",
    tests: &["soak::"],
    timed: true,
    larger: &[],
};

/// Sessions that leave what nobody would make by accident.
pub const HOSTILE: Endurance = Endurance {
    name: "hostile",
    tests: &["hostile::generated::", "hostile::bounds::a_flood_"],
    timed: true,
    larger: &[("CARSON_HOSTILE_FLOOD_MB", "1024")],
};

/// A household's week, hour by hour, in which everything fails once.
pub const WEEK: Endurance = Endurance {
    name: "week",
    tests: &["week::"],
    timed: false,
    larger: &[("CARSON_WEEK_HOURS", "168")],
};

/// Runs it; `args` are `--seed N` and, where it is timed, `--minutes N`.
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
            "--seed" => seed = number,
            "--minutes" if !what.timed => bail!("{} takes the time it takes", what.name),
            "--minutes" if (1..=LONGEST_MINUTES).contains(&number) => minutes = number,
            "--minutes" => bail!("--minutes takes 1 to {LONGEST_MINUTES}"),
            _ => bail!("{} takes --seed N and --minutes N, not {name}", what.name),
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
