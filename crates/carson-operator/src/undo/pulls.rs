//! Pull requests that the firing opened, merged or closed, and its branch.

use carson_core::Compensation;
use carson_core::compensation::short;
use carson_core::effect::Effect;
use carson_forge::{ForgeError, PullState};
use carson_git::Oid;
use carson_store::{Firing, NewUndo};

use super::going::went_on;
use super::looking::{Looking, found, left, nothing, owed};
use crate::refusal::Refusal;

/// Merges, each of which another pull request takes back.
pub(super) async fn merges(looking: &mut Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
    let mut list = Vec::new();
    for (pull, head) in merged(looking) {
        let what = Compensation::RevertMerge { pull, head };
        list.push(match looking.row.pr_number {
            // It turned its base red.
            Some(other) => found(what, format!("#{other} takes it back")),
            None => owed(what),
        });
    }
    Ok(list)
}

fn merged(looking: &Looking<'_, '_>) -> Vec<(u64, String)> {
    let done = looking.done().filter_map(|one| match &one.effect {
        Effect::MergePull { pull, head } => Some((*pull, head.clone())),
        _ => None,
    });
    done.collect()
}

/// Its pull request, then the branch of that.
pub(super) async fn opened(looking: &mut Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
    let row = looking.row;
    let Some(pushed) = row.pushed_sha.clone() else {
        return Ok(Vec::new());
    };
    // What it pushed takes a merge back: that is a way back itself.
    if !merged(looking).is_empty() {
        return Ok(Vec::new());
    }
    if let Some(branch) = &row.goes_on {
        let why = match opener(looking).await? {
            Some(first) => format!(
                "firing {} opened it: `carson undo {}` takes all of it back",
                first.id.short(),
                first.id.short()
            ),
            None => "the branch was there before".to_owned(),
        };
        let commit = short(&pushed);
        return Ok(vec![nothing(
            format!("its commit {commit} on the branch {branch}"),
            why,
        )]);
    }
    let Some(branch) = row.branch.clone() else {
        return Ok(Vec::new());
    };
    own(looking, branch, pushed).await
}

/// Who opened the pull request that this firing went on with.
async fn opener(looking: &Looking<'_, '_>) -> Result<Option<Firing>, Refusal> {
    let Some(number) = looking.row.pr_number else {
        return Ok(None);
    };
    let repo = &looking.place.repo.name;
    let store = &looking.going.home.store;
    let mut rows = store.firings_of_pull(repo, number).await?.into_iter();
    Ok(rows.next().filter(|first| first.id != looking.row.id))
}

async fn own(
    looking: &mut Looking<'_, '_>,
    branch: String,
    pushed: String,
) -> Result<Vec<NewUndo>, Refusal> {
    let mut ours = vec![pushed.clone()];
    let mut later = None;
    if let Some(number) = looking.row.pr_number {
        let repo = &looking.place.repo.name;
        let store = &looking.going.home.store;
        for other in store.firings_of_pull(repo, number).await? {
            let Some(commit) = &other.pushed_sha else {
                continue;
            };
            if other.id == looking.row.id {
                continue;
            }
            ours.push(commit.clone());
            if !looking.going.is_taken_back(other.id).await? {
                later.get_or_insert_with(|| went_on(&other));
            }
        }
    }
    let mirror = looking.going.home.mirror(looking.place.repo);
    let now: Option<Oid> = mirror.remote_head(&branch).await?;
    let now = now.map(|now| now.to_string());
    let moved = now.as_ref().filter(|now| !ours.contains(now));
    let moved = moved.map(|now| format!("somebody pushed {} to it since", short(now)));
    let stays = later.or(moved);
    let commit = now.clone().unwrap_or(pushed);
    let delete = Compensation::DeleteBranch {
        branch,
        commit: commit.clone(),
    };
    let (pull, is_merged) = match looking.row.pr_number {
        Some(number) => pull(looking, number, commit, stays.as_deref()).await?,
        None => (None, false),
    };
    let branch = match (stays, now) {
        (_, None) => found(delete, "it is gone"),
        (Some(why), _) => left(delete, why),
        (None, _) if is_merged => left(delete, "its pull request was merged"),
        (None, _) => owed(delete),
    };
    Ok(pull.into_iter().chain([branch]).collect())
}

/// How its pull request stands, and whether it is merged.
async fn pull(
    looking: &Looking<'_, '_>,
    number: u64,
    commit: String,
    stays: Option<&str>,
) -> Result<(Option<NewUndo>, bool), Refusal> {
    let what = Compensation::ClosePull {
        pull: number,
        commit: Some(commit),
    };
    let pull = match looking.place.forge.pull(number).await {
        Err(ForgeError::NotFound { .. }) => return Ok((Some(found(what, "it is gone")), false)),
        pull => pull?,
    };
    let stands = match (pull.state, stays) {
        (PullState::Merged, _) => left(
            what,
            "it was merged since: who merged it takes that back, or a revert on the forge",
        ),
        (PullState::Closed, _) => found(what, "it was closed before"),
        (PullState::Open, Some(why)) => left(what, why),
        (PullState::Open, None) => owed(what),
    };
    Ok((Some(stands), pull.state == PullState::Merged))
}

/// Older drafts that it closed.
pub(super) async fn drafts(looking: &mut Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
    let closed = looking.done().filter_map(|one| match &one.effect {
        Effect::CloseDrafts { drafts } => Some((drafts.clone(), one.said.clone())),
        _ => None,
    });
    let closed: Vec<_> = closed.collect();
    let mut list = Vec::new();
    for (drafts, said) in closed {
        let said = said.unwrap_or_default();
        // Others were open no more, or touched.
        let was_closed = |number: u64| said.split(", ").any(|one| one == format!("#{number}"));
        for draft in drafts.iter().filter(|draft| was_closed(draft.pull)) {
            let what = Compensation::ReopenPull { pull: draft.pull };
            let pull = match looking.place.forge.pull(draft.pull).await {
                Err(ForgeError::NotFound { .. }) => {
                    list.push(found(what, "it is gone"));
                    continue;
                }
                pull => pull?,
            };
            let mirror = looking.going.home.mirror(looking.place.repo);
            let has_branch = mirror.remote_head(&draft.branch).await?.is_some();
            list.push(match pull.state {
                PullState::Open => left(what, "somebody opened it again since"),
                PullState::Merged => left(what, "it was merged since"),
                PullState::Closed if !has_branch => left(what, "its branch is gone"),
                PullState::Closed => owed(what),
            });
        }
    }
    Ok(list)
}
