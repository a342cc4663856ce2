//! Issues of the role's queue that are not taken, each with what holds it.

use std::collections::BTreeMap;
use std::time::Duration;

use carson_config::{Repo, Role};
use carson_core::RepoName;
use carson_core::admission::Pause;
use carson_core::stops::{Change, SettingsFile};
use carson_core::work::WorkKey;
use carson_firing::queue::{Held, HeldIssue, stand};
use carson_firing::{HeldCandidate, candidates};
use carson_forge::DO_NOT_PICKUP;
use carson_home::Home;
use chrono::{DateTime, Utc};
use tokio::time::timeout;

use super::{NEEDS_HUMAN, Stop};

/// An issue is held.
pub(super) const HELD: &str = "held-issue";
/// Issues that are told one by one, and asked about one by one.
const TOLD: usize = 10;
/// How long one forge is asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a role does not take, and whether there is something that it may take.
#[derive(Default)]
pub(super) struct Queues {
    pub held: Vec<Stop>,
    pub any_ready: bool,
}

impl Queues {
    /// Whether nothing is in them, as far as that is known.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && !self.any_ready
    }
}

/// What holds the issues of a role's queues. Of a forge that does not answer nothing is known.
pub(super) async fn look(
    home: &Home,
    role: &Role,
    paused: &BTreeMap<RepoName, Pause>,
    now: DateTime<Utc>,
) -> Queues {
    let mut all = Queues::default();
    for repo in role
        .repos
        .iter()
        .filter_map(|name| home.fleet.repos.get(name))
    {
        let found = timeout(PATIENCE, look_in(home, role, repo, now)).await;
        let Some((held, any_ready)) = found.ok().flatten() else {
            continue;
        };
        all.held.extend(held);
        all.any_ready |= any_ready && !paused.contains_key(&repo.name);
    }
    let left_out = all.held.len().saturating_sub(TOLD);
    all.held.truncate(TOLD);
    if let Some(last) = all.held.last_mut().filter(|_| left_out > 0) {
        last.why.push_str(&format!("; {left_out} more are held"));
    }
    // What is held keeps nobody from what is not.
    for stop in &mut all.held {
        stop.partial = all.any_ready;
    }
    all
}

/// What holds work of a role in one repository; nothing where its forge does not answer.
pub(in crate::why) async fn held_in(home: &Home, role: &Role, repo: &Repo) -> Vec<Stop> {
    let now = home.clock.now();
    let found = timeout(PATIENCE, look_in(home, role, repo, now)).await;
    found
        .ok()
        .flatten()
        .map(|(held, _)| held)
        .unwrap_or_default()
}

async fn look_in(
    home: &Home,
    role: &Role,
    repo: &Repo,
    now: DateTime<Utc>,
) -> Option<(Vec<Stop>, bool)> {
    let forge = home.forge(repo).await.ok()?;
    if let Some(found) = candidates(home, role, (repo, &forge), None).await.ok()? {
        let amiss = found.amiss.map(|why| amiss(home, role, repo, &why));
        let held = found.held.iter().map(|one| not_taken(role, repo, one));
        return Some((
            amiss.into_iter().chain(held).collect(),
            found.ready.is_some(),
        ));
    }
    let stands = stand(home, role, (repo, &forge), TOLD, now).await.ok()?;
    let stops = stands.held.iter().map(|issue| stop(role, repo, issue));
    Some((stops.collect(), !stands.ready.is_empty() || stands.more > 0))
}

fn stop(role: &Role, repo: &Repo, issue: &HeldIssue) -> Stop {
    let (number, why) = (issue.number, &issue.why);
    let until = match why {
        Held::Failed { until } | Held::FailsOnBase { until, .. } => Some(*until),
        _ => None,
    };
    let (kind, told) = match why {
        Held::ForPeople(label) => (
            NEEDS_HUMAN,
            format!(
                "#{number} of {} waits for a person: it carries {label}",
                repo.name
            ),
        ),
        _ => (HELD, format!("#{number} of {}: {why}", repo.name)),
    };
    Stop {
        until,
        ..Stop::new(kind, told, change(role, repo, issue))
    }
}

/// A check that lacks what a setup would install fails on each base.
fn on_base(change: Change, repo: &Repo) -> Change {
    let change = change.text("mend the base, or ");
    match repo.setup.lines.is_empty() {
        true => {
            let key = format!("repos.{}.setup", repo.name);
            let change = change.text("install what it lacks: ");
            change.key(&key, SettingsFile::Fleet).text(", or ")
        }
        false => change,
    }
}

/// Nothing can be known of where its work comes from.
fn amiss(home: &Home, role: &Role, repo: &Repo, why: &str) -> Stop {
    let why = home.redactor.redact(why);
    let file = SettingsFile::Role(role.name.clone());
    let change = Change::default()
        .text("mend the plan there, or ")
        .key("work.file", file);
    Stop::new(HELD, format!("{}: {why}", repo.name), change)
}

/// Work that is no issue of its queue.
fn not_taken(role: &Role, repo: &Repo, one: &HeldCandidate) -> Stop {
    let told = format!("{} of {}: {}", one.key.reference(), repo.name, one.why);
    if let WorkKey::Story(id) = one.key {
        let file = role.work.file.as_deref().unwrap_or_default();
        let change = Change::default().text(&format!("wait, change the story in {file}, or "));
        let by_hand = format!("fire {} --story {id} --repo {}", role.name, repo.name);
        return Stop::new(HELD, told, change.command(by_hand));
    }
    let number = one.key.number().unwrap_or_default();
    let read = match one.key {
        WorkKey::Pull(_) => format!("pr show {number} --repo {}", repo.name),
        _ => format!("issue show {number} --repo {}", repo.name),
    };
    Stop::new(HELD, told, Change::default().text("read ").command(read))
}

/// What would let the role take an issue.
pub(in crate::why) fn change(role: &Role, repo: &Repo, issue: &HeldIssue) -> Change {
    let (number, change) = (issue.number, Change::default());
    let read = format!("issue show {number} --repo {}", repo.name);
    let retry = format!("retry {number} --repo {}", repo.name);
    match &issue.why {
        Held::ForPeople(DO_NOT_PICKUP) => change
            .text("read ")
            .command(read)
            .text("; a person gave it that label, and only a person takes it away"),
        Held::ForPeople(_) => change
            .text("read ")
            .command(read)
            .text(", then give it back: ")
            .command(retry),
        Held::Waits { .. } => change.text("read ").command(read),
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
            .command(retry),
        Held::FailsOnBase { .. } => on_base(change, repo)
            .key("promise.run", SettingsFile::Role(role.name.clone()))
            .text("; or fire it by hand: ")
            .command(format!("fire {} --work {number}", role.name)),
        Held::Given(_) => change
            .text("read ")
            .command(read)
            .text("; the next firing says so there, and gives it to people"),
        Held::Failed { .. } => change
            .text("nothing, or fire it by hand: ")
            .command(format!("fire {} --work {number}", role.name)),
    }
}
