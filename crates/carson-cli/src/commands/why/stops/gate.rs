//! What admission asks, but all of it and not only the first.

use carson_config::Role;
use carson_core::admission::{Admission, Block, Budget, Gate, SkipReason, admit};
use carson_core::{AccountName, BlockKind, SkipKind};
use chrono::{DateTime, Utc};

use super::Stop;
use crate::print;

/// The stops of admission that stand, in the order in which it asks.
pub(super) fn stops(carson: &str, role: &Role, gate: &Gate, now: DateTime<Utc>) -> Vec<Stop> {
    let mut stops = Vec::new();
    stops.extend(pause(carson, gate, now));
    stops.extend(blocks(carson, gate, now));
    stops.extend(breaker(carson, role, gate, now));
    let spent = gate
        .budgets
        .iter()
        .filter(|budget| budget.spent >= budget.max);
    stops.extend(spent.map(|budget| self::spent(role, budget)));
    stops.extend(window(role, gate, now));
    stops.extend(cap(role, gate));
    stops.extend(busy(carson, role, gate));
    stops
}

fn until(until: Option<DateTime<Utc>>) -> String {
    until.map_or("an operator ends that".into(), print::time)
}

fn pause(carson: &str, gate: &Gate, now: DateTime<Utc>) -> Option<Stop> {
    let pause = gate.pause.as_ref().filter(|pause| pause.stands(now))?;
    let (what, why) = (&pause.what, &pause.reason);
    let why = format!("{what} is paused until {}: {why}", until(pause.until));
    let scope = match what.split_once(' ') {
        Some((kind, name)) => format!(" --{kind} {name}"),
        None => String::new(),
    };
    let change = format!("`{carson} resume{scope}`");
    Some(Stop::new(SkipKind::Pause.as_str(), why, change))
}

/// Blocks stop a role only when no account is left.
fn blocks(carson: &str, gate: &Gate, now: DateTime<Utc>) -> Vec<Stop> {
    let standing = gate.blocks.iter().filter(|block| block.stands(now));
    let standing: Vec<&Block> = standing.collect();
    let of = |account: &AccountName| standing.iter().find(|block| block.account == *account);
    let blocks: Vec<_> = gate.accounts.iter().filter_map(of).collect();
    if blocks.len() < gate.accounts.len() {
        return Vec::new();
    }
    let stop = |block: &&&Block| {
        let account = &block.account;
        let clear = format!("`{carson} block clear {account}`");
        let change = match block.kind {
            Some(BlockKind::Pause) => format!("`{carson} resume --account {account}`"),
            Some(BlockKind::Auth) => format!("sign in again, then {clear}"),
            Some(BlockKind::Billing) => format!("pay for the account, then {clear}"),
            Some(BlockKind::Limit) => format!("wait, or {clear} if the provider lets you go on"),
            Some(BlockKind::Operator) | None => clear,
        };
        let (end, why) = (until(block.until), &block.reason);
        let why = format!("account {account} until {end}: {why}");
        Stop::new(SkipKind::Block.as_str(), why, change)
    };
    blocks.iter().map(stop).collect()
}

fn breaker(carson: &str, role: &Role, gate: &Gate, now: DateTime<Utc>) -> Option<Stop> {
    let half_open = gate.breaker.half_opens_at(gate.cooldown);
    if !gate.breaker.is_open() || half_open.is_some_and(|at| now >= at) {
        return None;
    }
    let why = gate.breaker.reason.clone().unwrap_or_default();
    let streak = print::counted(gate.breaker.streak, "bad outcome");
    let mut why = format!("{streak} in a row, the last: {why}");
    if let Some(at) = half_open {
        why.push_str(&format!("; one firing may try from {}", print::time(at)));
    }
    let change = format!("`{carson} breaker reset {}`", role.name);
    Some(Stop::new(SkipKind::Breaker.as_str(), why, change))
}

fn spent(role: &Role, budget: &Budget) -> Stop {
    let Budget {
        what,
        key,
        spent,
        max,
    } = budget;
    let why = format!("${spent:.2} of ${max:.2} for {what} are spent");
    let file = match key.starts_with("fleet.") {
        true => "carson.toml".to_owned(),
        false => format!("roles/{}/role.toml", role.name),
    };
    let change = format!("raise {key} in {file}, or wait until that time is over");
    Stop::new(SkipKind::Budget.as_str(), why, change)
}

/// Usage windows that leave nothing for this role.
fn window(role: &Role, gate: &Gate, now: DateTime<Utc>) -> Option<Stop> {
    let Admission::Skip(reason) = admit(gate, now) else {
        return None;
    };
    let change = match reason {
        SkipReason::Reserved(_) => {
            "lower accounts.NAME.reserve in carson.toml, or wait until the window starts again"
                .to_owned()
        }
        SkipReason::LowPriority(_) => format!(
            "priority = \"normal\" in roles/{}/role.toml, or wait until the window starts again",
            role.name
        ),
        _ => return None,
    };
    Some(Stop::new(
        reason.kind().as_str(),
        reason.to_string(),
        change,
    ))
}

fn cap(role: &Role, gate: &Gate) -> Option<Stop> {
    let (fired, max) = (gate.fired_today, gate.max_per_day);
    if fired < max {
        return None;
    }
    let why = format!("{fired} of {max} firings of today are used up");
    let change = format!(
        "limits.max_firings_per_day in roles/{}/role.toml; a new day begins at midnight in {}",
        role.name,
        role.cadence.zone()
    );
    Some(Stop::new(SkipKind::DailyCap.as_str(), why, change))
}

fn busy(carson: &str, role: &Role, gate: &Gate) -> Option<Stop> {
    if gate.running {
        let change = format!(
            "wait for it; `{carson} status` shows how far it is, and overlap = \"queue-one\" in \
             roles/{}/role.toml lets one slot wait",
            role.name
        );
        let why = "a firing of this role runs";
        return Some(Stop::new(SkipKind::Overlap.as_str(), why, change));
    }
    let (here, max) = (gate.running_here, gate.max_here);
    let why = format!("{here} of {max} firings run on this host");
    let change =
        format!("wait (`{carson} status` shows them), or raise fleet.max_firings in carson.toml");
    (here >= max).then(|| Stop::new("host-full", why, change))
}
