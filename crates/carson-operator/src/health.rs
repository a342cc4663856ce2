//! Whether the fleet itself is well, and which alerts were told.

use std::collections::BTreeSet;

use carson_core::outcome::Severity;
use carson_core::text::{counted, instant};
use carson_home::Home;
use carson_notify::Message;
use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::daemons::Life;
use crate::plans::State;
use crate::refusal::Refusal;
use crate::status::{Seen, Status};
use crate::verb::{Ask, Who};

/// Alerts of this time are listed.
const RECENT: TimeDelta = TimeDelta::days(1);
/// Posts that are looked through for them.
const POSTS: u32 = 500;
/// Digits of an alert's id.
const DIGITS: usize = 8;

/// Is the fleet itself well?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Health {}

/// The answer.
#[derive(Debug, Serialize)]
pub struct Found {
    /// In one line.
    pub line: String,
    /// What is not well.
    pub wrong: Vec<String>,
    /// Alerts of the last day, the newest first.
    pub alerts: Vec<Alert>,
}

/// An alert.
#[derive(Clone, Debug, Serialize)]
pub struct Alert {
    /// What `ack` calls it.
    pub id: String,
    /// When it was told.
    pub at: DateTime<Utc>,
    /// What it says.
    pub title: String,
    /// Whether somebody has seen it.
    pub seen: bool,
    /// What tells it from others.
    #[serde(skip)]
    pub key: String,
}

impl Ask for Health {
    const NAME: &'static str = "health";
    const WHAT: &'static str = "Say whether the fleet itself is well, and which alerts there were";
    const WHO: Who = Who::Anyone;
    type Answer = Found;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let seen = Status {}.answer(home).await?;
        let wrong = wrong(&seen);
        let line = match wrong.len() {
            0 => format!(
                "well: {} on, {} on the way, ${:.2} spent today",
                counted(runs(&seen), "daemon"),
                counted(many(seen.running.len()), "firing"),
                seen.spent_today
            ),
            count => format!("not well: {}", counted(many(count), "thing")),
        };
        Ok(Found {
            line,
            wrong,
            alerts: alerts(home).await?,
        })
    }
}

fn runs(seen: &Seen) -> u64 {
    let runs = seen.hosts.iter().filter(|host| host.life == Life::Runs);
    many(runs.count())
}

fn many(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn wrong(seen: &Seen) -> Vec<String> {
    let mut wrong = Vec::new();
    if runs(seen) == 0 {
        wrong.push("no daemon runs: nothing fires by itself".to_owned());
    }
    for host in seen.hosts.iter().filter(|host| host.life != Life::Runs) {
        let (name, at) = (&host.row.name, instant(host.row.beat_at));
        wrong.push(format!(
            "nothing was heard of the daemon on {name} since {at}"
        ));
    }
    wrong.extend(seen.no_room.clone());
    for job in seen.jobs.iter().filter(|job| job.failures > 0) {
        let (name, said) = (&job.name, &job.said);
        wrong.push(format!("job {name} failed {} times: {said}", job.failures));
    }
    for sink in seen.sinks.iter().filter(|sink| sink.error.is_some()) {
        let why = sink.error.as_deref().unwrap_or_default();
        wrong.push(format!(
            "{} posts wait for {}: {why}",
            sink.waiting, sink.name
        ));
    }
    for row in &seen.roles {
        if row.breaker.is_some() {
            wrong.push(format!("the breaker of {} is open", row.name));
        }
    }
    for plan in &seen.plans {
        if plan.state == State::CannotBeAsked {
            wrong.push(format!("{} {}", plan.what(), plan.stands()));
        }
    }
    for row in &seen.dead {
        wrong.push(format!("the process of firing {} is gone", row.short()));
    }
    wrong
}

/// What was told as one that somebody must see, the newest first; each once.
pub(crate) async fn alerts(home: &Home) -> Result<Vec<Alert>, Refusal> {
    let since = home.clock.now() - RECENT;
    let mut known = BTreeSet::new();
    let mut alerts = Vec::new();
    for post in home.store.newest_posts(POSTS).await? {
        let Ok(message) = serde_json::from_value::<Message>(post.body) else {
            continue;
        };
        let is_loud = message.severity == Some(Severity::Error);
        let key = message.alert();
        if post.created_at < since || !is_loud || !known.insert(key.clone()) {
            continue;
        }
        let digits = post.id.simple().to_string();
        let seen = home.store.alert_seen(&key).await?;
        alerts.push(Alert {
            id: digits[digits.len() - DIGITS..].to_owned(),
            at: post.created_at,
            title: message.title,
            seen: seen.is_some_and(|seen| seen >= post.created_at),
            key,
        });
    }
    Ok(alerts)
}
