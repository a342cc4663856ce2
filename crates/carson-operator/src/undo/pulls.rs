//! Pull requests that the firing opened, merged or closed, and its branch.

use carson_core::Compensation;
use carson_core::compensation::short;
use carson_core::effect::Effect;
use carson_core::work::WorkKey;
use carson_firing::ended_pulls;
use carson_forge::{Forge, ForgeError, Pull, PullState};
use carson_git::Oid;
use carson_store::{Firing, NewUndo, UndoState};

use super::going::went_on;
use super::looking::{Looking, found, left, nothing, owed, waits};
use super::touched;
use crate::refusal::Refusal;

/// Merges, each of which another pull request takes back.
pub(super) async fn merges(looking: &Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
    let mut list = Vec::new();
    for (pull, head) in merged(looking) {
        let what = Compensation::RevertMerge { pull, head };
        list.push(match looking.row.pr_number {
            Some(other) => by_another(looking, what, other).await?,
            None => owed(what),
        });
    }
    Ok(list)
}

/// A merge that this pull request takes back, as one that turned its base red.
async fn by_another(
    looking: &Looking<'_, '_>,
    what: Compensation,
    other: u64,
) -> Result<NewUndo, Refusal> {
    Ok(match looking.place.forge.pull(other).await {
        Err(ForgeError::NotFound { .. }) => {
            left(what, format!("#{other}, which took it back, is gone"))
        }
        Ok(pull) if pull.state == PullState::Closed => left(what, closed_since(other)),
        pull => {
            pull?;
            found(what, format!("#{other} takes it back"))
        }
    })
}

/// Nobody is asked twice.
pub(super) fn closed_since(other: u64) -> String {
    format!("#{other}, which takes it back, was closed: open it again to have that")
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
                "firing {} opened it: `carson undo {}` after this one takes all of it back",
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
    let mut rows = store.firings_of_pull(repo, number).await?;
    rows.retain(|row| branch_of(row) == looking.row.goes_on.as_deref());
    let first = rows.into_iter().next();
    Ok(first.filter(|first| first.id != looking.row.id))
}

async fn own(
    looking: &mut Looking<'_, '_>,
    branch: String,
    pushed: String,
) -> Result<Vec<NewUndo>, Refusal> {
    let others = others(looking).await?;
    let mirror = looking.going.home.mirror(looking.place.repo);
    let now: Option<Oid> = mirror.remote_head(&branch).await?;
    let now = now.map(|now| now.to_string());
    let commit = now.clone().unwrap_or_else(|| pushed.clone());
    let delete = Compensation::DeleteBranch {
        branch: branch.clone(),
        commit: commit.clone(),
    };
    if let Some(why) = stood_on(looking, &branch, &others).await? {
        let close = looking.row.pr_number.map(|pull| Compensation::ClosePull {
            pull,
            commit: Some(commit),
        });
        let ways = close.into_iter().chain([delete]);
        return Ok(ways.map(|what| waits(what, &*why)).collect());
    }
    let mut ours = others.iter().filter_map(|other| other.pushed_sha.as_ref());
    let moved = now
        .as_ref()
        .filter(|now| **now != pushed && !ours.any(|commit| commit == *now))
        .map(|now| format!("somebody pushed {} to it since", short(now)));
    let pull = match looking.row.pr_number {
        Some(number) => Some(pull(looking, (number, &others), commit, moved.as_deref()).await?),
        None => None,
    };
    let keeps = pull.as_ref().and_then(Opened::keeps_its_branch);
    let offered = offered_by_another(looking, &branch).await?;
    let keeps = moved.as_deref().or(keeps).or(offered.as_deref());
    let branch = match (now, keeps) {
        (None, _) => found(delete, "it is gone"),
        (Some(_), Some(why)) => left(delete, why),
        (Some(_), None) => owed(delete),
    };
    let pull = pull.map(|pull| pull.way);
    Ok(pull.into_iter().chain([branch]).collect())
}

/// Which open pull request of somebody else has its branch, too.
async fn offered_by_another(
    looking: &Looking<'_, '_>,
    branch: &str,
) -> Result<Option<String>, Refusal> {
    let open = looking.place.forge.open_pulls_of(branch).await?;
    let is_another =
        |pull: &&Pull| pull.head == branch && Some(pull.number) != looking.row.pr_number;
    let other = open.iter().find(is_another);
    Ok(other.map(|other| format!("pull request #{} offers it, too", other.number)))
}

/// The branch of the remote that a firing pushed to.
fn branch_of(row: &Firing) -> Option<&str> {
    row.goes_on.as_deref().or(row.branch.as_deref())
}

/// The other firings that pushed to its pull request. A number alone does not say that: a forge of files could
/// give one twice, before it kept what it gave.
async fn others(looking: &Looking<'_, '_>) -> Result<Vec<Firing>, Refusal> {
    let Some(number) = looking.row.pr_number else {
        return Ok(Vec::new());
    };
    let store = &looking.going.home.store;
    let mut all = store
        .firings_of_pull(&looking.place.repo.name, number)
        .await?;
    let branch = branch_of(looking.row);
    let is_on_it = |other: &Firing| other.pushed_sha.is_some() && branch_of(other) == branch;
    all.retain(|other| other.id != looking.row.id && is_on_it(other));
    Ok(all)
}

/// Which other firing stands on its branch: one that works on it now, or went on with it.
async fn stood_on(
    looking: &Looking<'_, '_>,
    branch: &str,
    others: &[Firing],
) -> Result<Option<String>, Refusal> {
    let (row, going) = (looking.row, &looking.going);
    let works = [row.work, row.pr_number.map(WorkKey::Pull)];
    let works = works.map(|work| work.filter(|work| *work != WorkKey::None));
    let is_on_it = |live: &Firing| {
        let has_its_work = live.work.is_some() && works.contains(&live.work);
        live.repo == row.repo && (live.goes_on.as_deref() == Some(branch) || has_its_work)
    };
    if let Some(why) = going.works_now(is_on_it).await? {
        return Ok(Some(why));
    }
    for other in others {
        if !going.is_taken_back(other.id).await? {
            return Ok(Some(went_on(other)));
        }
    }
    Ok(None)
}

/// How its pull request stands.
struct Opened {
    way: NewUndo,
    is_merged: bool,
}

impl Opened {
    fn keeps_its_branch(&self) -> Option<&'static str> {
        match self.way.state {
            _ if self.is_merged => Some("its pull request was merged"),
            UndoState::Left => Some("its pull request stays"),
            _ => None,
        }
    }
}

async fn pull(
    looking: &Looking<'_, '_>,
    (number, others): (u64, &[Firing]),
    commit: String,
    moved: Option<&str>,
) -> Result<Opened, Refusal> {
    let what = Compensation::ClosePull {
        pull: number,
        commit: Some(commit),
    };
    let forge = &looking.place.forge;
    let stands = |way| Opened {
        way,
        is_merged: false,
    };
    let pull = match forge.pull(number).await {
        Err(ForgeError::NotFound { .. }) => return Ok(stands(found(what, "it is gone"))),
        Ok(other) if Some(&*other.head) != branch_of(looking.row) => {
            let why = format!("it is gone: #{number} offers {} now", other.head);
            return Ok(stands(found(what, why)));
        }
        pull => pull?,
    };
    Ok(match (pull.state, moved) {
        (PullState::Merged, _) => Opened {
            way: left(what, merged_since(forge)),
            is_merged: true,
        },
        (PullState::Closed, _) if is_in_its_base(looking, &pull).await? => Opened {
            way: left(what, merged_by_git(&pull)),
            is_merged: true,
        },
        (PullState::Closed, _) => stands(found(what, "it was closed before")),
        (PullState::Open, Some(why)) => stands(left(what, why)),
        (PullState::Open, None) if is_in_its_base(looking, &pull).await? => Opened {
            way: left(what, merged_by_git(&pull)),
            is_merged: true,
        },
        (PullState::Open, None) => match touched::pull(looking, &pull, others).await? {
            Some(why) => stands(left(what, why)),
            None => stands(owed(what)),
        },
    })
}

/// Where the forge holds no branches, it does not see that somebody merged one.
async fn is_in_its_base(looking: &Looking<'_, '_>, pull: &Pull) -> Result<bool, Refusal> {
    let place = &looking.place;
    let mirror = looking.going.home.mirror(place.repo);
    if place.forge.holds_branches() || mirror.remote_head(&pull.head).await?.is_none() {
        return Ok(false);
    }
    Ok(ended_pulls::is_in_its_base(looking.going.home, place.repo, pull).await?)
}

fn merged_by_git(pull: &Pull) -> String {
    format!(
        "{} has its changes: who merged them takes that back, by `git revert` and a push",
        pull.base
    )
}

/// Where the forge holds no branches, no button of its own takes a merge back.
fn merged_since(forge: &Forge) -> &'static str {
    match forge.holds_branches() {
        true => "it was merged since: who merged it takes that back, or a revert on the forge",
        false => {
            "it was merged since: who merged it takes that back, by `git revert -m 1` of that merge and a push"
        }
    }
}

/// Older drafts that it closed.
pub(super) async fn drafts(looking: &Looking<'_, '_>) -> Result<Vec<NewUndo>, Refusal> {
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
                Ok(other) if other.head != draft.branch => {
                    let why = format!("it is gone: its number offers {} now", other.head);
                    list.push(found(what, why));
                    continue;
                }
                pull => pull?,
            };
            let mirror = looking.going.home.mirror(looking.place.repo);
            let has_branch = mirror.remote_head(&draft.branch).await?.is_some();
            list.push(match pull.state {
                PullState::Open => found(what, "it is open"),
                PullState::Merged => left(what, "it was merged since"),
                PullState::Closed if !has_branch => left(what, "its branch is gone"),
                PullState::Closed => owed(what),
            });
        }
    }
    Ok(list)
}
