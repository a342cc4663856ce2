//! Where one issue stands, with each role that may take it.

use carson_bench::layers::failures;
use carson_config::{Fleet, Repo, Role, RoleKind};
use carson_core::admission::{Admission, Gate, admit};
use carson_core::stops::Change;
use carson_core::text::{counted, instant};
use carson_core::work::WorkKey;
use carson_core::{RepoName, RoleName, SkipKind};
use carson_firing::admit::gate;
use carson_firing::life;
use carson_firing::queue::{Held, HeldIssue, Place, place};
use carson_firing::waiting_plan;
use carson_forge::{Forge, ForgeError, Issue, PullState, State};
use carson_home::Home;
use carson_store::{Filter, Firing};
use chrono::{DateTime, Utc};
use serde::Serialize;

use super::of_role::open_breaker;
use super::stops::{self, change_of_held};
use crate::firings::state;
use crate::plans;
use crate::refusal::Refusal;
use crate::status::{Next, next};

/// What is so of an issue.
#[derive(Debug, Serialize)]
pub struct OfIssue {
    /// Its repository.
    pub repo: RepoName,
    /// Its number.
    pub number: u64,
    /// Its title, redacted.
    pub title: String,
    /// What is so whatever role asks: who works on it, its pull request.
    pub facts: Vec<String>,
    /// Each role that it is for.
    pub roles: Vec<OfQueue>,
    /// What would let the fleet take it, where no role's queue has it.
    pub change: Option<Change>,
}

/// Where it stands in the queue of a role.
#[derive(Debug, Serialize)]
pub struct OfQueue {
    /// The role.
    pub role: RoleName,
    /// Where.
    pub stands: String,
    /// What keeps the role itself from firing now.
    pub stopped: Option<String>,
    /// When the role may try it next; unknown while something else has to happen first.
    pub next: Option<Next>,
    /// What would change it.
    pub change: Option<Change>,
}

/// `issue-12`, `#12`, `widget#12` or `issue-widget#12`; `None` for what has not that form.
pub(super) fn named<'f>(fleet: &'f Fleet, text: &str) -> Result<Option<(&'f Repo, u64)>, Refusal> {
    let rest = text.strip_prefix("issue-");
    let (repo, number) = match (rest, rest.unwrap_or(text).split_once('#')) {
        (_, Some(parts)) => parts,
        (Some(number), None) => ("", number),
        (None, None) => return Ok(None),
    };
    let Ok(number) = number.parse() else {
        return Ok(None);
    };
    let mut all = fleet.repos.values();
    match (repo, all.next(), all.next()) {
        ("", Some(only), None) => Ok(Some((only, number))),
        ("", first, _) => {
            let first = first.map_or("widget", |repo| repo.name.as_str());
            Err(Refusal::Field {
                field: "what",
                problem: format!(
                    "there are several repositories: say which, as in {first}#{number}, or pr-{first}#{number} of a pull request"
                ),
            })
        }
        (name, ..) => Ok(Some((crate::names::repo(fleet, name)?, number))),
    }
}

pub(super) async fn reasons_of_issue(
    home: &Home,
    repo: &Repo,
    number: u64,
) -> Result<OfIssue, Refusal> {
    let now = home.clock.now();
    let forge = home.forge(repo).await?;
    let issue = forge.issue(number).await?;
    let key = WorkKey::Issue(number);
    let mut rows = home.store.firings_of(&repo.name, key).await?;
    let is_it = |row: &Firing| row.repo.as_ref() == Some(&repo.name) && row.work == Some(key);
    rows.extend(
        home.store
            .live_firings(None)
            .await?
            .into_iter()
            .filter(is_it),
    );
    let mut told = OfIssue {
        repo: repo.name.clone(),
        number,
        title: home.redactor.redact(&issue.title).into_owned(),
        facts: facts(home, &issue, &rows, &forge).await?,
        roles: Vec::new(),
        change: None,
    };
    if issue.state == State::Closed {
        let change =
            Change::default().command(format!("issue reopen {number} --repo {}", repo.name));
        told.change = Some(change);
        return Ok(told);
    }
    if waiting_plan(home, repo, number).await?.is_some() {
        told.facts
            .push("its plan waits for a person's approval".to_owned());
        let asked = plans::waiting(home).await?.into_iter();
        let ours = asked.filter(|one| one.repo == repo.name && one.issue == Some(number));
        let stuck = ours.filter(|one| one.state != plans::State::Waits);
        told.facts
            .extend(stuck.map(|one| format!("{} {}", one.what(), one.stands())));
        let approve = format!("approve {number} --repo {}", repo.name);
        let change = Change::default().text("read it there, then ");
        told.change = Some(change.command(approve));
        return Ok(told);
    }
    let roles = home.fleet.roles.values();
    let takers: Vec<(&Role, &str)> = roles
        .filter(|role| role.repos.contains(&repo.name))
        .filter_map(|role| Some((role, role.work.label()?)))
        .collect();
    for (role, label) in &takers {
        let had_it = rows.iter().any(|row| row.role == role.name);
        if issue.has(label) || had_it {
            told.roles
                .push(of_queue(home, role, (repo, &forge), &issue, now).await?);
        }
    }
    if told.roles.is_empty() {
        told.facts
            .push("it carries the label of no role that works here".to_owned());
        let mut roles = home.fleet.roles.values();
        let judges =
            |role: &&Role| role.kind == RoleKind::Triager && role.repos.contains(&repo.name);
        if let Some(triager) = roles.find(judges) {
            let name = &triager.name;
            told.facts.push(format!(
                "{name} judges what people filed and nobody has judged; `carson why {name}` lists what it does not take"
            ));
        }
        told.change = takers.first().map(|(role, label)| {
            Change::default()
                .text(&format!("give it to {}: ", role.name))
                .command(format!(
                    "issue label {number} --add {label} --repo {}",
                    repo.name
                ))
        });
    }
    Ok(told)
}

/// What is so whatever role asks.
async fn facts(
    home: &Home,
    issue: &Issue,
    rows: &[Firing],
    forge: &Forge,
) -> Result<Vec<String>, Refusal> {
    let mut facts = Vec::new();
    if issue.state == State::Closed {
        facts.push("it is closed".to_owned());
    }
    if let Some(newest) = rows.last() {
        let (id, role) = (newest.id.short(), &newest.role);
        facts.push(match (newest.ended_at, &newest.reason) {
            (Some(at), Some(why)) => {
                let (how, at) = (state(newest), instant(at));
                format!("firing {id} of {role} ended as {how} at {at}: {why}")
            }
            _ => {
                let since = instant(newest.claimed_at);
                let dead = life::dead(home).await?;
                match dead.iter().any(|row| row.id == newest.id) {
                    true => format!(
                        "firing {id} of {role} had it since {since}, and its process is gone: `carson prune` saves its work and ends it"
                    ),
                    false => format!("firing {id} of {role} works on it since {since}"),
                }
            }
        });
    }
    let Some(number) = rows.iter().rev().find_map(|row| row.pr_number) else {
        return Ok(facts);
    };
    let pull = match forge.pull(number).await {
        Err(ForgeError::NotFound { .. }) => {
            facts.push(format!("its pull request #{number} is not there any more"));
            return Ok(facts);
        }
        pull => pull?,
    };
    facts.push(match (pull.state, pull.draft) {
        (PullState::Open, true) => format!("its pull request #{number} is an open draft"),
        (PullState::Open, false) => {
            format!("its pull request #{number} is open and waits to be read")
        }
        (PullState::Merged, _) => format!("its pull request #{number} was merged"),
        (PullState::Closed, _) => format!("its pull request #{number} was closed without merging"),
    });
    Ok(facts)
}

async fn of_queue(
    home: &Home,
    role: &Role,
    (repo, forge): (&Repo, &Forge),
    issue: &Issue,
    now: DateTime<Utc>,
) -> Result<OfQueue, Refusal> {
    let gate = gate(home, role, now).await?;
    let from = |at: DateTime<Utc>| next(role, open_breaker(&gate).as_ref(), at.max(now));
    let (stands, next, change) = match place(home, role, (repo, forge), issue, now).await? {
        Place::Ready { before: 0 } => (
            "ready: its next firing takes it".to_owned(),
            from(now),
            None,
        ),
        Place::Ready { before } => {
            let before = counted(u64::try_from(before).unwrap_or(u64::MAX), "issue");
            (format!("ready: it takes {before} before"), from(now), None)
        }
        Place::Held(why) => {
            let next = match &why {
                Held::Failed { until } | Held::FailsOnBase { until, .. } => from(*until),
                _ => None,
            };
            let held = HeldIssue {
                number: issue.number,
                why,
            };
            let change = change_of_held(role, repo, &held);
            (format!("held: {}", held.why), next, Some(change))
        }
        Place::Given(why) => (format!("people get it next: {why}"), from(now), None),
        Place::Elsewhere(why) => (format!("not in its queue: {why}"), None, None),
    };
    Ok(OfQueue {
        role: role.name.clone(),
        stands,
        stopped: stopped(home, role, &gate, now).await?,
        next,
        change,
    })
}

/// What keeps a role from firing now; that its last firing ended before any session counts, too: the next one asks the
/// same.
pub(super) async fn stopped(
    home: &Home,
    role: &Role,
    gate: &Gate,
    now: DateTime<Utc>,
) -> Result<Option<String>, Refusal> {
    if !role.enabled {
        return Ok(Some("it is disabled".to_owned()));
    }
    match admit(gate, now) {
        Admission::Admit(_) => {}
        Admission::Wait(why) => return Ok(Some(why)),
        Admission::Skip(reason) => return Ok(Some(reason.to_string())),
    }
    let full = stops::full(home, role).await;
    if let Some(full) = full.into_iter().find(|stop| !stop.is_partial()) {
        return Ok(Some(full.why));
    }
    let filter = Filter {
        role: Some(role.name.clone()),
        since: None,
        skipped: true,
        outcome: None,
        limit: 1,
    };
    let last = home.store.firings(&filter).await?.into_iter().next();
    let failed = last.filter(|row| row.skip == Some(SkipKind::PREFLIGHT));
    // A dry run, or another role, may have found since that its setup is well.
    let repos = role
        .repos
        .iter()
        .filter_map(|name| home.fleet.repos.get(name));
    let setup_fails = repos.flat_map(|repo| failures(home, repo)).next().is_some();
    let why = failed.and_then(|row| row.reason);
    let why = why.filter(|why| setup_fails || !why.contains(".setup: "));
    Ok(why.map(|why| format!("{why} (when it fired last)")))
}
