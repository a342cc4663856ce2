//! `carson why`: the chain of facts that led to a firing, or to none, and what would change it.

mod ended;
mod stops;

use carson_config::Role;
use carson_core::admission::{Admission, Gate, admit};
use carson_firing::{Household, claim};
use carson_store::{EgressHost, Filter, Firing, Found, Store};
use chrono::{DateTime, Utc};
use serde_json::json;

use super::firings::{ago, connection, details, find, state};
use super::status::failing;
use crate::app::{self, App};
use crate::error::CommandError;
use crate::print::{self, counted};
use stops::Stop;

pub async fn run(app: &App, name: &str) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    match app::role(&house.fleet, name) {
        Ok(role) => of_role(app, &house, role).await,
        Err(no_role) => match house.store.find_firing(name).await? {
            Found::Nothing => Err(no_role),
            _ => of_firing(app, &house, &find(&house.store, name).await?).await,
        },
    }
}

async fn of_role(app: &App, house: &Household, role: &Role) -> Result<u8, CommandError> {
    let now = house.clock.now();
    let gate = claim::gate(house, role, now).await?;
    let filter = Filter {
        role: Some(role.name.clone()),
        since: None,
        skipped: true,
        limit: 5,
    };
    let last = house.store.firings(&filter).await?;
    let refused = refused(&house.store, last.first()).await?;
    let windows: Vec<_> = gate
        .windows
        .iter()
        .filter(|window| role.engines.contains(&window.account) && window.stands(now))
        .collect();
    let mut preflights = house.store.preflights().await?;
    preflights.retain(|row| row.role == role.name.as_str());
    let stops = stops::of(app, house, role, &gate, last.first(), now).await?;
    let verdict = verdict(&gate, &stops, now);
    let next = next(role, now);
    let may_try = gate.breaker.half_opens_at(gate.cooldown);
    let half_open = gate.breaker.is_open() && may_try.is_some_and(|at| now >= at);
    if app.json {
        print::json(&json!({
            "role": role.name, "verdict": verdict, "next": next, "enabled": role.enabled,
            "fired_today": gate.fired_today, "max_per_day": gate.max_per_day,
            "streak": gate.breaker.streak, "last": last, "refused_hosts": refused,
            "spent_today": gate.spent_today, "stops": stops,
            "budgets": gate.budgets, "preflights": preflights, "windows": windows,
            "breaker": gate.breaker, "half_open": half_open,
        }));
        return Ok(0);
    }
    print::line(&format!("{}: {verdict}", role.name));
    if half_open {
        print::line("its breaker is half-open: the next firing closes it, or opens it anew");
    }
    for stop in &stops {
        print::line(&format!("  {}: {}", stop.stop, stop.why));
        print::line(&format!("    to change it: {}", stop.change));
    }
    print::line(&format!("next slot: {}", next.as_deref().unwrap_or("none")));
    print::line(&format!(
        "today: {} of {}; streak {} of {}",
        gate.fired_today,
        counted(gate.max_per_day, "firing"),
        gate.breaker.streak,
        role.limits.fail_streak
    ));
    for row in &preflights {
        print::line(&failing(row));
    }
    for budget in &gate.budgets {
        print::line(&format!(
            "spent: ${:.2} of ${:.2} for {}",
            budget.spent, budget.max, budget.what
        ));
    }
    for window in windows {
        print::line(&format!("usage: {window}"));
    }
    for row in &last {
        print::line(&told(row, now));
    }
    if !refused.is_empty() {
        print::line("its last firing was refused these hosts, which its `egress` does not name:");
    }
    for host in &refused {
        print::line(&format!("  {}", connection(host)));
    }
    Ok(0)
}

/// The hosts that a firing's sessions were refused.
async fn refused(store: &Store, row: Option<&Firing>) -> Result<Vec<EgressHost>, CommandError> {
    let Some(row) = row else {
        return Ok(Vec::new());
    };
    let mut hosts = store.egress(row.id).await?;
    hosts.retain(|host| host.refused > 0);
    Ok(hosts)
}

/// The one line: the first stop is the one that an operator wants to hear of.
fn verdict(gate: &Gate, stops: &[Stop], now: DateTime<Utc>) -> String {
    let admission = admit(gate, now);
    match (&admission, stops.first()) {
        (Admission::Skip(reason), _) => format!("it is stopped: {reason}"),
        (Admission::Wait(why), _) => format!("it waits: {why}"),
        (Admission::Admit(_), Some(stop)) if stop.is_idle() => {
            format!("it fires and finds nothing to do: {}", stop.why)
        }
        (Admission::Admit(_), Some(stop)) => format!("it does not fire: {}", stop.why),
        (Admission::Admit(account), None) => format!("it may fire now, with account {account}"),
    }
}

fn next(role: &Role, now: DateTime<Utc>) -> Option<String> {
    let next = role.cadence.next_after(now).filter(|_| role.enabled)?;
    let local = next.with_timezone(&role.cadence.zone());
    Some(local.format("%Y-%m-%d %H:%M:%S %Z").to_string())
}

/// A row as one line.
fn told(row: &Firing, now: DateTime<Utc>) -> String {
    let why = row.reason.as_deref().unwrap_or_default();
    let missed = match row.missed {
        0 => String::new(),
        missed => format!(" (it stands for {} before it too)", counted(missed, "slot")),
    };
    format!(
        "{}: {} {why}{missed}",
        ago(now - row.claimed_at),
        state(row)
    )
}

/// What one firing went through, in order.
async fn of_firing(app: &App, house: &Household, row: &Firing) -> Result<u8, CommandError> {
    let (stages, blocked) = (
        house.store.stages(row.id).await?,
        house.store.blocked_calls(row.id).await?,
    );
    let mut chain = vec![match row.slot {
        Some(slot) => format!("slot {} of {} was due", print::time(slot), row.role),
        None => format!("an operator fired {}", row.role),
    }];
    if row.missed > 0 {
        chain.push(format!(
            "it stands for {} before it",
            counted(row.missed, "slot")
        ));
    }
    chain.push(format!(
        "{} claimed it at {}",
        row.host,
        print::time(row.claimed_at)
    ));
    if let Some(account) = &row.account {
        chain.push(format!("account {account} was the first that was free"));
    }
    if let (Some(repo), Some(work)) = (&row.repo, row.work) {
        let title = row.title.as_deref().unwrap_or_default();
        chain.push(format!("it took #{} of {repo}: {title}", work.number()));
    }
    let walked: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
    if !walked.is_empty() {
        chain.push(format!("it went through {}", walked.join(", ")));
    }
    if let Some(sentinel) = &row.sentinel {
        chain.push(format!("its last session ended with {sentinel}"));
    }
    if !blocked.is_empty() {
        let calls = u64::try_from(blocked.len()).unwrap_or(u64::MAX);
        chain.push(format!("the hook stopped {}", counted(calls, "call")));
    }
    let why = row.reason.as_deref().unwrap_or("it has not ended");
    chain.push(format!("{}: {why}", state(row)));
    let change = ended::change(&app.called(), row);
    if app.json {
        print::json(&json!({"firing": row, "chain": chain, "change": change}));
        return Ok(0);
    }
    chain.iter().for_each(|fact| print::line(fact));
    if let Some(change) = change {
        print::line(&format!("  to change it: {change}"));
    }
    details(row).into_iter().for_each(|line| print::line(&line));
    Ok(0)
}
