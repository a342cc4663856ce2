//! `cargo xtask soak`: the suite's soak test for as long as one likes.

use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::interrupt::Interrupt;
use crate::test;

/// The runner ends what takes longer (`profile.soak` in `.config/nextest.toml`).
const LONGEST_MINUTES: u64 = 60;

/// Runs it; `args` are `--minutes N` and `--seed N`.
///
/// # Errors
/// When an argument is not understood, or the test cannot be run.
pub fn run(interrupt: &Interrupt, args: &[&str]) -> anyhow::Result<ExitCode> {
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
            _ => bail!("soak takes --minutes N and --seed N, not {name}"),
        }
    }
    let chosen = ["--profile", "soak", "--test", "suite", "--no-capture"];
    let env = [
        ("CARSON_SOAK_SECONDS", (minutes * 60).to_string()),
        ("CARSON_SOAK_SEED", seed.to_string()),
    ];
    test::run(interrupt, &[&chosen[..], &["soak::"]].concat(), &env)
}
