//! Where one pull request stands, with each role that may take it: whose move it is.

use carson_config::{Repo, Role, WorkFrom};
use carson_core::RepoName;
use carson_core::text::instant;
use carson_firing::stands;
use carson_forge::{Pull, PullState};
use carson_home::Home;
use carson_store::Firing;
use serde::Serialize;

use super::of_issue::OfQueue;
use crate::firings::state;
use crate::refusal::Refusal;

/// What is so of a pull request.
#[derive(Debug, Serialize)]
pub struct OfPull {
    /// Its repository.
    pub repo: RepoName,
    /// Its number.
    pub number: u64,
    /// Its title, redacted.
    pub title: String,
    /// What is so whatever role asks: where it stands, who pushed to it.
    pub facts: Vec<String>,
    /// Each role that works on pull requests there.
    pub roles: Vec<OfQueue>,
}

pub(super) async fn reasons_of_pull(
    home: &Home,
    repo: &Repo,
    number: u64,
) -> Result<OfPull, Refusal> {
    let forge = home.forge(repo).await?;
    let pull = forge.pull(number).await?;
    let rows = home.store.firings_of_pull(&repo.name, number).await?;
    let mut told = OfPull {
        repo: repo.name.clone(),
        number,
        title: home.redactor.redact(&pull.title).into_owned(),
        facts: facts(&pull, &rows),
        roles: Vec::new(),
    };
    if pull.state != PullState::Open {
        return Ok(told);
    }
    match forge.pull_head(number).await {
        Ok(head) => told
            .facts
            .extend(head.mergeability.stands_against().map(ToOwned::to_owned)),
        Err(error) => told
            .facts
            .push(format!("whether it can be merged is not known: {error}")),
    }
    let takes = |role: &&Role| role.work.from == WorkFrom::Pulls && role.repos.contains(&repo.name);
    for role in home.fleet.roles.values().filter(takes) {
        let found = stands(home, role, (repo, &forge), number).await?;
        let found = found.unwrap_or_default();
        let held = found
            .held
            .first()
            .map(|held| format!("not taken: {}", held.why));
        let stands = match found.ready {
            Some(_) => "ready: its next firing takes it".to_owned(),
            None => held.unwrap_or_else(|| "not among those that it looks at".to_owned()),
        };
        told.roles.push(OfQueue {
            role: role.name.clone(),
            stands,
            stopped: None,
            next: None,
            change: None,
        });
    }
    if told.roles.is_empty() {
        let people = "no role here works on pull requests: people read and merge it";
        told.facts.push(people.to_owned());
    }
    Ok(told)
}

fn facts(pull: &Pull, rows: &[Firing]) -> Vec<String> {
    let stands = match (pull.state, pull.draft) {
        (PullState::Open, true) => "it is an open draft",
        (PullState::Open, false) => "it is open",
        (PullState::Merged, _) => "it was merged",
        (PullState::Closed, _) => "it was closed without merging",
    };
    let pushed = |row: &Firing| {
        let (id, role, at) = (row.id.short(), &row.role, instant(row.claimed_at));
        format!(
            "firing {id} of {role} pushed to it at {at} ({})",
            state(row)
        )
    };
    let people = rows
        .is_empty()
        .then(|| "no firing of this fleet opened it".to_owned());
    let first = std::iter::once(stands.to_owned());
    first.chain(people).chain(rows.iter().map(pushed)).collect()
}
