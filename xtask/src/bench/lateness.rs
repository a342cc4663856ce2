//! From the due time to the firing's process.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;

use super::Figure;
use super::fleet::Fleet;
use super::idle::pause;
use super::peer::Scheduler;
use super::sample::Sample;
use crate::interrupt::Interrupt;

const ROLES: usize = 100;
/// How long both run: a full minute, with some seconds to start in.
const WATCHED: u32 = 70;

/// When the roles are due.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Herd {
    /// Over the seconds of a minute.
    Spread,
    /// All in the same second of it.
    Together,
}

impl fmt::Display for Herd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spread => "spread over a minute",
            Self::Together => "all in one second",
        })
    }
}

pub fn measure(
    interrupt: &Interrupt,
    carson: &Path,
    peer: &Scheduler,
    herd: Herd,
) -> anyhow::Result<Vec<Figure>> {
    let second = |role: usize| match herd {
        Herd::Spread => role * 60 / ROLES,
        Herd::Together => 30,
    };
    let roles: Vec<_> = (0..ROLES)
        .map(|role| {
            (
                format!("role-{role}"),
                format!("{} * * * * *", second(role)),
            )
        })
        .collect();
    let fleet = Fleet::new(carson, &roles)?;
    let daemon = fleet.daemon()?;
    pause(interrupt, WATCHED)?;
    let spawned = spawned(&daemon.log()?);
    drop(daemon);
    ensure!(
        spawned.len() >= ROLES,
        "only {} firings were started",
        spawned.len()
    );
    let (spawned, begun) = (Sample::new(spawned), Sample::new(begun(&fleet)?));
    let theirs = peer.run(interrupt, ROLES, herd == Herd::Spread, WATCHED)?;
    let (first, second, target) = match herd {
        Herd::Spread => (
            "due to spawned, 100 roles over a minute",
            "due to begun, 100 roles over a minute",
            "p50 < 1 ms, p99 < 5 ms",
        ),
        Herd::Together => (
            "due to spawned, 100 roles in one second",
            "due to begun, 100 roles in one second",
            "p99 < 60 ms",
        ),
    };
    Ok(vec![
        Figure {
            what: first,
            got: spawned.to_string(),
            target,
            beside: format!("APScheduler that starts /bin/true: {theirs}"),
        },
        Figure {
            what: second,
            got: begun.to_string(),
            target: "",
            beside: format!("({:.1}x ours)", begun.ratio(&theirs)),
        },
    ])
}

/// How late each process was there; those that were there before their time were not late.
fn spawned(log: &str) -> Vec<Duration> {
    let figures = log.split("late_us=").skip(1);
    figures
        .filter_map(|rest| {
            let end = rest.find(|c: char| c != '-' && !c.is_ascii_digit());
            let late: i64 = rest[..end.unwrap_or(rest.len())].parse().ok()?;
            Some(Duration::from_micros(u64::try_from(late).unwrap_or(0)))
        })
        .collect()
}

/// How late each firing began: every firing says so in its log.
pub fn begun(fleet: &Fleet) -> anyhow::Result<Vec<Duration>> {
    let mut late = Vec::new();
    for item in fs::read_dir(fleet.home().join("logs"))? {
        late.extend(spawned(&fs::read_to_string(item?.path())?));
    }
    Ok(late)
}
