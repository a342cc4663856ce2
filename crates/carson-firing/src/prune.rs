//! Benches that no living firing needs: salvage first, then remove.
//!
//! Never one with a living process, one that somebody locked (a file `locked` in it), one whose
//! repository nobody knows, and none before everything in it is saved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use carson_config::Repo;
use carson_core::FiringId;
use carson_git::{GitError, IdleRef, Kept, Salvaged, Seen, Worktree};
use carson_proc::ProcessId;
use carson_store::StoreError;
use chrono::{DateTime, Utc};
use serde::Serialize;
use tracing::warn;

use crate::full_disk;
use crate::life;
use crate::orphan_processes;
pub use crate::pruned::{Action, Pass, Plan, Pruned};
use crate::recover;
use crate::stuck_benches::Known;
use carson_bench::bench::{Bench, LOCKED};
use carson_home::Home;

/// Looks at every bench.
///
/// # Errors
/// When the store does not answer or the directory cannot be read.
pub async fn pass(home: &Home, plan: &Plan) -> Result<Pass, PruneError> {
    let until = Instant::now().checked_add(plan.within);
    let (all, alive) = (benches(home)?, orphan_processes::alive());
    let known = Known::of(home).await?;
    known.forget_gone(home, &home.fleet.layout.benches()).await;
    let lane = |at: usize| {
        let benches = all.iter().skip(at).step_by(LANES);
        lane(home, benches, plan, (&alive, &known), until)
    };
    // Most of a bench's time is waiting for git.
    let lanes: [_; LANES] = tokio::join!(lane(0), lane(1), lane(2), lane(3)).into();
    let mut done = Pass::default();
    for lane in lanes {
        let lane = lane?;
        done.benches.extend(lane.benches);
        done.left += lane.left;
    }
    done.benches.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(done)
}

/// Benches that are looked at side by side.
const LANES: usize = 4;

async fn lane(
    home: &Home,
    benches: impl Iterator<Item = &PathBuf>,
    plan: &Plan,
    (alive, known): (&BTreeMap<FiringId, Vec<ProcessId>>, &Known),
    until: Option<Instant>,
) -> Result<Pass, PruneError> {
    let (mut done, mut leaving) = (Pass::default(), Leaving::default());
    for path in benches {
        if until.is_some_and(|until| Instant::now() >= until) {
            done.left += 1;
            continue;
        }
        let firing = path
            .file_name()
            .and_then(|n| n.to_str())
            .and_then(|n| n.parse().ok());
        let action = match firing {
            None => Action::Kept("its name is not that of a firing".into()),
            Some(id) if recover::is_live(home, id).await? => continue,
            Some(id) => match stays(home, &Bench::of(home, id), plan, alive.get(&id))
                .or_else(|| known.rests(id, plan, home.clock.now()))
            {
                Some(why) => Action::Kept(why),
                None => match looked_at(home, id, plan.dry_run, &mut leaving).await? {
                    Looked::Leaves => {
                        if leaving.benches.len() >= TOGETHER {
                            done.benches.extend(leaving.leave(home, known).await);
                        }
                        continue;
                    }
                    Looked::Stays(action) => {
                        if !plan.dry_run {
                            known.record_action(home, id, &action).await;
                        }
                        action
                    }
                },
            },
        };
        done.benches.push(Pruned {
            path: path.clone(),
            firing,
            action,
        });
    }
    done.benches.extend(leaving.leave(home, known).await);
    Ok(done)
}

/// Benches that are removed by one child: its start costs more than what most of them hold.
const TOGETHER: usize = 16;

/// What a look at a bench decided.
enum Looked {
    /// It is among those that leave.
    Leaves,
    /// It does not leave, and what became of it.
    Stays(Action),
}

/// Benches of which all is saved, and the refs that go with them.
#[derive(Default)]
struct Leaving {
    /// With the ref that keeps what was in it, where it had to be kept.
    benches: Vec<(FiringId, Bench, Option<String>)>,
    idle: IdleRefs,
}

impl Leaving {
    /// Removes them; what became of each.
    async fn leave(&mut self, home: &Home, known: &Known) -> Vec<Pruned> {
        let leaving = std::mem::take(&mut self.benches);
        let benches: Vec<Bench> = leaving.iter().map(|(_, bench, _)| bench.clone()).collect();
        let gone = Bench::remove_all(home, &benches).await;
        let mut pruned = Vec::new();
        for ((id, bench, kept), gone) in leaving.into_iter().zip(gone) {
            let action = match (gone, kept) {
                (Err(error), _) => Action::Kept(error.to_string()),
                (Ok(()), Some(kept)) => Action::Salvaged(kept),
                (Ok(()), None) => Action::Removed,
            };
            known.record_action(home, id, &action).await;
            pruned.push(Pruned {
                path: bench.root,
                firing: Some(id),
                action,
            });
        }
        self.idle.delete().await;
        pruned
    }
}

/// Refs of benches that are gone. Deleting them one by one costs a process each, and where refs
/// are packed each rewrites the file of all of them.
#[derive(Default)]
struct IdleRefs {
    by_store: BTreeMap<PathBuf, (Kept, Vec<IdleRef>)>,
}

impl IdleRefs {
    fn add(&mut self, kept: &Kept, refs: Vec<IdleRef>) {
        let of_store = self.by_store.entry(kept.path().to_owned());
        let (_, waiting) = of_store.or_insert_with(|| (kept.clone(), Vec::new()));
        waiting.extend(refs);
    }

    async fn delete(&mut self) {
        for (kept, refs) in std::mem::take(&mut self.by_store).into_values() {
            if let Err(error) = kept.delete_refs(&refs).await {
                warn!(store = %kept.path().display(), %error, "refs of removed benches stay");
            }
        }
    }
}

/// Why a bench of an ended firing is not touched now.
fn stays(
    home: &Home,
    bench: &Bench,
    plan: &Plan,
    alive: Option<&Vec<ProcessId>>,
) -> Option<String> {
    if let Some(process) = alive.and_then(|processes| processes.first()) {
        return Some(format!("{process} of its firing still runs"));
    }
    if bench.is_locked() {
        return Some(LOCKED.into());
    }
    let now = home.clock.now();
    let young = |path: &Path| {
        let changed = path.metadata().and_then(|found| found.modified()).ok();
        changed.is_some_and(|changed| {
            let changed = DateTime::<Utc>::from(changed);
            // One from the future is as young as can be, but must not stay for ever.
            (now - changed).abs().to_std().unwrap_or_default() < plan.youth
        })
    };
    let inside = std::fs::read_dir(&bench.root)
        .into_iter()
        .flatten()
        .flatten();
    let mut places = std::iter::once(bench.root.clone()).chain(inside.map(|item| item.path()));
    places
        .any(|path| young(&path))
        .then(|| "it changed only a moment ago".into())
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

fn benches(home: &Home) -> Result<Vec<PathBuf>, PruneError> {
    let path = home.fleet.layout.benches();
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

async fn looked_at(
    home: &Home,
    id: FiringId,
    dry_run: bool,
    leaving: &mut Leaving,
) -> Result<Looked, StoreError> {
    let bench = Bench::of(home, id);
    if !bench.may_hold_work() {
        if dry_run {
            return Ok(Looked::Stays(Action::Removed));
        }
        leaving.benches.push((id, bench, None));
        return Ok(Looked::Leaves);
    }
    let Some(worktree) = worktree_of(home, id, &bench).await? else {
        return Ok(Looked::Stays(Action::Kept(
            "no row tells which repository it belongs to".into(),
        )));
    };
    if !dry_run {
        full_disk::after_sessions(home, &bench).await;
    }
    let looked = match worktree.inspect(false).await {
        Ok(seen) if dry_run => would_be(&seen, id).await.map(Looked::Stays),
        Ok(seen) => put_aside(home, id, bench, &seen, leaving).await,
        Err(error) => Err(error),
    };
    Ok(looked.unwrap_or_else(|error| Looked::Stays(Action::Kept(error.to_string()))))
}

/// Saves what is not saved yet. The gate is part of leaving.
async fn put_aside(
    home: &Home,
    id: FiringId,
    bench: Bench,
    seen: &Seen,
    leaving: &mut Leaving,
) -> Result<Looked, GitError> {
    let kept = saved(home, seen, id).await?;
    let idle = seen.put_aside(None).await?;
    leaving.idle.add(seen.worktree().kept(), idle);
    leaving.benches.push((id, bench, kept));
    Ok(Looked::Leaves)
}

async fn would_be(seen: &Seen, id: FiringId) -> Result<Action, GitError> {
    if let Some(why) = seen.facts().trouble.first() {
        return Ok(Action::Kept(why.clone()));
    }
    Ok(match seen.is_salvaged().await? {
        Salvaged::Yes => Action::Removed,
        Salvaged::No { .. } => Action::Salvaged(format!("refs/carson/salvage/{id}")),
    })
}

/// Keeps what is not saved yet; the ref.
async fn saved(home: &Home, seen: &Seen, id: FiringId) -> Result<Option<String>, GitError> {
    if seen.is_salvaged().await? == Salvaged::Yes {
        return Ok(None);
    }
    let message = format!("Unfinished work of firing {id}\n\nFound by pruning.");
    let made = seen.snapshot(&message).await?;
    let tip = made.unwrap_or_else(|| seen.tip().clone());
    let kept = seen
        .worktree()
        .kept()
        .keep_ref(&id.to_string(), &tip)
        .await?;
    if let Err(error) = note_kept(home, id, &kept).await {
        warn!(firing.id = %id, %error, "the kept ref could not be noted");
    }
    Ok(Some(kept))
}

/// Whoever concluded the firing, its bench was here.
async fn note_kept(home: &Home, id: FiringId, kept: &str) -> Result<(), StoreError> {
    let Some(row) = home.store.firing(id).await? else {
        return Ok(());
    };
    let as_firing = home.store.as_firing(id, row.epoch);
    as_firing.set_salvage_ref(kept).await
}

async fn worktree_of(
    home: &Home,
    id: FiringId,
    bench: &Bench,
) -> Result<Option<Worktree>, StoreError> {
    let Some(row) = home.store.firing(id).await? else {
        return Ok(None);
    };
    let repo: Option<&Repo> = row
        .repo
        .as_ref()
        .and_then(|repo| home.fleet.repos.get(repo));
    let base = row.base_sha.as_ref().and_then(|base| base.parse().ok());
    let (Some(repo), Some(branch), Some(base)) = (repo, row.branch, base) else {
        return Ok(None);
    };
    let mirror = home.mirror(repo);
    Ok(Some(Worktree::open(&mirror, bench.tree(), branch, base)))
}

/// Gives a bench up: what can still be kept of it is, and then it goes, whatever is in it.
///
/// # Errors
/// When the store does not answer.
pub async fn discard(home: &Home, id: FiringId) -> Result<Discarded, PruneError> {
    let bench = Bench::of(home, id);
    if recover::is_live(home, id).await? {
        if !life::dead(home).await?.iter().any(|row| row.id == id) {
            let why = "its firing still runs; it ends by its wall clock at the latest";
            return Ok(Discarded::Not(why.into()));
        }
        // Nobody has saved its work yet: that comes first. Where it cannot be saved, on a full disk, it is given up.
        if let Err(error) = recover::pass(home).await {
            warn!(firing.id = %id, %error, "a dead firing could not be concluded");
        }
        if !bench.root.exists() {
            let row = home.store.firing(id).await?;
            let kept = row.and_then(|row| row.salvage_ref);
            return Ok(Discarded::Gone {
                kept: Ok(kept),
                lost: Vec::new(),
            });
        }
    }
    if !bench.root.exists() {
        return not_here(home, id).await;
    }
    let by_hand = Plan::by_hand(false);
    if let Some(why) = stays(home, &bench, &by_hand, orphan_processes::alive().get(&id)) {
        return Ok(Discarded::Not(why));
    }
    let mut lost = Vec::new();
    let kept = match worktree_of(home, id, &bench).await? {
        None => Err("no row tells which repository it belongs to".to_owned()),
        Some(worktree) => match worktree.inspect(false).await {
            Ok(seen) => {
                lost.clone_from(&seen.facts().trouble);
                let saved = saved(home, &seen, id).await;
                saved.map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        },
    };
    if let Err(error) = bench.remove(home).await {
        return Ok(Discarded::Not(error.to_string()));
    }
    home.store
        .end_stuck(&home.fleet.host, &id.to_string())
        .await?;
    Ok(Discarded::Gone { kept, lost })
}

/// A bench that this home does not have cannot be given up here: that of another host lies there.
async fn not_here(home: &Home, id: FiringId) -> Result<Discarded, PruneError> {
    let me = &home.fleet.host;
    let row = home.store.firing(id).await?;
    let why = match row.filter(|row| row.host != *me) {
        Some(row) => format!("it would be on {}: say this there", row.host),
        // One that somebody removed by hand may still be told to be stuck.
        None => {
            home.store.end_stuck(me, &id.to_string()).await?;
            "it is not there".to_owned()
        }
    };
    Ok(Discarded::Missing(why))
}

/// What became of a bench that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "did", content = "detail")]
pub enum Discarded {
    /// It is gone.
    Gone {
        /// The ref that has what was in it; none when all of it was safe before; or why nothing of it
        /// could be kept.
        kept: Result<Option<String>, String>,
        /// What was not kept with it.
        lost: Vec<String>,
    },
    /// It is still there, and why.
    Not(String),
    /// This home has none, and where it would be.
    Missing(String),
}

/// Removes what sessions cached (`HOME` and `TMPDIR`) in the benches of firings that have ended and
/// that stay for some reason; how many had any. The worktree is not touched.
///
/// # Errors
/// When the store does not answer or the directory cannot be read.
pub async fn clear_caches(home: &Home) -> Result<usize, PruneError> {
    let alive = orphan_processes::alive();
    let mut cleared = 0;
    for path in benches(home)? {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(id) = name.and_then(|name| name.parse::<FiringId>().ok()) else {
            continue;
        };
        let ended = home.store.firing(id).await?;
        let ended = ended.is_some_and(|row| row.ended_at.is_some());
        let by_hand = Plan::by_hand(false);
        let bench = Bench::of(home, id);
        if !ended || stays(home, &bench, &by_hand, alive.get(&id)).is_some() {
            continue;
        }
        let mut had_any = false;
        for dir in bench.cached().into_iter().chain([bench.rooms()]) {
            had_any |= dir.exists() && bench.remove_dir(home, &dir).await.is_ok();
        }
        cleared += usize::from(had_any);
    }
    Ok(cleared)
}
