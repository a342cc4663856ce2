//! `carson why`: the chain of facts that led to a firing, or to none, where an issue stands, and what would
//! change it.

use carson_core::stops::Change;
use carson_core::text::{ago, counted};
use carson_operator::Ask;
use carson_operator::firings::{reason, state};
use carson_operator::why::{OfFiring, OfIssue, OfPull, OfRole, Reasons, Why};
use carson_store::Firing;
use chrono::{DateTime, Utc};
use serde_json::Value;

use super::firings::{connection, details};
use super::status::failing;
use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, what: String) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let reasons = Why { what }.answer(&home).await?;
    let carson = app.called();
    match &reasons {
        _ if app.json => print::sorted_json(&as_json(&carson, &reasons)),
        Reasons::Role(role) => of_role(&carson, role),
        Reasons::Issue(issue) => of_issue(&carson, issue),
        Reasons::Pull(pull) => of_pull(pull),
        Reasons::Firing(firing) => of_firing(&carson, firing),
    }
    Ok(0)
}

/// The answer, with each change as the line that people read.
fn as_json(carson: &str, reasons: &Reasons) -> Value {
    let mut value = serde_json::to_value(reasons).unwrap_or_default();
    match reasons {
        Reasons::Role(role) => {
            for (index, stop) in role.stops.iter().enumerate() {
                value["stops"][index]["change"] = print::change(carson, &stop.change).into();
            }
        }
        Reasons::Issue(issue) => {
            let shown = |change: &Option<Change>| -> Value {
                let change = change.as_ref();
                change.map(|change| print::change(carson, change)).into()
            };
            value["change"] = shown(&issue.change);
            for (index, role) in issue.roles.iter().enumerate() {
                value["roles"][index]["change"] = shown(&role.change);
            }
        }
        Reasons::Pull(_) => {}
        Reasons::Firing(firing) => {
            let change = firing.change.as_ref();
            value["change"] = change.map(|change| print::change(carson, change)).into();
        }
    }
    value
}

fn of_role(carson: &str, role: &OfRole) {
    print::row(&format!("{}: {}", role.role, role.verdict));
    if role.half_open {
        print::row("its breaker is half-open: the next firing closes it, or opens it anew");
    }
    for stop in &role.stops {
        let change = print::change(carson, &stop.change);
        print::row(&format!("  {}: {}", stop.stop, stop.why));
        print::row(&format!("    to change it: {change}"));
    }
    if let Some(nowhere) = &role.nowhere {
        print::row(nowhere);
    }
    let none = match role.never_comes {
        true => "none: no line of its cadence ever comes; look at their days and months",
        false => "none",
    };
    let next = role.next.as_ref().map_or(none, |next| &next.shown);
    print::row(&format!("next slot: {next}"));
    print::row(&format!(
        "today: {} of {}; streak {} of {}",
        role.fired_today,
        counted(role.max_per_day, "firing"),
        role.streak,
        role.fail_streak
    ));
    for row in &role.preflights {
        print::row(&failing(row));
    }
    for budget in &role.budgets {
        print::row(&format!(
            "spent: {} of ${:.2} for {}",
            budget.so_far(),
            budget.max,
            budget.what
        ));
    }
    for window in &role.windows {
        print::row(&format!("usage: {window}"));
    }
    if let Some(spare) = &role.spare {
        print::row(&format!("for a second try: {spare}"));
    }
    for row in &role.last {
        print::row(&in_short(row, role.now));
    }
    if !role.refused_hosts.is_empty() {
        print::row("its last firing was refused these hosts, which its `egress` does not name:");
    }
    for host in &role.refused_hosts {
        print::row(&format!("  {}", connection(host)));
    }
}

/// A row as one line.
fn in_short(row: &Firing, now: DateTime<Utc>) -> String {
    let why = reason(row);
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

fn of_issue(carson: &str, issue: &OfIssue) {
    let to_change = |change: &Option<Change>| {
        if let Some(change) = change {
            print::row(&format!(
                "    to change it: {}",
                print::change(carson, change)
            ));
        }
    };
    print::row(&format!(
        "#{} of {}: {}",
        issue.number, issue.repo, issue.title
    ));
    issue
        .facts
        .iter()
        .for_each(|fact| print::row(&format!("  {fact}")));
    to_change(&issue.change);
    for role in &issue.roles {
        print::row(&format!("  {}: {}", role.role, role.stands));
        if let Some(why) = &role.stopped {
            print::row(&format!("    the role is stopped: {why}"));
        }
        if let Some(next) = &role.next {
            print::row(&format!("    its next slot: {}", next.shown));
        }
        to_change(&role.change);
    }
}

fn of_pull(pull: &OfPull) {
    print::row(&format!(
        "#{} of {}: {}",
        pull.number, pull.repo, pull.title
    ));
    for fact in &pull.facts {
        print::row(&format!("  {fact}"));
    }
    for role in &pull.roles {
        print::row(&format!("  {}: {}", role.role, role.stands));
    }
}

fn of_firing(carson: &str, reasons: &OfFiring) {
    reasons.chain.iter().for_each(|fact| print::row(fact));
    if let Some(change) = &reasons.change {
        let change = print::change(carson, change);
        print::row(&format!("  to change it: {change}"));
    }
    let details = details(&reasons.firing).into_iter();
    details.for_each(|line| print::row(&line));
}
