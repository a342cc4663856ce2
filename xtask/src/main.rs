//! The repository's own commands, run as `cargo xtask COMMAND`.
//!
//! # Theory of operation
//! `cargo xtask test` is the one command that runs every test. It makes sure that what the tests
//! need is there, in this order: Debian packages ([`debian`]), the pinned agent CLIs ([`agents`]), what
//! stands in for GitHub ([`github`]), a client of MCP ([`mcp_sdk`]), what drives a browser ([`browser`]), a PostgreSQL with pgvector ([`pgvector`]), the test runner ([`runner`]). Each step looks first and installs only what is missing, so a
//! second run goes straight to the tests. Nothing that is missing is ever skipped over: the
//! command stops and says what to do.
//!
//! Then it starts one private PostgreSQL server ([`postgres`]) for the length of the run, builds
//! every binary, and runs the tests with these variables:
//!
//! | variable | meaning |
//! |---|---|
//! | `CARSON_TEST_POSTGRES` | URL of the private server, as its superuser |
//! | `CARSON_TEST_CLAUDE` | path of the pinned Claude Code |
//! | `CARSON_TEST_CODEX`, `CARSON_TEST_GEMINI`, `CARSON_TEST_OPENCODE` | those of the pinned Codex, Gemini CLI and opencode |
//! | `CARSON_TEST_EMULATE`, `CARSON_TEST_PRISM`, `CARSON_TEST_GITHUB_API` | paths of a GitHub emulator, of Prism, and of GitHub's description of its API |
//! | `CARSON_TEST_MCP_SDK` | path of the official TypeScript SDK of the Model Context Protocol |
//! | `CARSON_TEST_BROWSER` | directory with `puppeteer-core` and `axe-core` |
//! | `PROPTEST_RNG_SEED` | where the property tests begin; each commit has its own ([`seed`]) |
//! | `CARSON_TEST_ORDINARY_FOLLOWS` | the tests of the walls need not play an ordinary user |
//!
//! Where root runs it, the tests of what holds a hostile agent are run once more as an ordinary user
//! ([`ordinary`]).
//!
//! Tests write into memory where there is enough ([`memory_dir`]).
//!
//! Downloads go to `.cache` in the checkout, or to `CARSON_TEST_CACHE`. Every child runs under
//! [`interrupt`], so that Ctrl-C and SIGTERM end the child first, and then the server.
//!
//! `cargo xtask bench` measures; see [`bench`]. `cargo xtask simulate` models what cannot be measured on one machine; see [`simulate`]. `cargo xtask local-model` runs a real model; see [`local_model`].
//!
//! `cargo xtask ci` runs `.ci/run`, which is the list of what must pass before a merge.

#![expect(
    clippy::disallowed_methods,
    reason = "a developer's tool, which runs other tools"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program"
)]

mod agents;
mod bench;
mod browser;
mod cargo_tools;
mod conformance;
mod debian;
mod endurance;
mod github;
mod install;
mod interrupt;
mod local_model;
mod machine;
mod mcp_sdk;
mod memory_dir;
mod npm_packages;
mod ordinary;
mod package;
mod packagers;
mod pgvector;
mod postgres;
mod promtool;
mod published;
mod runner;
mod seed;
mod simulate;
mod slowest;
mod supply_chain;
mod test;
mod virtual_machine;
mod workspace;

use std::env;
use std::process::{Command, ExitCode};

use anyhow::bail;

use crate::agents::Age;
use crate::interrupt::{Interrupt, Interrupted};

const USAGE: &str = "\
usage: cargo xtask COMMAND

commands:
  install [ARGS]  install carson and the programs beside it; ARGS go to cargo install (--root DIR)
  package [--built DIR] [--published URL]
                  one archive with every program and its install.sh, and a Debian package, in target/package; of the
                  programs in DIR, or built for it; with the folder where it will be published, a Homebrew formula
                  and a table for cargo-binstall
  test [-- ARGS]  set up what the tests need, then run them all; ARGS go to cargo nextest run
  test --quick    what can be tested within a minute: for a developer's loop
  test --ordinary [-- ARGS]
                  as root: only the tests of the walls, as an ordinary user (part of `test`)
  conformance [--oldest]
                  ask the same of every real agent CLI, and print the table engine x case of docs/engines.md; with
                  --oldest, of the oldest version of each that is supported; some minutes
  ci              run .ci/run: format check, lints, tests, the supply chain
  supply-chain [--newest | --renew DIR]
                  hold what the build is made of against deny.toml, by cargo-deny: licences, sources, refused crates,
                  and the advisories of the day that lies in supply-chain/, or the newest, or after packing a
                  checkout of RustSec's database anew
  soak [--minutes N] [--seed N]
                  50 roles for so long (10) while the daemon, firings and CLIs are killed at random
  hostile [--minutes N] [--seed N]
                  sessions that compose what nobody would leave by accident, for so long (10)
  week [--seed N] a household's week with outages, a reboot, a full disk and a person: whose lost hours
                  are; a few minutes
  machine [--cuts N] [--seed N] [--rows N] [--benches N] [--virtual] [--required]
                  power cuts on a disk of its own, the unit file in a systemd of its own, and what takes
                  minutes: rows of a database, benches to prune; with --virtual the limits of sessions below the
                  systemd of a virtual machine, too; says what this machine has not, and fails for it when that
                  is --required
  local-model     carson-agent and whole firings with a real model of 135 million parameters on this machine: its
                  bounds, not its work; a few minutes, and 200 MB of downloads at the first time
  bench [--cold]  measure speed and memory beside peers; --cold times a release build too
  bench hook      measure one call of the pre-tool-use hook beside /bin/true and python3
  bench agent     measure carson-agent beside a python3 loop of its kind
  bench loop      measure an attempt of `carson loop` beside the same loop in bash
  bench egress    measure the egress proxy beside tinyproxy
  bench sandbox   measure what the sandbox adds to a start, beside bubblewrap
  bench redact    measure redaction of a gigabyte of output
  bench firing [--carson FILE]
                  measure whole firings in a small and in a large repository, beside git by hand
  bench samples [--carson FILE]
                  measure how soon a session has its first test result, in a Rust, a Node and a Python
                  sample; their packages come from the registries
  bench memory    measure how well and how fast lessons are found, by words, by meaning and by both; some
                  minutes, and 110 MB of downloads at the first time
  bench scale [--carson FILE] [--benches N] [--minutes N] [--seed N] [--only PART]
                  measure 100,000 firings, 1,000 due roles, 200 firings at once, 10,000 orphan benches (N),
                  claims a second on PostgreSQL, and three hosts on one while daemons, firings, hosts and
                  connections are killed at random; PART is reads, admission, together, prune, claims or hosts
  simulate [--seed N]
                  what bounds a fleet of 10, 1,000 and 100,000 roles, by a model that is held against what was
                  measured; see docs/SCALE.md";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let outcome = Interrupt::install().and_then(|interrupt| dispatch(&interrupt, &args));
    outcome.unwrap_or_else(|error| {
        if let Some(interrupted) = error.downcast_ref::<Interrupted>() {
            eprintln!("xtask: {interrupted}");
            return ExitCode::from(interrupted.exit_code());
        }
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}

fn dispatch(interrupt: &Interrupt, args: &[String]) -> anyhow::Result<ExitCode> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["install", rest @ ..] => install::run(interrupt, rest),
        ["package", rest @ ..] => package::run(interrupt, rest),
        ["test"] => test::run(interrupt, &[], &[]),
        ["test", "--", rest @ ..] => test::run(interrupt, rest, &[]),
        ["test", "--quick"] => test::run(interrupt, &["--profile", "quick"], &[]),
        ["test", "--ordinary"] => test::run_ordinary(interrupt, &[]),
        ["test", "--ordinary", "--", rest @ ..] => test::run_ordinary(interrupt, rest),
        ["conformance"] => conformance::run(interrupt, Age::Newest),
        ["conformance", "--oldest"] => conformance::run(interrupt, Age::Oldest),
        ["ci"] => ci(interrupt),
        ["supply-chain", rest @ ..] => supply_chain::run(interrupt, rest),
        ["soak", rest @ ..] => endurance::run(interrupt, &endurance::SOAK, rest),
        ["hostile", rest @ ..] => endurance::run(interrupt, &endurance::HOSTILE, rest),
        ["week", rest @ ..] => endurance::run(interrupt, &endurance::WEEK, rest),
        ["machine", rest @ ..] => machine::run(interrupt, rest),
        ["local-model"] => local_model::run(interrupt),
        ["bench"] => bench::run(interrupt, false),
        ["bench", "--cold"] => bench::run(interrupt, true),
        ["bench", "sandbox"] => bench::run_sandbox(interrupt),
        ["bench", "hook"] => bench::run_hook(interrupt),
        ["bench", "agent"] => bench::run_agent(interrupt),
        ["bench", "loop"] => bench::run_loop(interrupt),
        ["bench", "egress"] => bench::run_egress(interrupt),
        ["bench", "redact"] => bench::run_redact(interrupt),
        ["bench", "firing"] => bench::run_firing(interrupt, None),
        ["bench", "firing", "--carson", file] => bench::run_firing(interrupt, Some(file)),
        ["bench", "samples"] => bench::run_samples(interrupt, None),
        ["bench", "samples", "--carson", file] => bench::run_samples(interrupt, Some(file)),
        ["bench", "memory"] => bench::run_memory(interrupt),
        ["bench", "scale", rest @ ..] => bench::run_scale(interrupt, rest),
        ["simulate", rest @ ..] => simulate::run(rest),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("cannot run {args:?}\n\n{USAGE}"),
    }
}

fn ci(interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    let root = workspace::root();
    let status = interrupt.run(Command::new(root.join(".ci/run")).current_dir(&root))?;
    Ok(interrupt::exit_code(status))
}
