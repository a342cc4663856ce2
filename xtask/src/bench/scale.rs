//! What grows with the fleet: rows, roles that are due together, benches that nobody needs.

mod admission;
mod prune;
mod reads;

use std::path::Path;
use std::process::Command;

use super::{Figure, output};

/// Measures all three.
///
/// # Errors
/// When something cannot be started or read.
pub fn measure(carson: &Path) -> anyhow::Result<Vec<Figure>> {
    println!("bench: questions to 100,000 firings");
    let mut figures = reads::measure(carson)?;
    println!("bench: admission of 1,000 roles");
    figures.extend(admission::measure(carson)?);
    println!("bench: 1,000 orphan benches");
    figures.extend(prune::measure(carson)?);
    Ok(figures)
}

/// Runs a Python program with only the standard library: it fills databases.
fn python(program: &str, args: &[&Path]) -> anyhow::Result<String> {
    let mut python = Command::new("/usr/bin/python3");
    output(python.args(["-S", "-c", program]).args(args))
}
