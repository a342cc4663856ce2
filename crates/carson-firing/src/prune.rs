//! Benches that no living firing needs: salvage first, then remove. Claims that no living firing
//! holds: release.

use std::path::PathBuf;

use carson_config::Repo;
use carson_core::FiringId;
use carson_git::{GitError, Mirror, Salvaged, Worktree};
use carson_store::StoreError;
use serde::Serialize;
use tracing::warn;

use crate::bench::Bench;
use crate::claims;
use crate::household::Household;
use crate::recover;

/// What pruning did, or would do, with one bench.
#[derive(Clone, Debug, Serialize)]
pub struct Pruned {
    /// The bench.
    pub path: PathBuf,
    /// The firing it belonged to, when its name tells.
    pub firing: Option<FiringId>,
    /// What happened.
    pub action: Action,
}

/// One of the three things that can happen to a bench.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "did", content = "detail")]
pub enum Action {
    /// Everything in it was safe already.
    Removed,
    /// Work was found and is under this ref now.
    Salvaged(String),
    /// It stays, and why.
    Kept(String),
}

/// Looks at every bench and at the claims on the forges. With `dry_run` nothing is changed.
///
/// # Errors
/// When the store does not answer or the directory cannot be read.
pub async fn pass(house: &Household, dry_run: bool) -> Result<Vec<Pruned>, PruneError> {
    if !dry_run {
        claims::sweep(house).await?;
    }
    let benches = benches(house)?;
    let lane = |at: usize| lane(house, benches.iter().skip(at).step_by(LANES), dry_run);
    // Most of a bench's time is waiting for git.
    let lanes: [_; LANES] = tokio::join!(lane(0), lane(1), lane(2), lane(3)).into();
    let mut done = Vec::new();
    for lane in lanes {
        done.extend(lane?);
    }
    done.sort_by(|one: &Pruned, other| one.path.cmp(&other.path));
    Ok(done)
}

/// Benches that are looked at side by side.
const LANES: usize = 4;

async fn lane(
    house: &Household,
    benches: impl Iterator<Item = &PathBuf>,
    dry_run: bool,
) -> Result<Vec<Pruned>, PruneError> {
    let mut done = Vec::new();
    for path in benches {
        let firing = path
            .file_name()
            .and_then(|n| n.to_str())
            .and_then(|n| n.parse().ok());
        let action = match firing {
            None => Action::Kept("its name is not that of a firing".into()),
            Some(id) if recover::is_live(house, id).await? => continue,
            Some(id) => one(house, id, dry_run).await?,
        };
        done.push(Pruned {
            path: path.clone(),
            firing,
            action,
        });
    }
    Ok(done)
}

/// A pass of pruning that could not look.
#[derive(Debug, thiserror::Error)]
pub enum PruneError {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory of the benches cannot be read.
    #[error("the benches in {path:?} cannot be read")]
    Benches {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

fn benches(house: &Household) -> Result<Vec<PathBuf>, PruneError> {
    let path = house.fleet.home.benches();
    let fail = |source| PruneError::Benches {
        path: path.clone(),
        source,
    };
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for item in std::fs::read_dir(&path).map_err(fail)? {
        found.push(item.map_err(fail)?.path());
    }
    found.sort();
    Ok(found)
}

async fn one(house: &Household, id: FiringId, dry_run: bool) -> Result<Action, StoreError> {
    let bench = Bench::of(house, id);
    if !bench.may_hold_work() {
        return Ok(remove(&bench, dry_run));
    }
    let Some((mirror, worktree)) = worktree_of(house, id, &bench).await? else {
        return Ok(Action::Kept(
            "no row tells which repository it belongs to".into(),
        ));
    };
    let looked = match dry_run {
        true => worktree
            .is_salvaged()
            .await
            .map(|found| found == Salvaged::Yes),
        false => removed(&worktree).await,
    };
    match looked {
        Ok(true) => Ok(remove(&bench, dry_run)),
        Ok(false) if dry_run => Ok(Action::Salvaged(format!("refs/carson/salvage/{id}"))),
        Ok(false) => salvage(house, &mirror, &worktree, id).await,
        Err(error) => Ok(Action::Kept(error.to_string())),
    }
}

/// The gate is part of removal, so what is clean is looked at once.
async fn removed(worktree: &Worktree) -> Result<bool, GitError> {
    match worktree.remove().await {
        Ok(()) => Ok(true),
        Err(GitError::NotSalvaged { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn salvage(
    house: &Household,
    mirror: &Mirror,
    worktree: &Worktree,
    id: FiringId,
) -> Result<Action, StoreError> {
    let kept = match save(mirror, worktree, id).await {
        Ok(kept) => kept,
        Err(error) => return Ok(Action::Kept(error.to_string())),
    };
    if let Err(error) = house.store.set_salvage_ref(id, &kept).await {
        warn!(firing.id = %id, %error, "the kept ref could not be noted");
    }
    if let Err(error) = worktree.remove().await {
        return Ok(Action::Kept(error.to_string()));
    }
    remove(&Bench::of(house, id), false);
    Ok(Action::Salvaged(kept))
}

async fn worktree_of(
    house: &Household,
    id: FiringId,
    bench: &Bench,
) -> Result<Option<(Mirror, Worktree)>, StoreError> {
    let Some(row) = house.store.firing(id).await? else {
        return Ok(None);
    };
    let repo: Option<&Repo> = row
        .repo
        .as_ref()
        .and_then(|repo| house.fleet.repos.get(repo));
    let base = row.base_sha.as_ref().and_then(|base| base.parse().ok());
    let (Some(repo), Some(branch), Some(base)) = (repo, row.branch, base) else {
        return Ok(None);
    };
    let mirror = house.mirror(repo);
    let worktree = Worktree::open(&mirror, bench.tree(), branch, base);
    Ok(Some((mirror, worktree)))
}

/// The ref that holds the worktree's work.
async fn save(mirror: &Mirror, worktree: &Worktree, id: FiringId) -> Result<String, GitError> {
    let message = format!("Unfinished work of firing {id}\n\nFound by pruning.");
    let tip = match worktree.snapshot(&message).await? {
        Some(oid) => oid,
        None => worktree.tip().await?,
    };
    mirror.keep_ref(&id.to_string(), &tip).await
}

fn remove(bench: &Bench, dry_run: bool) -> Action {
    if dry_run {
        return Action::Removed;
    }
    match carson_git::remove_tree(&bench.root) {
        Ok(()) => Action::Removed,
        Err(error) => Action::Kept(error.to_string()),
    }
}
