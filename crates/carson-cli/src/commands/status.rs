//! `carson status`: one screen.

use carson_firing::{Household, claim};
use carson_store::{Filter, Firing};
use serde_json::json;

use super::firings::{ago, state};
use crate::app::App;
use crate::error::CommandError;
use crate::print;

/// A usage window that is worth a line.
const FULL: f64 = 0.75;

pub async fn run(app: &App) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    let live = house.store.live_firings(None).await?;
    let pauses = house.store.pauses().await?;
    let now = house.clock.now();
    let mut blocks = house.store.block_rows().await?;
    blocks.retain(|row| row.until.is_none_or(|until| now < until));
    let breakers = house.store.breakers().await?;
    let pending = house.store.pending_posts().await?;
    let roles = roles(&house).await?;
    let spent = claim::spent_today(&house, now).await?;
    let mut windows = house.store.windows().await?;
    windows.retain(|window| window.stands(now));
    if app.json {
        print::json(&json!({
            "fleet": house.fleet.name, "host": house.fleet.host, "hosts": house.store.hosts().await?,
            "roles": roles, "running": live, "pauses": pauses, "blocks": blocks,
            "breakers": breakers, "outbox": pending, "spent_today": spent, "windows": windows,
        }));
        return Ok(0);
    }
    print::line(&format!("{} on {}", house.fleet.name, house.fleet.host));
    for host in house.store.hosts().await? {
        let seen = ago(now - host.beat_at);
        print::line(&format!(
            "daemon on {}: pid {}, heard of {seen}",
            host.name, host.pid
        ));
    }
    for row in pauses
        .iter()
        .filter(|row| row.until.is_none_or(|until| now < until))
    {
        let until = row.until.map_or("it is resumed".to_owned(), print::time);
        print::line(&format!(
            "PAUSED {} until {until}: {}",
            row.scope, row.reason
        ));
    }
    for row in &blocks {
        let until = row.until.map_or("it is cleared".to_owned(), print::time);
        print::line(&format!(
            "BLOCKED account {} until {until}: {}",
            row.account, row.reason
        ));
    }
    for row in breakers.iter().filter(|row| row.breaker.is_open()) {
        let why = row.breaker.reason.as_deref().unwrap_or_default();
        print::line(&format!("BREAKER of {} is open: {why}", row.role));
    }
    for window in windows.iter().filter(|window| window.utilization >= FULL) {
        print::line(&format!("NEARLY USED UP: {window}"));
    }
    if spent > 0.0 {
        print::line(&format!("spent today: ${spent:.2}"));
    }
    let rows = roles.iter().map(|role| {
        let text = |key: &str| role[key].as_str().unwrap_or_default().to_owned();
        vec![
            text("name"),
            text("next"),
            text("last"),
            role["streak"].to_string(),
        ]
    });
    print::table(&["ROLE", "NEXT", "LAST", "STREAK"], rows.collect());
    for row in &live {
        let work = row
            .work
            .map_or_else(String::new, |work| format!(" #{}", work.number()));
        let (id, turns) = (row.id.short(), row.turns);
        print::line(&format!(
            "running {id} {}{work}: {}, {turns} turns",
            row.role,
            state(row)
        ));
    }
    if pending > 0 {
        print::line(&format!("{pending} posts wait for the chat"));
    }
    Ok(0)
}

async fn roles(house: &Household) -> Result<Vec<serde_json::Value>, CommandError> {
    let mut roles = Vec::new();
    let now = house.clock.now();
    for role in house.fleet.roles.values() {
        let filter = Filter {
            role: Some(role.name.clone()),
            since: None,
            skipped: true,
            limit: 1,
        };
        let last = house.store.firings(&filter).await?;
        let next = role.cadence.next_after(now).filter(|_| role.enabled);
        let zone = role.cadence.zone();
        let shown = |row: &Firing| format!("{} {}", state(row), ago(now - row.claimed_at));
        roles.push(json!({
            "name": role.name,
            "next": next.map_or("never".to_owned(), |next| {
                next.with_timezone(&zone).format("%Y-%m-%d %H:%M:%S %Z").to_string()
            }),
            "last": last.first().map(shown).unwrap_or_default(),
            "streak": house.store.breaker(&role.name).await?.streak,
        }));
    }
    Ok(roles)
}
