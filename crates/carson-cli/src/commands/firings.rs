//! `carson firings`

use carson_config::parse_duration;
use carson_store::{EgressHost, Filter, Firing, Found, Store};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::args::Firings;
use crate::error::CommandError;
use crate::print::{self, counted};

pub async fn run(app: &App, args: &Firings) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    if let Some(id) = &args.id {
        let row = find(&house.store, id).await?;
        return show(app, &house.store, &row).await;
    }
    let role = args
        .role
        .as_deref()
        .map(|name| app::role(&house.fleet, name))
        .transpose()?;
    let since = args.since.as_deref().map(parse_duration).transpose();
    let since = since.map_err(|problem| CommandError::usage(format!("--since: {problem}")))?;
    let now = house.clock.now();
    let filter = Filter {
        role: role.map(|role| role.name.clone()),
        since: since.map(|ago| now - TimeDelta::from_std(ago).unwrap_or(TimeDelta::days(3_650))),
        skipped: args.all,
        limit: args.limit,
    };
    let rows = house.store.firings(&filter).await?;
    if app.json {
        print::json(&rows);
        return Ok(0);
    }
    if rows.is_empty() {
        print::line("no firing yet");
        return Ok(0);
    }
    let header = ["ID", "ROLE", "OUTCOME", "WORK", "WHEN", "TOOK", "REASON"];
    print::table(
        &header,
        rows.iter().map(|row| table_row(row, now)).collect(),
    );
    Ok(0)
}

/// A firing by what was typed.
pub async fn find(store: &Store, text: &str) -> Result<Firing, CommandError> {
    match store.find_firing(text).await? {
        Found::One(row) => Ok(*row),
        Found::Nothing => Err(CommandError::failed(format!("there is no firing {text:?}"))
            .hint("`carson firings` lists them")),
        Found::Many(ids) => {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            Err(CommandError::failed(format!(
                "{text:?} names several: {}",
                ids.join(", ")
            )))
        }
    }
}

/// One line of the table.
pub fn table_row(row: &Firing, now: DateTime<Utc>) -> Vec<String> {
    vec![
        row.id.short(),
        row.role.to_string(),
        state(row),
        row.work
            .map_or_else(String::new, |work| format!("#{}", work.number())),
        ago(now - row.claimed_at),
        took(row, now),
        row.reason
            .clone()
            .unwrap_or_default()
            .chars()
            .take(70)
            .collect(),
    ]
}

/// Its outcome, or the stage it is in.
pub fn state(row: &Firing) -> String {
    match (row.outcome, row.stage) {
        (Some(outcome), _) => match row.skip {
            Some(stop) => format!("{outcome} ({stop})"),
            None => outcome.to_string(),
        },
        (None, Some(stage)) => format!("… {stage}"),
        (None, None) => "… claimed".to_owned(),
    }
}

fn took(row: &Firing, now: DateTime<Utc>) -> String {
    let from = row.started_at.unwrap_or(row.claimed_at);
    let took = row.ended_at.unwrap_or(now) - from;
    format!("{:.1}s", took.num_milliseconds() as f64 / 1_000.0)
}

/// A time span for people.
pub fn ago(span: TimeDelta) -> String {
    let seconds = span.num_seconds().max(0);
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..86_400 => format!("{}h ago", seconds / 3_600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// What there is to say of a firing beyond its outcome.
pub fn details(row: &Firing) -> Vec<String> {
    let mut lines = vec![format!("firing: {}", row.id)];
    let mut add = |name: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("{name}: {value}")));
    };
    let work = row.work.map(carson_core::work::WorkKey::number);
    add(
        "work",
        work.map(|n| format!("#{n} {}", row.title.as_deref().unwrap_or_default())),
    );
    add("branch", row.branch.clone());
    add("pull request", row.pr_url.clone());
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
    let about = if row.cost_estimated { "~" } else { "" };
    add(
        "cost",
        row.cost_usd.map(|cost| format!("{about}${cost:.4}")),
    );
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

async fn show(app: &App, store: &Store, row: &Firing) -> Result<u8, CommandError> {
    let (stages, blocked, events, egress) = (
        store.stages(row.id).await?,
        store.blocked_calls(row.id).await?,
        store.events_of(row.id).await?,
        store.egress(row.id).await?,
    );
    if app.json {
        let mut value = serde_json::to_value(row).unwrap_or_default();
        if let Value::Object(map) = &mut value {
            map.insert("stages".into(), json!(stages));
            map.insert("blocked_calls".into(), json!(blocked));
            map.insert("events".into(), json!(events));
            map.insert("egress".into(), json!(egress));
            map.insert("tokens".into(), json!(row.tokens_in + row.tokens_out));
        }
        print::json(&value);
        return Ok(0);
    }
    print::line(&format!(
        "{} {}",
        state(row),
        row.reason.as_deref().unwrap_or_default()
    ));
    details(row).into_iter().for_each(|line| print::line(&line));
    for stage in stages {
        let took = stage.ended_at.map(|end| end - stage.started_at);
        // The end of the last stage, teardown, is nowhere: the row has ended before it.
        let open = if row.ended_at.is_some() { "" } else { "…" };
        let took = took.map_or(open.to_owned(), |took| {
            format!("{} ms", took.num_milliseconds())
        });
        print::line(&format!("  {:<12} {took}", stage.name));
    }
    for call in blocked {
        print::line(&format!(
            "  blocked {}: {} ({})",
            call.tool, call.call, call.rule
        ));
    }
    for event in events {
        print::line(&format!("  {}: {}", event.kind, event.data));
    }
    for host in &egress {
        print::line(&format!("  {}", connection(host)));
    }
    Ok(0)
}
