//! `carson status`: one screen.

use std::collections::BTreeMap;

use carson_core::RoleName;
use carson_core::admission::UsageWindow;
use carson_firing::{Household, claim, room};
use carson_store::{BlockRow, BreakerRow, Firing, HostRow, JobRow, PauseRow, PreflightRow, Stuck};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::firings::{ago, state};
use crate::app::App;
use crate::error::CommandError;
use crate::print::{self, counted};

/// A daemon says every minute that it lives.
const SILENCE: TimeDelta = TimeDelta::minutes(3);

/// A usage window that is worth a line.
const FULL: f64 = 0.75;

/// Everything that the screen shows, read at one time.
struct Seen {
    now: DateTime<Utc>,
    hosts: Vec<HostRow>,
    newest: BTreeMap<RoleName, Firing>,
    live: Vec<Firing>,
    pauses: Vec<PauseRow>,
    blocks: Vec<BlockRow>,
    breakers: Vec<BreakerRow>,
    preflights: Vec<PreflightRow>,
    jobs: Vec<JobRow>,
    pending: u32,
    spent: f64,
    windows: Vec<UsageWindow>,
    no_room: Option<String>,
    stuck: Vec<Stuck>,
}

pub async fn run(app: &App, with_jobs: bool) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    let seen = look(&house).await?;
    if app.json {
        print::json(&as_json(&house, &seen));
        return Ok(0);
    }
    print::line(&format!("{} on {}", house.fleet.name, house.fleet.host));
    daemons(&seen);
    stops(&seen);
    let rows = house.fleet.roles.values().map(|role| {
        let (next, last) = moments(&seen, role);
        vec![
            role.name.to_string(),
            next,
            last,
            streak(&seen, &role.name).to_string(),
        ]
    });
    print::table(&["ROLE", "NEXT", "LAST", "STREAK"], rows.collect());
    running(&seen);
    if seen.spent > 0.0 {
        print::line(&format!("spent today: ${:.2}", seen.spent));
    }
    if seen.pending > 0 {
        print::line(&format!(
            "{} wait for the chat",
            counted(seen.pending, "post")
        ));
    }
    jobs(&seen, with_jobs);
    Ok(0)
}

async fn look(house: &Household) -> Result<Seen, CommandError> {
    let store = &house.store;
    let now = house.clock.now();
    let roles: Vec<&RoleName> = house.fleet.roles.keys().collect();
    let newest = store.newest_of(&roles).await?.into_iter();
    let mut blocks = store.block_rows().await?;
    blocks.retain(|row| row.until.is_none_or(|until| now < until));
    let mut windows = store.windows().await?;
    windows.retain(|window| window.stands(now));
    Ok(Seen {
        now,
        hosts: store.hosts().await?,
        newest: newest.map(|row| (row.role.clone(), row)).collect(),
        live: store.live_firings(None).await?,
        pauses: store.pauses().await?,
        blocks,
        breakers: store.breakers().await?,
        preflights: store.preflights().await?,
        jobs: store.jobs(None).await?,
        pending: store.pending_posts().await?,
        spent: claim::spent_today(house, now).await?,
        windows,
        no_room: room::check(&house.fleet).err(),
        stuck: store.stuck(&house.fleet.host).await?,
    })
}

fn as_json(house: &Household, seen: &Seen) -> Value {
    let roles = house.fleet.roles.values().map(|role| {
        let (next, last) = moments(seen, role);
        json!({"name": role.name, "next": next, "last": last, "streak": streak(seen, &role.name)})
    });
    json!({
        "fleet": house.fleet.name, "host": house.fleet.host, "hosts": seen.hosts,
        "roles": roles.collect::<Vec<_>>(), "running": seen.live, "pauses": seen.pauses,
        "blocks": seen.blocks, "breakers": seen.breakers, "preflights": seen.preflights, "outbox": seen.pending,
        "no_room": seen.no_room, "spent_today": seen.spent, "windows": seen.windows,
        "jobs": seen.jobs, "stuck": seen.stuck,
    })
}

/// When a role fires next, and how it went last.
fn moments(seen: &Seen, role: &carson_config::Role) -> (String, String) {
    let next = role.cadence.next_after(seen.now).filter(|_| role.enabled);
    let zone = role.cadence.zone();
    let next = next.map_or("never".to_owned(), |next| {
        let local = next.with_timezone(&zone);
        local.format("%Y-%m-%d %H:%M:%S %Z").to_string()
    });
    let last = seen.newest.get(&role.name);
    let last = last.map(|row| format!("{} {}", state(row), ago(seen.now - row.claimed_at)));
    (next, last.unwrap_or_default())
}

fn streak(seen: &Seen, role: &RoleName) -> u32 {
    let row = seen.breakers.iter().find(|row| row.role == *role);
    row.map_or(0, |row| row.breaker.streak)
}

fn daemons(seen: &Seen) {
    if seen.hosts.is_empty() {
        print::line("no daemon was ever here: `carson daemon` starts one");
    }
    for host in &seen.hosts {
        let silent = seen.now - host.beat_at;
        let gone = if silent > SILENCE { "; it is gone" } else { "" };
        print::line(&format!(
            "daemon on {}: pid {}, heard of {}{gone}",
            host.name,
            host.pid,
            ago(silent)
        ));
    }
}

fn stops(seen: &Seen) {
    if let Some(why) = &seen.no_room {
        print::line(&format!("NO ROOM: {why}"));
    }
    let standing = |row: &&PauseRow| row.until.is_none_or(|until| seen.now < until);
    for row in seen.pauses.iter().filter(standing) {
        let until = row.until.map_or("it is resumed".to_owned(), print::time);
        print::line(&format!(
            "PAUSED {} until {until}: {}",
            row.scope, row.reason
        ));
    }
    for row in &seen.blocks {
        let until = row.until.map_or("it is cleared".to_owned(), print::time);
        print::line(&format!(
            "BLOCKED account {} until {until}: {}",
            row.account, row.reason
        ));
    }
    for row in seen.breakers.iter().filter(|row| row.breaker.is_open()) {
        let why = row.breaker.reason.as_deref().unwrap_or_default();
        print::line(&format!("BREAKER of {} is open: {why}", row.role));
    }
    for row in &seen.preflights {
        print::line(&failing(row));
    }
    for one in &seen.stuck {
        print::line(&format!(
            "STUCK bench {} since {}: {}; look into benches/{0}, or `carson prune --discard {0}`",
            one.bench,
            print::time(one.since),
            one.why
        ));
    }
    let full = |window: &&UsageWindow| window.utilization >= FULL;
    for window in seen.windows.iter().filter(full) {
        print::line(&format!("NEARLY USED UP: {window}"));
    }
}

/// A streak of failed preflights in one line.
pub fn failing(row: &PreflightRow) -> String {
    let times = counted(u64::try_from(row.streak).unwrap_or(0), "time");
    format!(
        "PREFLIGHT of {} on {} failed {times} since {}: {}: {}",
        row.role,
        row.host,
        print::time(row.since),
        row.failed,
        row.why
    )
}

fn running(seen: &Seen) {
    for row in &seen.live {
        let work = row
            .work
            .map_or_else(String::new, |work| format!(" #{}", work.number()));
        print::line(&format!(
            "running {} {}{work}: {}, {}",
            row.id.short(),
            row.role,
            state(row),
            counted(row.turns, "turn")
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
    print::line(&format!(
        "jobs: {well} well, {failed} failing (`carson status --jobs` lists them)"
    ));
    for row in seen.jobs.iter().filter(|row| row.failures > 0 && !all) {
        let times = counted(u64::try_from(row.failures).unwrap_or(0), "time");
        print::line(&format!(
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
            carson_config::format_duration(std::time::Duration::from_secs(until.unsigned_abs())),
            row.said.chars().take(60).collect(),
        ]
    });
    print::table(
        &["JOB", "HOST", "LAST", "RESULT", "NEXT IN", "SAID"],
        rows.collect(),
    );
}
