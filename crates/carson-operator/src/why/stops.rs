//! Everything that keeps a role from firing now, each with the command that changes it.

mod last;
mod queue;
mod review;

use std::collections::BTreeMap;
use std::time::Duration;

use carson_checks::stray_label;
use carson_config::Role;
use carson_core::RepoName;
use carson_core::admission::{Gate, Pause, SkipReason};
use carson_core::stops::{self, Cause, Change, SettingsFile};
use carson_core::text::instant;
use carson_firing::standing::{READ_ONLY, SET_CLOCK};
use carson_home::{Home, disk_space};
use carson_store::Firing;
use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio::time::timeout;

pub(super) use queue::{change as change_of_held, held_in};
pub(super) use review::full;

use crate::daemons::{Daemon, Life, daemons};
use crate::refusal::Refusal;

/// The work source has nothing.
const NO_WORK: &str = "no-work";
/// The work source has nothing but what waits for people.
const NEEDS_HUMAN: &str = "needs-human";

/// How long a forge is asked about labels.
const FORGE: Duration = Duration::from_secs(5);

/// One of the role's repositories is paused; it works in the others.
const PAUSED_REPO: &str = "repo-pause";

/// One reason.
#[derive(Debug, Serialize)]
pub struct Stop {
    /// Its kind: the word of a skipped row where a firing could meet it.
    pub stop: &'static str,
    /// What is so.
    pub why: String,
    /// When it is over by itself, if that is known.
    pub until: Option<DateTime<Utc>>,
    /// What would change it.
    pub change: Change,
    /// Whether the role has other work all the same.
    #[serde(skip)]
    partial: bool,
}

impl Stop {
    /// Whether it lets the role fire, but leaves it nothing to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        [NO_WORK, NEEDS_HUMAN, queue::HELD].contains(&self.stop)
    }

    /// Whether it lets the role fire, and work on something else.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    fn new(stop: &'static str, why: impl Into<String>, change: Change) -> Self {
        Self {
            stop,
            why: why.into(),
            until: None,
            change,
            partial: false,
        }
    }
}

/// All that stand, in the order in which admission looks; then what only the daemon or the last
/// firing knows.
pub(super) async fn standing_stops(
    home: &Home,
    role: &Role,
    gate: &Gate,
    last: Option<&Firing>,
    now: DateTime<Utc>,
) -> Result<Vec<Stop>, Refusal> {
    let of_admission = stops::standing(gate, now).flat_map(|standing| {
        let kind = standing.reason.kind().as_str();
        let stop = move |Cause { why, until, change }| Stop {
            until,
            ..Stop::new(kind, why, change)
        };
        standing.causes.into_iter().map(stop)
    });
    let mut stops: Vec<Stop> = of_admission.collect();
    if let Err(why) = disk_space::check(&home.fleet) {
        let change = Change::default().text("make room on that disk; it goes on by itself then");
        stops.push(Stop::new("room", why, change));
    }
    stops.extend(ground(home, now).await?);
    stops.extend(cadence(role));
    let repo = match role.repos.first() {
        Some(repo) if home.fleet.repos.len() > 1 => format!(" --repo {repo}"),
        _ => String::new(),
    };
    let of_last = last.and_then(|row| last::stop(role, row, &repo));
    let paused = home.store.paused_repos(now).await?;
    let queues = queue::look(home, role, &paused, now).await;
    // Of what was found before, nothing is left where there is something now; and that there is no work is
    // no news beside work that is held.
    let found_nothing = of_last.as_ref().is_some_and(|stop| stop.stop == NO_WORK);
    let of_last = of_last.filter(|_| !found_nothing || queues.is_empty());
    // Only who found nothing, or never looked, is asked for a mistaken label: it may be slow to answer.
    let stray = match found_nothing || last.is_none() {
        true => timeout(FORGE, stray_label(home, role)).await.ok().flatten(),
        false => None,
    };
    stops.extend(stray.map(|stray| last::mistaken(role, &stray)).or(of_last));
    stops.extend(full(home, role).await);
    stops.extend(queues.held);
    stops.extend(paused_repos(role, gate, paused, now));
    let daemons = daemons(home, now).await?;
    if !daemons.iter().any(|daemon| daemon.life == Life::Runs) {
        let newest = daemons.iter().max_by_key(|daemon| daemon.row.beat_at);
        let why = match newest {
            None => "no daemon was ever here".to_owned(),
            Some(Daemon {
                row,
                life: Life::Ended,
            }) => {
                format!("the daemon on {} has ended (pid {})", row.name, row.pid)
            }
            Some(Daemon { row, .. }) => {
                format!("no daemon was heard of since {}", instant(row.beat_at))
            }
        };
        let change = Change::default().command("daemon");
        stops.push(Stop::new("daemon", why, or_by_hand(change, role)));
    }
    Ok(stops)
}

/// What of the database keeps this host from firing.
async fn ground(home: &Home, now: DateTime<Utc>) -> Result<Vec<Stop>, Refusal> {
    let mut stops = Vec::new();
    if home.store.is_read_only().await? {
        let change = Change::default()
            .text("make its disk or its file writable, or name the primary in database.url");
        stops.push(Stop::new("read-only", READ_ONLY, change));
    }
    if let Some(ahead) = home.store.clock_apart(now).await? {
        let why = format!(
            "the clock of this machine is {} the database's: nothing fires on {}",
            carson_store::off(ahead),
            home.fleet.host
        );
        stops.push(Stop::new("clock", why, Change::default().text(SET_CLOCK)));
    }
    Ok(stops)
}

/// Repositories that are paused while the role may work in others.
fn paused_repos(
    role: &Role,
    gate: &Gate,
    mut paused: BTreeMap<RepoName, Pause>,
    now: DateTime<Utc>,
) -> Vec<Stop> {
    if gate.pause.as_ref().is_some_and(|pause| pause.stands(now)) {
        return Vec::new();
    }
    paused.retain(|repo, _| role.repos.contains(repo));
    let stop = |(repo, pause): (RepoName, Pause)| Stop {
        until: pause.until,
        partial: true,
        ..Stop::new(
            PAUSED_REPO,
            SkipReason::paused(&pause).to_string(),
            Change::default().command(format!("resume --repo {repo}")),
        )
    };
    paused.into_iter().map(stop).collect()
}

fn cadence(role: &Role) -> Option<Stop> {
    let (why, key, value) = if !role.enabled {
        ("the role is disabled", "enabled", "true")
    } else if role.cadence_lines.is_empty() {
        let often = "[\"*/20 * * * *\"]";
        ("the role has no cadence", "cadence", often)
    } else {
        return None;
    };
    let change = Change::default().set(key, value, SettingsFile::Role(role.name.clone()));
    Some(Stop::new("cadence", why, or_by_hand(change, role)))
}

fn or_by_hand(change: Change, role: &Role) -> Change {
    let change = change.text(", or fire it by hand: ");
    change.command(format!("fire {}", role.name))
}
