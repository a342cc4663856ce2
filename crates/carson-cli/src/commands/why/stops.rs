//! Everything that keeps a role from firing now, each with the command that changes it.

use carson_config::Role;
use carson_core::AccountName;
use carson_core::admission::{Admission, Gate, SkipReason, admit};
use carson_firing::{Household, room};
use carson_store::Firing;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

/// A daemon says every minute that it lives.
const SILENCE: TimeDelta = TimeDelta::minutes(3);

/// One reason.
#[derive(Debug, Serialize)]
pub struct Stop {
    /// Its kind.
    pub stop: &'static str,
    /// What is so.
    pub why: String,
    /// What would change it: a command to type, or a key to write.
    pub change: String,
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
    let mut stops = admission(&carson, role, gate, now);
    if let Err(why) = room::check(&house.fleet) {
        let change = "make room on that disk; it goes on by itself then".into();
        stops.push(Stop {
            stop: "room",
            why,
            change,
        });
    }
    stops.extend(cadence(&carson, role));
    stops.extend(last.and_then(|row| found_by_last(&carson, role, row)));
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
        stops.push(Stop {
            stop: "daemon",
            why,
            change,
        });
    }
    Ok(stops)
}

/// What admission asks, but all of it and not only the first.
fn admission(carson: &str, role: &Role, gate: &Gate, now: DateTime<Utc>) -> Vec<Stop> {
    let mut stops = Vec::new();
    let mut add = |stop, why: String, change: String| stops.push(Stop { stop, why, change });
    let until =
        |until: Option<DateTime<Utc>>| until.map_or("an operator ends that".into(), print::time);
    if let Some(pause) = gate.pause.as_ref().filter(|pause| pause.stands(now)) {
        let why = format!(
            "{} is paused until {}: {}",
            pause.what,
            until(pause.until),
            pause.reason
        );
        let scope = match pause.what.split_once(' ') {
            Some((kind, name)) => format!(" --{kind} {name}"),
            None => String::new(),
        };
        add("pause", why, format!("`{carson} resume{scope}`"));
    }
    let blocked = |account: &AccountName| {
        let mut standing = gate.blocks.iter().filter(|block| block.stands(now));
        standing.find(|block| block.account == *account)
    };
    let blocks: Vec<_> = gate.accounts.iter().filter_map(blocked).collect();
    if blocks.len() == gate.accounts.len() {
        for block in blocks {
            let account = &block.account;
            let why = format!(
                "account {account} until {}: {}",
                until(block.until),
                block.reason
            );
            let change = if block.reason.starts_with("paused: ") {
                format!("`{carson} resume --account {account}`")
            } else {
                format!("`{carson} block clear {account}`")
            };
            add("block", why, change);
        }
    }
    let half_open = gate.breaker.half_opens_at(gate.cooldown);
    if gate.breaker.is_open() && half_open.is_none_or(|at| now < at) {
        let why = gate.breaker.reason.clone().unwrap_or_default();
        let why = format!(
            "{} in a row, the last: {why}",
            print::counted(gate.breaker.streak, "bad outcome")
        );
        add(
            "breaker",
            why,
            format!("`{carson} breaker reset {}`", role.name),
        );
    }
    for budget in gate
        .budgets
        .iter()
        .filter(|budget| budget.spent >= budget.max)
    {
        let (spent, max) = (budget.spent, budget.max);
        let why = format!("${spent:.2} of ${max:.2} for {} are spent", budget.what);
        let change = "raise the max_cost_usd_… that says so in carson.toml or role.toml, or wait \
                      for the next day or month";
        add("budget", why, change.into());
    }
    if let Admission::Skip(reason) = admit(gate, now)
        && let Some((stop, change)) = used_up(&reason)
    {
        add(stop, reason.to_string(), change.into());
    }
    if gate.fired_today >= gate.max_per_day {
        let why = format!(
            "{} of {} firings of today are used up",
            gate.fired_today, gate.max_per_day
        );
        let change = format!(
            "limits.max_firings_per_day in roles/{}/role.toml; a new day begins at midnight in {}",
            role.name,
            role.cadence.zone()
        );
        add("daily-cap", why, change);
    }
    if gate.running {
        let change = format!("wait for it; `{carson} status` shows how far it is");
        add("overlap", "a firing of this role runs".into(), change);
    } else if gate.running_here >= gate.max_here {
        let why = format!(
            "{} of {} firings run on this host",
            gate.running_here, gate.max_here
        );
        add(
            "host-full",
            why,
            "wait, or raise fleet.max_firings in carson.toml".into(),
        );
    }
    stops
}

/// Usage windows that leave nothing for this role.
fn used_up(reason: &SkipReason) -> Option<(&'static str, &'static str)> {
    match reason {
        SkipReason::Reserved(_) => Some((
            "reserved",
            "lower accounts.NAME.reserve in carson.toml, or wait until the window starts again",
        )),
        SkipReason::LowPriority(_) => Some((
            "low-priority",
            "raise the role's `priority`, or wait until the window starts again",
        )),
        _ => None,
    }
}

fn cadence(carson: &str, role: &Role) -> Option<Stop> {
    let file = format!("roles/{}/role.toml", role.name);
    let by_hand = format!("or fire it by hand: `{carson} fire {}`", role.name);
    let (why, change) = if !role.enabled {
        (
            "the role is disabled",
            format!("enabled = true in {file}, {by_hand}"),
        )
    } else if role.cadence_lines.is_empty() {
        (
            "the role has no cadence",
            format!("cadence = [\"*/20 * * * *\"] in {file}, {by_hand}"),
        )
    } else {
        return None;
    };
    Some(Stop {
        stop: "cadence",
        why: why.into(),
        change,
    })
}

/// What only a firing finds out: its row says so.
fn found_by_last(carson: &str, role: &Role, row: &Firing) -> Option<Stop> {
    let why = row.reason.clone()?;
    let (stop, change) = if why.starts_with("review queue") {
        let change = format!(
            "review its pull requests (`{carson} pr list`), or raise limits.max_open_prs in \
             roles/{}/role.toml",
            role.name
        );
        ("open-prs", change)
    } else if why.starts_with("preflight: ") {
        (
            "preflight",
            format!("mend that, then `{carson} fire {}`", role.name),
        )
    } else {
        return None;
    };
    Some(Stop { stop, why, change })
}
