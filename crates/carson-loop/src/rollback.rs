//! Brings the tree back to where an attempt left it.
//!
//! The index comes first, then the `.gitignore` files, and only then the rest: both say what is ignored, and what is
//! ignored, now or then, is not touched. Nor is what was ignored before a way back that made it visible: no checkpoint has
//! it, and nobody could bring it back. HEAD stays where it is.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::checkpoint::{Checkpoints, Repository};
use crate::error::LoopError;
use crate::event::Happened;
use crate::fold::interrupted;
use crate::index;
use crate::journal::Journal;
use crate::json_file::Sync;
use crate::lock::{Lock, Owner};
use crate::place::Place;
use crate::run::end_orphans;
use crate::state::State;
use crate::tree::{Change, Look, Missed, Rules, Snapshot, TreePath, undo};

/// Looks until nothing is left to do; each may make something visible that was not.
const ROUNDS: usize = 8;
/// Paths that are told.
const TOLD: usize = 200;

/// What becomes of files that a person edited since the loop looked last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mine {
    /// Nothing is done while there are any.
    #[default]
    Refuse,
    /// They stay as they are, whole.
    Keep,
    /// They are brought back like all others.
    Overwrite,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RolledBack {
    /// The attempt; 0 is before the first one.
    pub attempt: u32,
    /// How many paths changed.
    pub changed: u64,
    /// Some of them, and how.
    pub paths: Vec<String>,
    /// Files that a person had edited since, and that were kept.
    pub kept: Vec<String>,
    /// What could not be brought back, and why.
    pub missed: Vec<String>,
    /// Whether the index was brought back.
    pub index: bool,
    /// Commits that were made since: HEAD stays where it is.
    pub commits_since: Vec<String>,
}

/// Brings the tree back to where an attempt left it; 0 is before the first one.
///
/// # Errors
/// When the loop runs, there is no such attempt, or a person has edited since what would change.
pub async fn rollback(
    place: &Place,
    caller: &Caller,
    attempt: u32,
    mine: Mine,
) -> Result<RolledBack, LoopError> {
    let since = caller.clock.now();
    let owner = Owner::myself(format!("carson loop rollback {attempt}"), since);
    if !place.exists() {
        return Err(no_attempt(attempt, None));
    }
    let lock = Lock::take(&place.lock(), &owner)?;
    end_orphans(place, &lock).await;
    let mut journal = Journal::open(place, &caller.clock)?;
    let mut checkpoints = Checkpoints::open(place)?;
    if !checkpoints.has(attempt) {
        let known = Some((journal.state(), &checkpoints));
        return Err(no_attempt(attempt, known));
    }
    let excludes = caller.git_excludes();
    let rules = Rules::of_repository(place.root(), excludes.as_deref()).without(place.own());
    let target = checkpoints.get(attempt)?;
    let before = Look::at(place.root(), &rules).keeping(&mut checkpoints.contents)?;
    let last = last_checkpoint(journal.state(), &checkpoints);
    let spared = checkpoints.spared()?;
    let mut edited = edited(&checkpoints.last_seen(last)?, &before, &target.tree);
    edited.retain(|path| !spared.contains(path));
    if !edited.is_empty() && mine == Mine::Refuse {
        let paths = edited.iter().map(ToString::to_string).collect();
        return Err(LoopError::Edited { paths });
    }
    let kept = if mine == Mine::Keep {
        edited
    } else {
        BTreeSet::new()
    };
    if let Some(begun) = interrupted(journal.past()).filter(|one| !checkpoints.has(one.attempt)) {
        // What a run that died left of it would be lost.
        let root = (place.root(), &rules);
        checkpoints.make(begun.attempt, root, Some(&before))?;
    }
    let index = match (rules.git(), &target.repository.index) {
        (Some(git), Some(index)) if is_of(&rules, &target.repository) => {
            index::restore(git, place, caller, &checkpoints.contents, index).await?
        }
        _ => false,
    };
    let way = Way {
        place,
        rules: &rules,
        checkpoints: &checkpoints,
        target: &target.tree,
        before: &before,
        kept: &kept,
        spared: &spared,
    };
    let (after, mut missed) = way.go()?;
    missed.extend(without_repository(&target.repository, &rules));
    let spared = way.left(&after).map(|change| change.path).collect();
    let mut changes = after.changes(&before);
    changes.retain(|change| way.did(change, &spared));
    let commits_since = match &target.repository.head {
        Some(head) => index::commits_since(place.root(), caller, head).await,
        None => Vec::new(),
    };
    checkpoints.saw(&still_edited(&after, &target.tree, &kept), &spared)?;
    journal.add(
        Happened::RolledBack {
            attempt,
            changed: changes.len() as u64,
            kept: kept.len() as u64,
        },
        Sync::Now,
    )?;
    Ok(RolledBack {
        attempt,
        changed: changes.len() as u64,
        paths: changes.iter().map(told).take(TOLD).collect(),
        kept: kept.iter().map(ToString::to_string).collect(),
        missed: missed
            .iter()
            .map(|one| format!("{}: {}", one.path, one.why))
            .collect(),
        index,
        commits_since,
    })
}

/// Whether the tree is in the repository of which something was kept: in no other that is above that one.
fn is_of(rules: &Rules, kept: &Repository) -> bool {
    let is_it = |below: &String| *below == rules.prefix();
    rules.git().is_some() && kept.below.as_ref().is_none_or(is_it)
}

/// What is to be told of a repository that went since: of its files only the index is kept.
fn without_repository(kept: &Repository, rules: &Rules) -> Option<Missed> {
    kept.index?;
    (!is_of(rules, kept)).then(|| Missed {
        path: TreePath::in_dir(None, b".git"),
        why: "the repository is gone, and nothing but its index was kept".to_owned(),
    })
}

/// The newest attempt of which there is a checkpoint.
fn last_checkpoint(state: &State, checkpoints: &Checkpoints) -> u32 {
    let all = (0..=state.last_attempt).rev();
    { all }
        .find(|attempt| checkpoints.has(*attempt))
        .unwrap_or(0)
}

fn no_attempt(attempt: u32, known: Option<(&State, &Checkpoints)>) -> LoopError {
    if let Some((state, checkpoints)) = known
        && state.last_attempt > 0
        && !checkpoints.has(1)
    {
        let first = (1..=state.last_attempt).find(|attempt| checkpoints.has(*attempt));
        let theirs = first.unwrap_or(state.last_attempt);
        let known = match first {
            None => format!("nothing is kept here of the {theirs} that another program made"),
            Some(first) => format!(
                "there are {first} to {}; of those before {first} nothing is kept here, as another program made them",
                last_checkpoint(state, checkpoints)
            ),
        };
        let attempt = attempt.to_string();
        return LoopError::NoAttempt { attempt, known };
    }
    let known = known.filter(|(_, checkpoints)| checkpoints.has(0));
    let last = known.map(|(state, checkpoints)| last_checkpoint(state, checkpoints));
    let known = match last.unwrap_or(0) {
        0 if known.is_none() => "nothing was attempted yet".to_owned(),
        0 => "0 is before the first one".to_owned(),
        last => format!("there are 1 to {last}, and 0 is before the first one"),
    };
    LoopError::NoAttempt {
        attempt: attempt.to_string(),
        known,
    }
}

/// What somebody else changed since the loop looked last, of what would change.
fn edited(seen: &Snapshot, now: &Snapshot, target: &Snapshot) -> BTreeSet<TreePath> {
    let mine = seen.changes(now);
    let mine: BTreeSet<TreePath> = mine.into_iter().map(|change| change.path).collect();
    let changes = target.changes(now).into_iter();
    let changes = changes.filter(|change| !change.is_of_dirs() && mine.contains(&change.path));
    changes.map(|change| change.path).collect()
}

/// What the loop would have seen without what a person edited: those files stay a person's.
fn still_edited(after: &Snapshot, target: &Snapshot, kept: &BTreeSet<TreePath>) -> Snapshot {
    let all = after.entries().filter(|(path, _)| !kept.contains(path));
    let then = kept
        .iter()
        .filter_map(|path| Some((path, target.get(path)?)));
    let all = all.chain(then);
    Snapshot::of_entries(all.map(|(path, entry)| (path.clone(), entry.clone())))
}

/// From now back to then.
struct Way<'w> {
    place: &'w Place,
    rules: &'w Rules,
    checkpoints: &'w Checkpoints,
    target: &'w Snapshot,
    /// The tree as it was found.
    before: &'w Snapshot,
    /// What stays as it is.
    kept: &'w BTreeSet<TreePath>,
    /// What an earlier way back made visible, and left.
    spared: &'w BTreeSet<TreePath>,
}

impl Way<'_> {
    /// The tree as it is then, and what of it could not be brought back.
    fn go(&self) -> Result<(Snapshot, Vec<Missed>), LoopError> {
        let ignores: Vec<Change> = self.changes(self.before);
        let is_ignore = |change: &Change| change.path.name() == b".gitignore";
        let ignores: Vec<Change> = ignores.into_iter().filter(is_ignore).collect();
        let mut missed = self.undo(&ignores)?;
        let mut now = self.look()?;
        let mut changes = self.changes(&now);
        for _ in 0..ROUNDS {
            if changes.is_empty() {
                break;
            }
            missed = self.undo(&changes)?;
            now = self.look()?;
            changes = self.changes(&now);
        }
        if changes.is_empty() {
            missed.clear();
        } else if missed.is_empty() {
            // What stays different in spite of all.
            missed.extend(changes.into_iter().map(|change| Missed {
                why: format!("it is still {}", change.kind()),
                path: change.path,
            }));
        }
        let differs = self.left(&now).filter(|change| change.before.is_some());
        missed.extend(differs.map(|change| Missed {
            why: "it is ignored, and was left as it is".to_owned(),
            path: change.path,
        }));
        Ok((now, missed))
    }

    fn look(&self) -> Result<Snapshot, LoopError> {
        let look = Look {
            before: Some(self.before),
            ..Look::at(self.place.root(), self.rules)
        };
        Ok(look.snapshot()?)
    }

    /// What is to be undone: nothing that is kept, and nothing that was ignored before this.
    fn changes(&self, now: &Snapshot) -> Vec<Change> {
        let remains = |change: &Change| self.kept.contains(&change.path) || self.is_left(change);
        let all = self.target.changes(now).into_iter();
        let (remaining, free): (Vec<Change>, Vec<Change>) = all.partition(remains);
        let remaining: BTreeSet<TreePath> =
            remaining.into_iter().map(|change| change.path).collect();
        // A directory in which something stays does, too.
        let holds = |dir: &TreePath| {
            let first = TreePath::in_dir(Some(dir), b"\0");
            let next = remaining.range(first..).next();
            next.is_some_and(|path| path.is_in(dir))
        };
        let free = free.into_iter();
        let free = free.filter(|change| change.before.is_some() || !holds(&change.path));
        free.filter(|change| !self.stays(change, now)).collect()
    }

    /// What is not as it was then, and is left so: it was ignored.
    fn left(&self, now: &Snapshot) -> impl Iterator<Item = Change> {
        let all = self.target.changes(now).into_iter();
        all.filter(|change| self.is_left(change))
    }

    /// Whether it stands there and was not seen before this, or was to be spared already. A directory may be one that
    /// this made.
    fn is_left(&self, change: &Change) -> bool {
        let is_new = || change.before.is_none() || !change.is_of_dirs();
        let was_ignored = || self.before.get(&change.path).is_none() && is_new();
        change.after.is_some() && (self.spared.contains(&change.path) || was_ignored())
    }

    /// Whether a change, seen from the tree as it is now, is a deed: nothing that only became visible, or is hidden.
    fn did(&self, change: &Change, spared: &BTreeSet<TreePath>) -> bool {
        let stands = || {
            self.place
                .root()
                .join(change.path.as_path())
                .symlink_metadata()
                .is_ok()
        };
        match (&change.before, &change.after) {
            (Some(_), None) => !spared.contains(&change.path),
            (None, Some(_)) => !stands(),
            _ => true,
        }
    }

    /// A directory that came and holds what is ignored.
    fn stays(&self, change: &Change, now: &Snapshot) -> bool {
        let is_new_dir = change.before.is_none() && change.is_of_dirs();
        let dir = self.place.root().join(change.path.as_path());
        let is_filled = || std::fs::read_dir(dir).is_ok_and(|mut items| items.next().is_some());
        is_new_dir && !now.holds(&change.path) && is_filled()
    }

    fn undo(&self, changes: &[Change]) -> Result<Vec<Missed>, LoopError> {
        Ok(undo(
            self.place.root(),
            &self.checkpoints.contents,
            changes,
        )?)
    }
}

fn told(change: &Change) -> String {
    // Seen from the tree as it is now, a change undoes what was.
    let how = match (&change.before, &change.after) {
        (_, None) => "came back",
        (None, _) => "went",
        _ => "changed back",
    };
    format!("{} {how}", change.path)
}
