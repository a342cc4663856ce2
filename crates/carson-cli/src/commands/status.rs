//! `carson status`: one screen.

use std::time::Duration;

use carson_core::admission::{Spent, UsageWindow};
use carson_core::text::{ago, counted, instant};
use carson_firing::standing::{READ_ONLY, resume, shut};
use carson_home::Home;
use carson_operator::Ask;
use carson_operator::daemons::Life;
use carson_operator::firings::state;
use carson_operator::plans::{State, Waiting};
use carson_operator::status::{Seen, Status};
use carson_store::{Owed, PauseRow, PreflightRow};
use chrono::{DateTime, Utc};

use crate::app::App;
use crate::error::CommandError;
use crate::print;
use crate::terminal::{self, Stream};

/// A usage window that is worth a line.
const FULL: f64 = 0.75;

/// How long a screen stands.
const EVERY: Duration = Duration::from_secs(2);

pub async fn run(app: &App, with_jobs: bool) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    show(app, &home, with_jobs).await
}

/// The same again and again, until nobody reads it.
pub async fn watch(app: &App, with_jobs: bool) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    while print::is_read() {
        if terminal::is_live(Stream::Output) {
            // The whole screen, from its corner (ECMA-48).
            print::raw("\u{1b}[H\u{1b}[2J");
        }
        show(app, &home, with_jobs).await?;
        tokio::time::sleep(EVERY).await;
    }
    Ok(0)
}

async fn show(app: &App, home: &Home, with_jobs: bool) -> Result<u8, CommandError> {
    let seen = Status {}.answer(home).await?;
    if app.json {
        print::sorted_json(&seen);
        return Ok(0);
    }
    print::row(&format!("{} on {}", seen.fleet, seen.host));
    daemons(&seen);
    stops(&seen);
    let rows = seen.roles.iter().map(|role| {
        vec![
            role.name.to_string(),
            role.next
                .as_ref()
                .map_or_else(|| "never".to_owned(), |next| next.shown.clone()),
            role.last.as_ref().map_or_else(String::new, |last| {
                format!("{} {}", last.state, ago(seen.now - last.at))
            }),
            role.streak.to_string(),
        ]
    });
    print::table(&["ROLE", "NEXT", "LAST", "STREAK"], rows.collect());
    running(&seen);
    if seen.spent_today > 0.0 {
        let spent = Spent {
            usd: seen.spent_today,
            estimated: seen.spent_estimated,
        };
        print::row(&format!("spent today: {spent}"));
    }
    posts(&seen);
    jobs(&seen, with_jobs);
    Ok(0)
}

/// What waits for each sink, and why.
fn posts(seen: &Seen) {
    for sink in seen.sinks.iter().filter(|sink| sink.waiting > 0) {
        let posts = counted(u64::try_from(sink.waiting).unwrap_or(0), "post");
        let wait = if sink.waiting == 1 { "waits" } else { "wait" };
        let why = match &sink.error {
            _ if !sink.in_settings => format!(": carson.toml has no [{}]", sink.name),
            Some(error) => format!(": {error}"),
            None => String::new(),
        };
        print::row(&format!("{posts} {wait} for {}{why}", sink.name));
    }
}

fn daemons(seen: &Seen) {
    if seen.hosts.is_empty() {
        print::row("no daemon was ever here: `carson daemon` starts one");
    }
    for daemon in &seen.hosts {
        let host = &daemon.row;
        let life = match daemon.life {
            Life::Runs if host.drained_at.is_some() => "; it is drained",
            Life::Runs => "",
            Life::Silent => "; it is silent",
            Life::Ended => "; it is not running",
        };
        print::row(&format!(
            "daemon on {}: pid {}, heard of {}{life}",
            host.name,
            host.pid,
            ago(seen.now - host.beat_at)
        ));
    }
}

/// When a stop ends by itself, and what ends it before.
fn or_typed(until: Option<DateTime<Utc>>, typed: &str) -> String {
    until.map_or_else(
        || typed.to_owned(),
        |until| format!("{}, or {typed}", instant(until)),
    )
}

fn stops(seen: &Seen) {
    if let Some(why) = &seen.no_room {
        alarm(&format!("NO ROOM: {why}"));
    }
    if seen.read_only {
        alarm(&format!("READ-ONLY: {READ_ONLY}"));
    }
    for clock in &seen.clocks {
        alarm(&format!("CLOCK: {clock}"));
    }
    for face in &seen.faces {
        alarm(&format!("SHUT: {}", shut(face)));
    }
    let standing = |row: &&PauseRow| row.until.is_none_or(|until| seen.now < until);
    for row in seen.pauses.iter().filter(standing) {
        let ends = format!("`{}`", resume(&row.scope));
        warning(&format!(
            "PAUSED {} until {}: {}",
            row.scope,
            or_typed(row.until, &ends),
            row.reason
        ));
    }
    for row in &seen.quiets {
        let (sink, until) = (&row.sink, instant(row.until));
        print::row(&format!(
            "QUIET {sink} until {until}: nothing but alerts and questions is told there"
        ));
    }
    for row in &seen.blocks {
        let ends = format!("`carson block clear {}`", row.account);
        alarm(&format!(
            "BLOCKED account {} until {}: {}",
            row.account,
            or_typed(row.until, &ends),
            row.reason
        ));
    }
    if seen.roles.is_empty() {
        alarm("NO ROLE: nothing fires; `carson init --role implementer` makes the first one");
    }
    for role in &seen.roles {
        let Some(open) = &role.breaker else { continue };
        let reset = format!("`carson breaker reset {}`", role.name);
        let until = match open.until {
            Some(at) if at <= seen.now => format!("its next firing ends well, or {reset}"),
            until => or_typed(until, &reset),
        };
        alarm(&format!(
            "BREAKER of {} is open until {until}: {}",
            role.name, open.why
        ));
    }
    for one in &seen.role_stops {
        let until = one.until.map(|at| format!(" until {}", instant(at)));
        let (until, stop) = (until.unwrap_or_default(), one.stop.as_str().to_uppercase());
        warning(&format!("{stop} of {}{until}: {}", one.role, one.why));
    }
    for row in &seen.preflights {
        alarm(&failing(row));
    }
    let unasked = |plan: &&Waiting| plan.state == State::CannotBeAsked;
    for plan in seen.plans.iter().filter(unasked) {
        alarm(&format!("UNASKED: {} {}", plan.what(), plan.stands()));
    }
    for one in &seen.owed {
        warning(&owed(one));
    }
    for one in &seen.stuck {
        alarm(&format!(
            "STUCK bench {} since {}: {}; look into benches/{0}, or `carson prune --discard {0}`",
            one.bench,
            instant(one.since),
            one.why
        ));
    }
    let full = |window: &&UsageWindow| window.utilization >= FULL;
    for window in seen.windows.iter().filter(full) {
        warning(&format!("NEARLY USED UP: {window}"));
    }
}

/// A streak of failed preflights in one line.
pub fn failing(row: &PreflightRow) -> String {
    let times = counted(u64::try_from(row.streak).unwrap_or(0), "time");
    format!(
        "PREFLIGHT of {} on {} failed {times} since {}: {}: {}",
        row.role,
        row.host,
        instant(row.since),
        row.failed,
        row.why
    )
}

fn owed(one: &Owed) -> String {
    let why = one.said.as_deref().unwrap_or("not tried yet");
    if one.effect == "await-approval" {
        return format!(
            "WAITS until {why} ({}, firing {})",
            one.role,
            one.firing.short()
        );
    }
    let next = one.next_at.map_or("soon".to_owned(), instant);
    format!(
        "OWED {} of {} {}, tried {}: {why}; tried again {next}",
        one.effect,
        one.role,
        one.firing.short(),
        counted(one.tries, "time"),
    )
}

fn running(seen: &Seen) {
    for row in &seen.running {
        let work = row
            .work
            .map_or_else(String::new, |work| format!(" {}", work.reference()));
        let gone = match seen.dead.contains(&row.id) {
            true => "; its process is gone: `carson prune` saves its work and ends it",
            false => "",
        };
        let setup = match seen.setting_up.contains(&row.id) {
            true => " (the setup runs)",
            false => "",
        };
        let host = row.carrier.as_ref().unwrap_or(&row.host);
        let host = match *host == seen.host {
            true => String::new(),
            false => format!(" on {host}"),
        };
        let title = row.title.as_ref().filter(|_| !work.is_empty());
        let title = title.map_or_else(String::new, |title| format!(" {title}"));
        let cost = row.spent().map(|spent| format!(", {spent}"));
        print::row(&format!(
            "running {} {}{host}{work}{title}: {}{setup}, {}{}{gone}",
            row.id.short(),
            row.role,
            state(row),
            counted(row.turns, "turn"),
            cost.unwrap_or_default()
        ));
    }
}

/// One line when all is well; those that failed are told in any case.
fn jobs(seen: &Seen, all: bool) {
    if seen.jobs.is_empty() {
        return;
    }
    let failed = seen.jobs.iter().filter(|row| row.failures > 0).count();
    let well = seen.jobs.len() - failed;
    print::row(&format!(
        "jobs: {well} well, {failed} failing (`carson status --jobs` lists them)"
    ));
    for row in seen.jobs.iter().filter(|row| row.failures > 0 && !all) {
        let times = counted(u64::try_from(row.failures).unwrap_or(0), "time");
        alarm(&format!(
            "JOB {} on {} failed {times}: {}",
            row.name, row.host, row.said
        ));
    }
    if !all {
        return;
    }
    let rows = seen.jobs.iter().map(|row| {
        let result = if row.failures > 0 { "failed" } else { "well" };
        let until = (row.next_at - seen.now).num_seconds().max(0);
        vec![
            row.name.clone(),
            row.host.clone(),
            ago(seen.now - row.ended_at),
            result.to_owned(),
            carson_config::format_duration(Duration::from_secs(until.unsigned_abs())),
            row.said.clone(),
        ]
    });
    print::table(
        &["JOB", "HOST", "LAST", "RESULT", "NEXT IN", "SAID"],
        rows.collect(),
    );
}

fn alarm(text: &str) {
    print::alarm(&print::flat(text));
}

fn warning(text: &str) {
    print::warning(&print::flat(text));
}
