//! 1,000 roles that are due in the same second: how long the daemon takes to decide about all.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::super::Figure;
use super::super::fleet::Fleet;
use super::super::output;

const ROLES: usize = 1_000;
/// A minute until they are due, and some time to decide.
const PATIENCE: Duration = Duration::from_secs(120);

pub fn measure(carson: &Path) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (what, paused, max) in [
        ("admission of 1,000 due roles, all skipped", true, 1_000),
        ("admission of 1,000 due roles, 8 fit on the host", false, 8),
    ] {
        figures.push(Figure {
            what,
            got: decided(carson, paused, max)?,
            target: "< 1 s",
            beside: String::new(),
        });
    }
    Ok(figures)
}

fn decided(carson: &Path, paused: bool, max: usize) -> anyhow::Result<String> {
    let roles: Vec<_> = (0..ROLES)
        .map(|n| (format!("role-{n}"), "* * * * *".to_owned()))
        .collect();
    let fleet = Fleet::new(carson, &roles)?;
    let settings = fleet.home().join("carson.toml");
    let text = std::fs::read_to_string(&settings)?;
    let wanted = format!("max_firings = {max}\n");
    std::fs::write(&settings, text.replace("max_firings = 1000\n", &wanted))?;
    output(&mut fleet.command(&["status"]))?;
    if paused {
        output(&mut fleet.command(&["pause", "--reason", "bench"]))?;
    }
    let daemon = fleet.daemon_that_says("carson_daemon=debug")?;
    let began = Instant::now();
    loop {
        let log = daemon.log()?;
        let due = format!("due={ROLES} ");
        if let Some(line) = log.lines().find(|line| line.contains(&due)) {
            return read(line).with_context(|| format!("in the daemon's log: {line}"));
        }
        anyhow::ensure!(began.elapsed() < PATIENCE, "nothing was admitted:\n{log}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// `… slots admitted due=1000 won=8 skipped=0 waiting=992 took_us=123456`
fn read(line: &str) -> Option<String> {
    let number = |key: &str| -> Option<f64> {
        let (_, rest) = line.split_once(&format!("{key}="))?;
        rest.split_whitespace().next()?.parse().ok()
    };
    Some(format!(
        "{:.0} ms ({} fire, {} skipped, {} wait)",
        number("took_us")? / 1e3,
        number("won")?,
        number("skipped")?,
        number("waiting")?
    ))
}
