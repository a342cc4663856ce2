//! `cargo xtask bench`: speed and memory as figures, beside peers that run on the same machine.
//!
//! Nothing here fails because it is slow: the figures are for people. What is measured is the
//! release binary, through the same commands that an operator types.

mod agent;
mod disk;
mod egress;
mod firing;
mod fleet;
mod hook;
mod idle;
mod lateness;
mod looping;
mod memory;
mod no_work;
mod peer;
mod sample;
mod samples;
mod sandbox;
mod scale;
mod scene;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::Context;

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, cargo, root};

/// The hook is built for its size.
const HOOK: [&str; 6] = [
    "build",
    "--profile",
    "hook",
    "--locked",
    "--package",
    "carson-hook",
];

/// One row of the report.
pub struct Figure {
    /// What was measured.
    pub what: &'static str,
    /// Its figures.
    pub got: String,
    /// What we mean to hold.
    pub target: &'static str,
    /// The peer's figures, and how many times ours they are.
    pub beside: String,
}

/// Measures everything and prints the table. With `cold`, a release build from nothing too.
///
/// # Errors
/// When something cannot be built, started or read.
pub fn run(interrupt: &Interrupt, cold: bool) -> anyhow::Result<ExitCode> {
    let mut figures = Vec::new();
    if cold {
        figures.push(cold_build(interrupt)?);
    }
    let carson = installed(interrupt)?;
    let cache = Cache::open()?;
    let peer = peer::Scheduler::ensure(interrupt, &cache)?;
    drop(cache);
    println!("bench: firings without work");
    figures.extend(no_work::measure(&carson)?);
    println!("bench: an idle daemon (2 minutes)");
    figures.extend(idle::measure(interrupt, &carson)?);
    for herd in [lateness::Herd::Spread, lateness::Herd::Together] {
        println!("bench: 100 roles, {herd} (2 minutes)");
        figures.extend(lateness::measure(interrupt, &carson, &peer, herd)?);
    }
    print(&figures);
    Ok(ExitCode::SUCCESS)
}

/// Builds what people install, with the programs beside `carson` that it starts: without them it is those itself, and
/// slower.
fn installed(interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let build = ["build", "--release", "--locked", "--bins", "--package"];
    interrupt.must(
        cargo()
            .args(build)
            .args(["carson-cli", "--package", "carson-proc"]),
    )?;
    interrupt.must(cargo().args(HOOK))?;
    let release = root().join("target/release");
    fs::copy(
        root().join("target/hook/carson-hook"),
        release.join("carson-hook"),
    )?;
    Ok(release.join("carson"))
}

/// Measures the hook alone, built as the README installs it.
///
/// # Errors
/// When it cannot be built or started.
pub fn run_hook(interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    interrupt.must(cargo().args(HOOK))?;
    print(&hook::measure(&root().join("target/hook/carson-hook"))?);
    Ok(ExitCode::SUCCESS)
}

/// Measures `carson-agent` beside a Python loop, built as the README installs it.
///
/// # Errors
/// When it cannot be built or started.
pub fn run_agent(interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    let build = ["build", "--release", "--locked", "--bins", "--package"];
    interrupt.must(
        cargo()
            .args(build)
            .args(["carson-proc", "--package", "carson-agent"]),
    )?;
    print(&agent::measure(
        &root().join("target/release/carson-agent"),
    )?);
    Ok(ExitCode::SUCCESS)
}

/// Measures an attempt of `carson loop` beside the same loop in bash.
///
/// # Errors
/// When it cannot be built or started.
pub fn run_loop(interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    print(&looping::measure(&installed(interrupt)?)?);
    Ok(ExitCode::SUCCESS)
}

/// Measures the egress proxy beside tinyproxy.
///
/// # Errors
/// When one of them cannot be built or started.
pub fn run_egress(interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    crate::debian::ensure_peers(interrupt)?;
    let build = [
        "build",
        "--release",
        "--locked",
        "--package",
        "carson-egress",
    ];
    interrupt.must(cargo().args(build).args(["--example", "egress_proxy"]))?;
    let ours = root().join("target/release/examples/egress_proxy");
    print(&egress::measure(&ours)?);
    Ok(ExitCode::SUCCESS)
}

/// Measures the sandbox alone.
///
/// # Errors
/// When it cannot be built or started.
pub fn run_sandbox(interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    crate::debian::ensure_peers(interrupt)?;
    interrupt.must(cargo().args(["build", "--release", "--locked", "--package", "carson-proc"]))?;
    print(&sandbox::measure(
        &root().join("target/release/carson-launch"),
    )?);
    Ok(ExitCode::SUCCESS)
}

/// Measures whole firings, of the release build or of another `carson`: one that was built before a
/// change, say.
///
/// # Errors
/// When something cannot be built or started, or a firing did not end OK.
pub fn run_firing(interrupt: &Interrupt, other: Option<&str>) -> anyhow::Result<ExitCode> {
    let carson = match other {
        Some(other) => PathBuf::from(other),
        None => installed(interrupt)?,
    };
    print(&firing::measure(&carson)?);
    Ok(ExitCode::SUCCESS)
}

/// Measures how soon a firing in a sample of each language has its first test result.
///
/// # Errors
/// When something cannot be built or started, a registry not be reached, or a firing did not end OK.
pub fn run_samples(interrupt: &Interrupt, other: Option<&str>) -> anyhow::Result<ExitCode> {
    let carson = match other {
        Some(other) => PathBuf::from(other),
        None => installed(interrupt)?,
    };
    print(&samples::measure(&carson)?);
    Ok(ExitCode::SUCCESS)
}

/// Measures what grows with the fleet. Fails where something was lost or done twice.
///
/// # Errors
/// When something cannot be built, started or read.
pub fn run_scale(interrupt: &Interrupt, args: &[&str]) -> anyhow::Result<ExitCode> {
    let options = scale::Options::read(args)?;
    let carson = match &options.carson {
        Some(other) => other.clone(),
        None => installed(interrupt)?,
    };
    let measured = scale::measure(interrupt, &carson, &options)?;
    print(&measured.figures);
    for wrong in &measured.wrong {
        println!("WRONG: {wrong}");
    }
    Ok(match measured.wrong.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Measures how well and how fast lessons are found: it prints its figures itself.
///
/// # Errors
/// When something cannot be installed, built or started.
pub fn run_memory(interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    memory::run(interrupt)?;
    Ok(ExitCode::SUCCESS)
}

/// Measures redaction alone: it prints its figures itself.
///
/// # Errors
/// When it cannot be built or started.
pub fn run_redact(interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    let example = ["run", "--release", "--locked", "--package", "carson-redact"];
    interrupt.must(cargo().args(example).args(["--example", "speed"]))?;
    Ok(ExitCode::SUCCESS)
}

/// `cargo build --release` with every dependency already downloaded and nothing built.
fn cold_build(interrupt: &Interrupt) -> anyhow::Result<Figure> {
    println!("bench: a cold release build");
    interrupt.must(cargo().args(["fetch", "--locked"]))?;
    let target = tempdir("carson-bench-build")?;
    let started = Instant::now();
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--target-dir"]);
    interrupt.must(build.arg(&target))?;
    let took = started.elapsed();
    std::fs::remove_dir_all(&target).with_context(|| format!("removing {}", target.display()))?;
    Ok(Figure {
        what: "cold cargo build --release",
        got: format!("{} s", took.as_secs()),
        target: "< 360 s on 2 cores",
        beside: String::new(),
    })
}

/// An empty directory under the system's temporary one.
pub(crate) fn tempdir(name: &str) -> anyhow::Result<PathBuf> {
    let dir = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    std::fs::create_dir_all(&dir)?;
    Ok(dir)
}

fn print(figures: &[Figure]) {
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\n| what | measured | target | peer beside it |\n|---|---|---|---|");
    for figure in figures {
        let Figure {
            what,
            got,
            target,
            beside,
        } = figure;
        println!("| {what} | {got} | {target} | {beside} |");
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("\n{cpus} cores; load at the end: {}", load.trim());
}

/// Runs a command that must succeed, and gives its output.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let done = command.output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    anyhow::ensure!(done.status.success(), "{command:?}: {said}");
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
