//! `carson why`: the chain of facts.

use carson_core::admission::{Admission, admit};
use carson_firing::claim;
use carson_store::{EgressHost, Filter, Firing, Store};
use serde_json::json;

use super::firings::{ago, connection, state};
use crate::app::{self, App};
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, name: &str) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    let role = app::role(&house.fleet, name)?;
    let now = house.clock.now();
    let gate = claim::gate(&house, role, now).await?;
    let verdict = match admit(&gate, now) {
        Admission::Admit(account) => format!("it may fire now, with account {account}"),
        Admission::Wait(why) => format!("it waits: {why}"),
        Admission::Skip(reason) => format!("it is stopped: {reason}"),
    };
    let next = role.cadence.next_after(now).filter(|_| role.enabled);
    let zone = role.cadence.zone();
    let next = next.map(|next| {
        next.with_timezone(&zone)
            .format("%Y-%m-%d %H:%M:%S %Z")
            .to_string()
    });
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
    if app.json {
        print::json(&json!({
            "role": role.name, "verdict": verdict, "next": next, "enabled": role.enabled,
            "fired_today": gate.fired_today, "max_per_day": gate.max_per_day,
            "streak": gate.breaker.streak, "last": last, "refused_hosts": refused,
            "spent_today": gate.spent_today,
            "budgets": gate.budgets, "windows": windows, "breaker": gate.breaker,
        }));
        return Ok(0);
    }
    print::line(&format!("{}: {verdict}", role.name));
    print::line(&format!(
        "next slot: {}",
        next.as_deref().unwrap_or("none: it is disabled")
    ));
    print::line(&format!(
        "today: {} of {} firings; streak {} of {}",
        gate.fired_today, gate.max_per_day, gate.breaker.streak, role.limits.fail_streak
    ));
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
        let why = row.reason.as_deref().unwrap_or_default();
        print::line(&format!(
            "{}: {} {}",
            ago(now - row.claimed_at),
            state(row),
            why
        ));
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
