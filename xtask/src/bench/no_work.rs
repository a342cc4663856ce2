//! A firing that finds no work: claim, stages, outcome, exit.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::fleet::Fleet;
use super::sample::Sample;
use super::{Figure, output};

const RUNS: usize = 50;

/// What Alfred, the shell and Python fleet we come from, does before any work: a shell launcher,
/// then an interpreter that imports what it needs.
const PEER: &str =
    "exec python3 -c 'import json, subprocess, sqlite3, datetime, pathlib, argparse'";

pub fn measure(carson: &Path) -> anyhow::Result<Vec<Figure>> {
    let fleet = Fleet::new(carson, &[("idler".into(), "0 0 1 1 *".into())])?;
    let fire = || fleet.command(&["fire", "idler"]);
    // The first one makes the database.
    output(&mut fire())?;
    let ours = timed(fire)?;
    let floor = timed(|| Command::new("/bin/true"))?;
    let peer = timed(|| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", PEER]);
        shell
    })?;
    let processes = processes(&fleet)?;
    Ok(vec![
        Figure {
            what: "no-work firing, whole process",
            got: ours.to_string(),
            target: "< 30 ms",
            beside: format!(
                "sh + python3 with its imports: {peer} ({:.1}x ours); /bin/true: {floor}",
                ours.ratio(&peer)
            ),
        },
        Figure {
            what: "processes of a no-work firing",
            got: processes.to_string(),
            target: "1",
            beside: "2 (sh, python3)".into(),
        },
    ])
}

fn timed(mut command: impl FnMut() -> Command) -> anyhow::Result<Sample> {
    let mut durations: Vec<Duration> = Vec::new();
    for _ in 0..RUNS {
        let mut command = command();
        let started = Instant::now();
        output(&mut command)?;
        durations.push(started.elapsed());
    }
    Ok(Sample::new(durations))
}

/// Counts the programs that are started, with strace.
fn processes(fleet: &Fleet) -> anyhow::Result<usize> {
    let trace = fleet.home().join("trace");
    let fire = fleet.command(&["fire", "idler"]);
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-e", "trace=execve", "-o"])
        .arg(&trace);
    strace.arg(fire.get_program()).args(fire.get_args());
    strace.env("CARSON_HOME", fleet.home());
    output(&mut strace).map_err(|error| anyhow::anyhow!("{error} (apt-get install strace)"))?;
    let text = std::fs::read_to_string(trace)?;
    Ok(text.lines().filter(|line| line.ends_with("= 0")).count())
}
