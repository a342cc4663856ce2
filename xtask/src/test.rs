//! `cargo xtask test`: set up, build, run, clean up.

use std::process::{Command, ExitCode, ExitStatus};

use anyhow::ensure;

use crate::agents::{self, Age};
use crate::interrupt::{self, Interrupt};
use crate::memory_dir::MemoryDir;
use crate::postgres::Postgres;
use crate::runner::Runner;
use crate::workspace::{Cache, cargo};
use crate::{
    browser, debian, github, mcp_sdk, ordinary, packagers, pgvector, promtool, seed, slowest,
};

/// What is built before any test runs.
const BUILD: [&str; 3] = ["build", "--workspace", "--all-targets"];

/// What is run on both kinds of workspaces; the others run on layers.
const COPIES: [&str; 2] = [
    "-E",
    "test(/^hostile::(walls|leavings|lookers|judges|repository)::/) + test(/^faults::place::/)",
];

/// Runs every test, or those that `args` choose, with these variables beside the usual ones. The
/// exit code is that of the test runner.
///
/// # Errors
/// When something the tests need is missing and cannot be installed, or does not start.
pub fn run(
    interrupt: &Interrupt,
    args: &[&str],
    env: &[(&str, String)],
) -> anyhow::Result<ExitCode> {
    let cache = Cache::open()?;
    debian::ensure(interrupt)?;
    let agents = agents::ensure(interrupt, &cache, Age::Newest)?;
    let github = github::ensure(interrupt, &cache)?;
    let packagers = packagers::ensure(interrupt, &cache)?;
    let mcp_sdk = mcp_sdk::ensure(interrupt, &cache)?;
    let browser = browser::ensure(interrupt, &cache)?;
    let promtool = promtool::ensure(interrupt, &cache)?;
    let pgvector = pgvector::ensure(interrupt, &cache)?;
    let runner = Runner::ensure(interrupt, &cache)?;
    // Another run in this checkout need not wait for our tests, only for our downloads.
    drop(cache);

    let postgres = Postgres::start(interrupt)?;
    let with_vectors = match &pgvector {
        Some(install) => Some(Postgres::start_from(interrupt, install, pgvector::BIN)?),
        None => None,
    };
    let with_env = |mut command: Command| {
        command
            .env("CARSON_TEST_POSTGRES", postgres.url())
            .envs(agents.variables())
            .envs(github.variables())
            .env("CARSON_TEST_PACKAGERS", &packagers)
            .env(mcp_sdk::VARIABLE, &mcp_sdk)
            .env(browser::VARIABLE, &browser)
            .env(promtool::VARIABLE, &promtool)
            .envs(
                with_vectors
                    .iter()
                    .map(|server| (pgvector::VARIABLE, server.url())),
            )
            .envs(env.iter().map(|(name, value)| (name, value)));
        command
    };
    // Tests of the whole run the binaries, which building the tests alone does not bring up to date. With the
    // tests, though: without them every library would be built a second time, with other features.
    interrupt.must(cargo().args(BUILD))?;
    let ordinary_follows = args.is_empty() && env.is_empty() && ordinary::applies();
    let seed = seed::of_this_tree();
    println!("xtask: property tests begin at {}={seed}", seed::VARIABLE);
    let mut tests = with_env(runner.command(args));
    tests.env(seed::VARIABLE, &seed);
    // What runs for long, or on purpose against a disk, stays on one.
    let memory = env.is_empty().then(MemoryDir::make).flatten();
    if let Some(memory) = &memory {
        tests.env("TMPDIR", memory.path());
    }
    if ordinary_follows {
        tests.env("CARSON_TEST_ORDINARY_FOLLOWS", "1");
    }
    let tests = interrupt.run(&mut tests)?;
    // Before the next run writes its own times over these.
    if runner.tells_times() && args.is_empty() {
        slowest::print()?;
    }
    let copies = if args.is_empty() && env.is_empty() && runner.tells_times() {
        println!("xtask: what holds a session once more, in workspaces that are copies");
        let mut copies = with_env(runner.command(&COPIES));
        copies.env("CARSON_TEST_WORKSPACES", "copy");
        copies.env("CARSON_TEST_ORDINARY_FOLLOWS", "1");
        if let Some(memory) = &memory {
            copies.env("TMPDIR", memory.path());
        }
        interrupt.run(&mut copies)?
    } else {
        ExitStatus::default()
    };
    drop(memory);
    let ordinary = if ordinary_follows {
        ordinary::run(interrupt, &runner, &agents, &[])?
    } else {
        ExitStatus::default()
    };
    if let Some(server) = with_vectors {
        server.stop()?;
    }
    postgres.stop()?;
    let all = [tests, copies, ordinary];
    let failed = all.into_iter().find(|status| !status.success());
    Ok(interrupt::exit_code(failed.unwrap_or_default()))
}

/// Runs only what is run as an ordinary user, or what `args` choose of it.
///
/// # Errors
/// As [`run`], and when there is nobody else to be.
pub fn run_ordinary(interrupt: &Interrupt, args: &[&str]) -> anyhow::Result<ExitCode> {
    ensure!(
        ordinary::applies(),
        "you are an ordinary user, or this is no Linux: `cargo xtask test` is the same"
    );
    let cache = Cache::open()?;
    debian::ensure(interrupt)?;
    let agents = agents::ensure(interrupt, &cache, Age::Newest)?;
    let runner = Runner::ensure(interrupt, &cache)?;
    drop(cache);
    interrupt.must(cargo().args(BUILD))?;
    let status = ordinary::run(interrupt, &runner, &agents, args)?;
    Ok(interrupt::exit_code(status))
}
