//! What grows with the fleet: rows, roles that are due together, firings at once, benches that nobody needs, claims, hosts.

mod admission;
mod claims;
mod hosts;
mod prune;
mod reads;
mod together;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use super::{Figure, output};
use crate::interrupt::Interrupt;

/// What is measured of what.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// Another `carson` than the release build.
    pub carson: Option<PathBuf>,
    /// How many benches are pruned.
    benches: u32,
    /// How long hosts are killed.
    minutes: u64,
    /// In which order.
    seed: u64,
    /// Only this part.
    only: Option<String>,
}

/// What was measured, and what must not be and was found.
#[derive(Default)]
pub struct Measured {
    /// For the table.
    pub figures: Vec<Figure>,
    /// What and where.
    pub wrong: Vec<String>,
}

const PARTS: [&str; 6] = ["reads", "admission", "together", "prune", "claims", "hosts"];

impl Options {
    /// `--carson FILE`, `--benches N`, `--minutes N`, `--seed N`, `--only PART`.
    ///
    /// # Errors
    /// When an argument is not understood.
    pub fn read(args: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self {
            carson: None,
            benches: 10_000,
            minutes: 10,
            seed: 7,
            only: None,
        };
        let mut args = args.iter();
        while let Some(name) = args.next() {
            let value = *args
                .next()
                .with_context(|| format!("{name} needs a value"))?;
            match *name {
                "--carson" => options.carson = Some(value.into()),
                "--benches" => {
                    options.benches = value.parse().with_context(|| format!("{name} {value}"))?;
                }
                "--minutes" => {
                    options.minutes = value.parse().with_context(|| format!("{name} {value}"))?;
                }
                "--seed" => {
                    options.seed = value.parse().with_context(|| format!("{name} {value}"))?;
                }
                "--only" if PARTS.contains(&value) => options.only = Some(value.to_owned()),
                "--only" => bail!("the parts are {PARTS:?}, not {value}"),
                _ => bail!(
                    "bench scale takes --carson FILE, --benches N, --minutes N, --seed N and --only PART, not {name}"
                ),
            }
        }
        Ok(options)
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }
}

/// Measures all, or what is asked for.
///
/// # Errors
/// When something cannot be started or read.
pub fn measure(
    interrupt: &Interrupt,
    carson: &Path,
    options: &Options,
) -> anyhow::Result<Measured> {
    let mut figures = Vec::new();
    let mut wrong = Vec::new();
    if options.wants("reads") {
        println!("bench: questions to 100,000 firings");
        figures.extend(reads::measure(carson)?);
    }
    if options.wants("admission") {
        println!("bench: admission of 1,000 roles");
        figures.extend(admission::measure(carson)?);
    }
    if options.wants("together") {
        println!("bench: 1,000 roles, 200 firings at once (some minutes)");
        figures.extend(together::measure(carson)?);
    }
    if options.wants("prune") {
        println!("bench: {} orphan benches (some minutes)", options.benches);
        figures.push(prune::measure(carson, options.benches)?);
    }
    if options.wants("claims") {
        println!("bench: claims on PostgreSQL");
        figures.extend(claims::measure(interrupt)?);
    }
    if options.wants("hosts") {
        let Options { minutes, seed, .. } = *options;
        println!(
            "bench: 3 hosts that are killed at random (seed {seed}, {minutes} minutes and some more)"
        );
        let mut hosts = hosts::measure(interrupt, carson, minutes, seed)?;
        figures.append(&mut hosts.figures);
        wrong.append(&mut hosts.wrong);
    }
    Ok(Measured { figures, wrong })
}

/// Runs a Python program with only the standard library: it fills databases, and reads them.
fn python(program: &str, args: &[&Path]) -> anyhow::Result<String> {
    let mut python = Command::new("/usr/bin/python3");
    output(python.args(["-S", "-c", program]).args(args))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_not_there_is_refused() {
        let all = Options::read(&[]).unwrap();
        assert!(PARTS.iter().all(|part| all.wants(part)));
        let one = Options::read(&["--only", "claims", "--benches", "7"]).unwrap();
        assert!(one.wants("claims") && !one.wants("prune"));
        assert_eq!(one.benches, 7);
        assert!(Options::read(&["--only", "nothing"]).is_err());
        assert!(Options::read(&["--benches"]).is_err());
    }
}
