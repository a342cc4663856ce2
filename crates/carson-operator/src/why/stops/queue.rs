//! Issues of the role's queue that are not taken, each with what holds it.

use std::time::Duration;

use carson_config::{Repo, Role};
use carson_core::stops::{Change, SettingsFile};
use carson_firing::queue::{self, Held, HeldIssue};
use carson_home::Home;
use chrono::{DateTime, Utc};
use tokio::time::timeout;

use super::Stop;

/// An issue is held.
pub(super) const HELD: &str = "held-issue";
/// Issues that are told one by one.
const TOLD: usize = 10;
/// How long one forge is asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// What holds the issues of a role that found nothing else. Of a forge that does not answer nothing is
/// known.
pub(super) async fn held(home: &Home, role: &Role, now: DateTime<Utc>) -> Vec<Stop> {
    let mut stops = Vec::new();
    for repo in role
        .repos
        .iter()
        .filter_map(|name| home.fleet.repos.get(name))
    {
        let found = timeout(PATIENCE, held_in(home, role, repo, now)).await;
        stops.extend(found.unwrap_or_default());
        if stops.len() >= TOLD {
            break;
        }
    }
    stops.truncate(TOLD);
    stops
}

async fn held_in(home: &Home, role: &Role, repo: &Repo, now: DateTime<Utc>) -> Vec<Stop> {
    let Ok(forge) = home.forge(repo).await else {
        return Vec::new();
    };
    let Ok(looked) = queue::look(home, role, repo, &forge).await else {
        return Vec::new();
    };
    let mut held = looked.held_issues();
    for issue in looked.ready.iter().take(TOLD) {
        let rests = queue::resting(&home.store, repo, issue.number, now).await;
        if let Ok(Some(until)) = rests {
            held.push(HeldIssue {
                number: issue.number,
                why: Held::Failed { until },
            });
        }
    }
    // Those that wait for people have a stop of their own.
    held.retain(|issue| issue.why != Held::ForPeople);
    held.iter().map(|issue| stop(role, repo, issue)).collect()
}

fn stop(role: &Role, repo: &Repo, issue: &HeldIssue) -> Stop {
    let (number, change) = (issue.number, Change::default());
    let read = format!("issue show {number} --repo {}", repo.name);
    let change = match &issue.why {
        Held::ForPeople | Held::Waits { .. } => change.text("read ").command(read),
        Held::Lacks(label) => change
            .command(format!(
                "issue label {number} --add {label} --repo {}",
                repo.name
            ))
            .text(", or change ")
            .key("work.labels", SettingsFile::Role(role.name.clone())),
        Held::Assigned(name) => change.text(&format!("take the issue from {name} on its forge")),
        Held::Stranger { .. } => change
            .text("read ")
            .command(read)
            .text(", approve it, and give it back: ")
            .command(format!("retry {number} --repo {}", repo.name)),
        Held::Failed { .. } => change
            .text("nothing, or fire it by hand: ")
            .command(format!("fire {} --work {number}", role.name)),
    };
    let until = match &issue.why {
        Held::Failed { until } => Some(*until),
        _ => None,
    };
    let why = format!("#{number} of {}: {}", repo.name, issue.why);
    Stop {
        until,
        ..Stop::new(HELD, why, change)
    }
}
