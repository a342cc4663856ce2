//! `carson firings`

use carson_core::egress::EgressHost;
use carson_core::text::{ago, counted, instant};
use carson_core::work::WorkKey;
use carson_operator::Ask;
use carson_operator::firings::{List, Show, Shown, reason, state};
use carson_store::{EffectRow, EffectState, Firing};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::app::App;
use crate::args::Firings;
use crate::error::CommandError;
use crate::print;

/// What the table says of a firing.
pub const HEADER: [&str; 8] = [
    "ID", "ROLE", "OUTCOME", "WORK", "WHEN", "TOOK", "COST", "REASON",
];

pub async fn run(app: &App, args: Firings) -> Result<u8, CommandError> {
    if let Some(id) = args.id {
        return one(app, id).await;
    }
    let home = app.home_in_any_case().await?;
    let none = match args.all {
        true => "no firing yet",
        false => "no firing yet; `carson firings --all` lists those that were skipped, too",
    };
    let list = List {
        role: args.role,
        since: args.since,
        all: args.all,
        outcome: args.outcome,
        limit: args.limit,
    };
    let rows = list.answer(&home).await?;
    let now = home.clock.now();
    let row = |row: &Firing| table_row(row, now);
    print::list(app.json, &rows, none, &HEADER, row);
    let more = u32::try_from(rows.len()).is_ok_and(|rows| rows == args.limit);
    if more && !app.json {
        print::error(&format!(
            "the newest {}; `--limit N` lists more of them",
            args.limit
        ));
    }
    Ok(0)
}

/// One firing with all that is written down about it.
pub async fn one(app: &App, id: String) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let shown = Show { id }.answer(&home).await?;
    if app.json {
        print::sorted_json(&shown);
    } else {
        show(&shown);
    }
    Ok(0)
}

/// One line of the table.
pub fn table_row(row: &Firing, now: DateTime<Utc>) -> Vec<String> {
    vec![
        row.id.short(),
        row.role.to_string(),
        state(row),
        work(row),
        ago(now - row.claimed_at),
        took(row, now),
        cost(row, 2).unwrap_or_default(),
        reason(row).to_owned(),
    ]
}

/// The issue with its title.
fn work(row: &Firing) -> String {
    let number = row.work.and_then(WorkKey::number);
    let title = row.title.as_deref().unwrap_or_default();
    let named = number.map(|number| format!("#{number} {title}"));
    named.unwrap_or_default().trim_end().to_owned()
}

/// What it cost, to so many digits.
fn cost(row: &Firing, digits: usize) -> Option<String> {
    row.spent().map(|spent| spent.to_digits(digits))
}

fn took(row: &Firing, now: DateTime<Utc>) -> String {
    let from = row.started_at.unwrap_or(row.claimed_at);
    // One that was claimed ahead of its slot has not begun.
    let took = (row.ended_at.unwrap_or(now) - from).max(TimeDelta::zero());
    format!("{:.1}s", took.num_milliseconds() as f64 / 1_000.0)
}

/// What there is to say of a firing beyond its outcome.
pub fn details(row: &Firing) -> Vec<String> {
    let mut lines = vec![format!("firing: {}", row.id)];
    let mut add = |name: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("{name}: {value}")));
    };
    add("work", Some(work(row)).filter(|work| !work.is_empty()));
    // What it made is where the earlier work is.
    let pushed_as = row.goes_on.as_ref().or(row.branch.as_ref());
    add("branch", pushed_as.cloned());
    add("pull request", row.pr_url.clone());
    add(
        "second try",
        row.second_try.map(|first| format!("beside #{first}")),
    );
    let kept = row.salvage_ref.as_ref().zip(row.repo.as_ref());
    add(
        "kept ref",
        kept.map(|(name, repo)| format!("{name} in kept/{repo}.git")),
    );
    let judged = [
        ("verified", &row.verified_sha),
        ("reviewed", &row.reviewed_sha),
        ("pushed", &row.pushed_sha),
    ];
    for (what, sha) in judged {
        add(what, sha.clone());
    }
    let sessions = format!(
        "{} in {}, {}",
        row.sessions,
        counted(row.turns, "turn"),
        counted(row.attempts, "attempt")
    );
    add("sessions", (row.sessions > 0).then_some(sessions));
    add("sandbox", row.sandbox.as_ref().map(sandbox));
    add("cost", cost(row, 4));
    let retries = (row.retries > 0).then(|| counted(row.retries, "session"));
    add("tried again", retries);
    lines
}

/// The level in one line, and what is weaker.
fn sandbox(level: &Value) -> String {
    let words = |name: &str| -> Vec<&str> {
        let list = level[name].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).collect()
    };
    if level["asked"] == "off" {
        return "off".to_owned();
    }
    let mut walls = words("namespaces")
        .iter()
        .map(|one| format!("{one} namespace"))
        .collect::<Vec<_>>();
    if let Some(abi) = level["landlock_abi"].as_u64().filter(|abi| *abi > 0) {
        walls.insert(0, format!("Landlock {abi}"));
    }
    if level["seccomp"] == true {
        walls.push("seccomp".to_owned());
    }
    let weaker = words("weaker");
    let mut line = walls.join(", ");
    if !weaker.is_empty() {
        line.push_str(&format!("; weaker: {}", weaker.join("; ")));
    }
    line
}

/// What a firing had to do with a host, in one line.
pub fn connection(host: &EgressHost) -> String {
    let mut text = host.host.clone();
    if host.refused > 0 {
        text.push_str(&format!(": refused {}", counted(host.refused, "time")));
    }
    if host.allowed > 0 {
        let (up, down) = (host.bytes_up, host.bytes_down);
        let times = counted(host.allowed, "time");
        text.push_str(&format!(": connected {times}, {up} bytes up, {down} down"));
    }
    text
}

fn show(shown: &Shown) {
    let row = &shown.firing;
    print::line(&format!("{} {}", state(row), reason(row)));
    details(row).into_iter().for_each(|line| print::line(&line));
    for stage in &shown.stages {
        let took = stage.ended_at.map(|end| end - stage.started_at);
        // The end of the last stage, teardown, is nowhere: the row has ended before it.
        let open = if row.ended_at.is_some() { "" } else { "…" };
        let took = took.map_or(open.to_owned(), |took| {
            format!("{} ms", took.num_milliseconds())
        });
        print::line(&format!("  {:<12} {took}", stage.name));
    }
    for call in &shown.blocked_calls {
        print::line(&format!(
            "  blocked {}: {} ({})",
            call.tool, call.call, call.rule
        ));
    }
    for effect in shown
        .effects
        .iter()
        .filter(|one| one.state != EffectState::Done)
    {
        print::line(&still_to_do(effect));
    }
    for event in &shown.events {
        print::line(&format!("  {}: {}", event.kind, event.data));
    }
    for host in &shown.egress {
        print::line(&format!("  {}", connection(host)));
    }
}

/// An effect that the forge does not have.
fn still_to_do(row: &EffectRow) -> String {
    let what = match row.state {
        EffectState::Refused => "refused by the forge",
        EffectState::Owed | EffectState::Done => "owed to the forge",
    };
    let mut line = format!("  {what}: {}", row.effect.kind());
    if let Some(said) = &row.said {
        line.push_str(&format!(" ({said})"));
    }
    if let Some(at) = row.next_at {
        line.push_str(&format!("; tried again at {}", instant(at)));
    }
    line
}
