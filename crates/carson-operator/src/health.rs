//! Whether the fleet itself is well, and which alerts were told.

use std::collections::BTreeSet;

use carson_core::outcome::Severity;
use carson_core::text::counted;
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
    let mut wrong = seen.unwell.clone();
    for job in seen.jobs.iter().filter(|job| job.failures > 0) {
        let (name, said) = (&job.name, &job.said);
        let times = counted(u64::try_from(job.failures).unwrap_or_default(), "time");
        wrong.push(format!("job {name} failed {times}: {said}"));
    }
    for sink in seen.sinks.iter().filter(|sink| sink.error.is_some()) {
        let why = sink.error.as_deref().unwrap_or_default();
        let posts = u64::try_from(sink.waiting).unwrap_or_default();
        let wait = if posts == 1 { "waits" } else { "wait" };
        let (posts, name) = (counted(posts, "post"), &sink.name);
        wrong.push(format!("{posts} {wait} for {name}: {why}"));
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use carson_proc::ProcessId;

    use super::*;
    use crate::brief::Brief;
    use crate::tests::home_with;

    #[tokio::test]
    async fn a_face_that_is_shut_is_told_by_all_who_tell_how_the_fleet_is_while_its_daemon_runs() {
        let (_dir, home) = home_with("", &[]).await;
        let (me, now) = (ProcessId::current(), home.clock.now());
        let shut = BTreeMap::from([("chat", "invalid_auth".to_owned())]);
        let (store, host) = (&home.store, &home.fleet.host);
        store.set_faces(host, &shut, now).await.unwrap();
        let told = async || {
            let seen = Status {}.answer(&home).await.unwrap();
            let found = Health {}.answer(&home).await.unwrap();
            let brief = Brief {
                since: "24h".to_owned(),
            }
            .answer(&home)
            .await
            .unwrap();
            (seen.faces, found.wrong, brief.needs_you)
        };
        let none = "no daemon runs: nothing fires (carson daemon)";
        let (faces, wrong, brief) = told().await;
        assert!(faces.is_empty(), "it was an earlier daemon's: {faces:?}");
        assert_eq!(
            (wrong, brief),
            (vec![none.to_owned()], vec![none.to_owned()])
        );
        let beats = store.heartbeat(host, me.pid, me.start, "1", now);
        beats.await.unwrap();
        let (faces, wrong, brief) = told().await;
        assert_eq!(faces[0].name, "chat");
        let line = format!(
            "nobody is listened to in the chat by box since {}: invalid_auth",
            carson_core::text::instant(now)
        );
        assert_eq!((wrong, brief), (vec![line.clone()], vec![line]));
    }
}
