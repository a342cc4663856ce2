//! From the due time to the firing's process.

use std::fmt;
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
/// How long both run: two full minutes, and what is left of the one it starts in.
const WATCHED: u32 = 130;

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
) -> anyhow::Result<Figure> {
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
    let late = read(&daemon.log()?);
    drop(daemon);
    ensure!(
        late.len() >= 2 * ROLES,
        "only {} firings were started",
        late.len()
    );
    let ours = Sample::new(late);
    let theirs = peer.run(interrupt, ROLES, herd == Herd::Spread, WATCHED)?;
    Ok(Figure {
        what: match herd {
            Herd::Spread => "due to spawned, 100 roles over a minute",
            Herd::Together => "due to spawned, 100 roles in one second",
        },
        got: ours.to_string(),
        target: match herd {
            Herd::Spread => "p50 < 1 ms, p99 < 5 ms",
            Herd::Together => "p99 < 60 ms",
        },
        beside: format!(
            "APScheduler that starts /bin/true: {theirs} ({:.1}x ours)",
            ours.ratio(&theirs)
        ),
    })
}

/// The daemon says of every process that it starts how late it was.
fn read(log: &str) -> Vec<Duration> {
    let figures = log.split("late_us=").skip(1);
    figures
        .filter_map(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok().map(Duration::from_micros)
        })
        .collect()
}
