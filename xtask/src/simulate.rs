//! `cargo xtask simulate`: what bounds a fleet that is larger than any machine at hand.
//!
//! # Theory of operation
//! Two small models of queues, one of a host ([`host`]) and one of a database ([`database`]), are fed with constants
//! that were measured ([`points`]). They are first held against what was measured of the whole ([`points`] prints
//! measured, simulated and their ratio, and a test keeps each ratio within a stated factor), and only then asked about
//! fleets of 10, 1,000 and 100,000 roles ([`fleet`]). What nobody measured is an assumption, and is printed as one.
//!
//! Nothing is read of this machine: the same seed gives the same tables everywhere.

mod database;
mod fleet;
mod host;
mod points;
pub mod random;

use std::process::ExitCode;

use anyhow::{Context as _, bail};

/// Prints both tables; `args` are `--seed N`.
///
/// # Errors
/// When an argument is not understood.
pub fn run(args: &[&str]) -> anyhow::Result<ExitCode> {
    let seed = match args {
        [] => 21,
        ["--seed", seed] => seed.parse().with_context(|| format!("--seed {seed}"))?,
        _ => bail!("simulate takes --seed N, not {args:?}"),
    };
    println!("Held against what was measured (seed {seed}):\n");
    println!(
        "| what | measured | simulated | ratio | within | source |\n|---|---|---|---|---|---|"
    );
    for point in points::all() {
        println!("{point}");
    }
    println!("\nAssumed, not measured: {}\n", fleet::ASSUMED);
    println!(
        "| roles | bound first by | hosts | accounts | tokens of forges | databases | readers | firings a second | \
         late, spread over the hour: p50, p99 | late, all at the full hour: p50, p99 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for roles in [10, 1_000, 100_000] {
        println!("{}", fleet::Answer::of(roles, seed));
    }
    Ok(ExitCode::SUCCESS)
}
