//! Everything that keeps a role from firing now, each with the command that changes it.

mod gate;
mod last;

use carson_config::Role;
use carson_core::admission::Gate;
use carson_firing::{Household, room};
use carson_store::Firing;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

/// A daemon says every minute that it lives.
const SILENCE: TimeDelta = TimeDelta::minutes(3);

/// The work source has nothing.
const NO_WORK: &str = "no-work";
/// The work source has nothing but what waits for people.
const NEEDS_HUMAN: &str = "needs-human";

/// One reason.
#[derive(Debug, Serialize)]
pub struct Stop {
    /// Its kind: the word of a skipped row where a firing could meet it.
    pub stop: &'static str,
    /// What is so.
    pub why: String,
    /// What would change it: a command to type, or a key to write.
    pub change: String,
}

impl Stop {
    /// Whether it lets the role fire, but leaves it nothing to do.
    pub fn is_idle(&self) -> bool {
        [NO_WORK, NEEDS_HUMAN].contains(&self.stop)
    }

    fn new(stop: &'static str, why: impl Into<String>, change: impl Into<String>) -> Self {
        Self {
            stop,
            why: why.into(),
            change: change.into(),
        }
    }
}

/// All that stand, in the order in which admission looks; then what only the daemon or the last
/// firing knows.
pub async fn of(
    app: &App,
    house: &Household,
    role: &Role,
    gate: &Gate,
    last: Option<&Firing>,
    now: DateTime<Utc>,
) -> Result<Vec<Stop>, CommandError> {
    let carson = app.called();
    let mut stops = gate::stops(&carson, role, gate, now);
    if let Err(why) = room::check(&house.fleet) {
        let change = "make room on that disk; it goes on by itself then";
        stops.push(Stop::new("room", why, change));
    }
    stops.extend(cadence(&carson, role));
    stops.extend(last.and_then(|row| last::stop(&carson, role, row)));
    let hosts = house.store.hosts().await?;
    if !hosts.iter().any(|host| now - host.beat_at <= SILENCE) {
        let seen = hosts.iter().map(|host| host.beat_at).max();
        let why = seen.map_or("no daemon was ever here".to_owned(), |at| {
            format!("no daemon was heard of since {}", print::time(at))
        });
        let change = format!(
            "`{carson} daemon`, or fire it by hand: `{carson} fire {}`",
            role.name
        );
        stops.push(Stop::new("daemon", why, change));
    }
    Ok(stops)
}

fn cadence(carson: &str, role: &Role) -> Option<Stop> {
    let file = format!("roles/{}/role.toml", role.name);
    let by_hand = format!("or fire it by hand: `{carson} fire {}`", role.name);
    let (why, key) = if !role.enabled {
        ("the role is disabled", "enabled = true")
    } else if role.cadence_lines.is_empty() {
        ("the role has no cadence", "cadence = [\"*/20 * * * *\"]")
    } else {
        return None;
    };
    Some(Stop::new(
        "cadence",
        why,
        format!("{key} in {file}, {by_hand}"),
    ))
}
