//! Brings the tree back to where an attempt left it.
//!
//! The index comes first, then the `.gitignore` files, and only then the rest: both say what is ignored, and what is
//! ignored, now or then, is not touched. Nor is what was ignored before a way back that made it visible: no checkpoint has
//! it, and nobody could bring it back. HEAD stays where it is.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::checkpoint::{Checkpoint, Checkpoints, Repository};
use crate::digest::Digest;
use crate::error::LoopError;
use crate::event::Happened;
use crate::fold::interrupted;
use crate::index::{self, Indexes, Put, Staged};
use crate::journal::Journal;
use crate::json_file::Sync;
use crate::lock::{Lock, Owner};
use crate::place::Place;
use crate::run::{conclude, end_orphans, rules};
use crate::state::State;
use crate::tree::{Change, Look, Missed, Rules, Snapshot, TreePath, What, read_plain, undo};

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
    /// Files that a person had edited or staged since, and that were kept.
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
        let known = Some((&journal, &checkpoints));
        return Err(no_attempt(attempt, known));
    }
    let rules = rules(place, caller);
    let target = checkpoints.get(attempt)?;
    let before = Look::at(place.root(), &rules).keeping(&mut checkpoints.contents)?;
    let last = last_checkpoint(journal.state(), &checkpoints);
    let seen = checkpoints.last_seen(last)?;
    let spared = checkpoints.spared()?;
    let mut edited = edited(&seen.tree, &before, &target.tree);
    edited.retain(|path| !spared.contains(path));
    let indexes = indexes(&rules, &checkpoints, &target.repository)?;
    let staged = match &indexes {
        Some(indexes) => {
            let left = seen.repository.index.as_ref();
            indexes.staged(caller, &checkpoints.contents, left).await?
        }
        None => Staged::default(),
    };
    let mine_of = |edited: &BTreeSet<TreePath>, staged: &Staged| {
        let mut all: Vec<String> = edited.iter().map(ToString::to_string).collect();
        all.extend(indexes.iter().flat_map(|indexes| indexes.told(staged)));
        all
    };
    let (kept, kept_staged) = match mine {
        Mine::Refuse if edited.is_empty() && staged == Staged::default() => Default::default(),
        Mine::Refuse => {
            let paths = mine_of(&edited, &staged);
            return Err(LoopError::Edited { paths });
        }
        Mine::Keep => (edited, staged),
        Mine::Overwrite => Default::default(),
    };
    if let Some(begun) = interrupted(journal.past()) {
        // What a run that died left of it would be lost.
        let root = (place.root(), &rules);
        if !checkpoints.has(begun.attempt) {
            checkpoints.make(begun.attempt, root, Some(&before))?;
        }
        let now = caller.clock.now();
        conclude((place, &rules), &mut checkpoints, &mut journal, now)?;
    }
    let put = match &indexes {
        Some(indexes) => indexes.put(&kept_staged)?,
        None => Put::default(),
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
    let is_put = indexes.is_some() && put.missed.is_empty() && kept_staged != Staged::Something;
    missed.extend(put.missed);
    missed.extend(without_repository(&target.repository, &rules));
    missed.extend(under_way(&target.repository, &rules));
    missed.extend(repositories(&target, &after, place));
    let spared = way.left(&after).map(|change| change.path).collect();
    let mut changes = after.changes(&before);
    changes.retain(|change| way.did(change, &spared));
    let commits_since = commits_since(&target.repository, &rules, place, caller).await;
    // What is kept as a person staged it stays a person's.
    let left = match is_put {
        true => target.repository.index,
        false => seen.repository.index,
    };
    let repository = Repository {
        index: left,
        ..checkpoints.repository(&rules)?
    };
    let tree = still_edited(&after, &target.tree, &kept);
    checkpoints.saw(&tree, repository, &spared)?;
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
        kept: mine_of(&kept, &kept_staged),
        missed: missed
            .iter()
            .map(|one| format!("{}: {}", one.path, one.why))
            .collect(),
        index: put.changed,
        commits_since,
    })
}

/// The index of now and of then, where there is one to bring back.
fn indexes<'r>(
    rules: &'r Rules,
    checkpoints: &Checkpoints,
    kept: &Repository,
) -> Result<Option<Indexes<'r>>, LoopError> {
    let both = rules.git().zip(kept.index.as_ref());
    let both = both.filter(|_| is_of(rules, kept));
    let read =
        both.map(|(git, then)| Indexes::read(git, rules.prefix(), &checkpoints.contents, then));
    read.transpose()
}

/// Whether the tree is in the repository of which something was kept: in no other that is above that one.
fn is_of(rules: &Rules, kept: &Repository) -> bool {
    let is_it = |below: &String| *below == rules.prefix();
    rules.git().is_some() && kept.below.as_ref().is_none_or(is_it)
}

/// What is to be told of a repository that went since: of its files only the index is kept.
fn without_repository(kept: &Repository, rules: &Rules) -> Option<Missed> {
    kept.index?;
    let why = match rules.git() {
        _ if is_of(rules, kept) => return None,
        None => "the repository is gone, and nothing but its index was kept",
        Some(_) => "the tree is in another repository than then, the index of which stays as it is",
    };
    Some(Missed {
        path: own(b""),
        why: why.to_owned(),
    })
}

/// What git has under way and had not then, or had then: neither is changed.
fn under_way(kept: &Repository, rules: &Rules) -> Vec<Missed> {
    let (Some(git), Some(then)) = (rules.git(), &kept.under_way) else {
        return Vec::new();
    };
    let now = git.under_way();
    let missed = |name: &String, why: &str| Missed {
        path: own(name.as_bytes()),
        why: why.to_owned(),
    };
    let came = now.difference(then);
    let went = then.difference(&now);
    let came = came.map(|name| missed(name, "it came since, and stays: look at `git status`"));
    let went = went.map(|name| missed(name, "it is gone, and nothing of it was kept"));
    came.chain(went).collect()
}

/// The repositories in the tree that went since, or came: none is made or taken away.
fn repositories(then: &Checkpoint, after: &Snapshot, place: &Place) -> Vec<Missed> {
    let Some(known) = &then.repositories else {
        return Vec::new();
    };
    let missed = |path: &TreePath, why: &str| Missed {
        path: path.clone(),
        why: why.to_owned(),
    };
    let stands = |path: &TreePath| {
        let path = place.root().join(path.as_path());
        path.symlink_metadata().is_ok()
    };
    // That of the whole tree is told with its index.
    let went = known.difference(after.repositories());
    let went = went.filter(|path| path.parent().is_some() && !stands(path));
    let came = after.repositories().difference(known);
    let went = went.map(|path| missed(path, "it is gone, and nothing of it was kept"));
    let came = came.map(|path| missed(path, "it came since, and stays as it is"));
    went.chain(came).collect()
}

/// Commits since, as they are told.
async fn commits_since(
    kept: &Repository,
    rules: &Rules,
    place: &Place,
    caller: &Caller,
) -> Vec<String> {
    let old = kept.head.as_deref();
    match rules.git() {
        Some(git) if old.is_none() && git.has_reftable() => {
            vec![
                "not known: where refs are in a reftable nobody wrote down what HEAD was"
                    .to_owned(),
            ]
        }
        // HEAD named no commit then.
        Some(_) if old.is_some() || kept.below.is_some() => {
            index::commits_since(place.root(), caller, old).await
        }
        _ => Vec::new(),
    }
}

/// A file of the repository's own, as it is named.
fn own(name: &[u8]) -> TreePath {
    let git = TreePath::in_dir(None, b".git");
    match name {
        [] => git,
        name => TreePath::in_dir(Some(&git), name),
    }
}

/// The newest attempt of which there is a checkpoint.
fn last_checkpoint(state: &State, checkpoints: &Checkpoints) -> u32 {
    let all = (0..=state.last_attempt).rev();
    { all }
        .find(|attempt| checkpoints.has(*attempt))
        .unwrap_or(0)
}

fn no_attempt(attempt: u32, known: Option<(&Journal, &Checkpoints)>) -> LoopError {
    let known = match known {
        None => "nothing was attempted yet".to_owned(),
        Some((journal, checkpoints)) => known_of(journal, checkpoints),
    };
    let attempt = attempt.to_string();
    LoopError::NoAttempt { attempt, known }
}

/// Which attempts there are.
fn known_of(journal: &Journal, checkpoints: &Checkpoints) -> String {
    let state = journal.state();
    let dead = interrupted(journal.past()).map(|begun| begun.attempt);
    let dead = dead.filter(|attempt| !checkpoints.has(*attempt));
    let made = state.last_attempt - u32::from(dead.is_some());
    let last = last_checkpoint(state, checkpoints);
    let known = match (1..=made).find(|attempt| checkpoints.has(*attempt)) {
        None if made > 0 => {
            format!("nothing is kept here of the {made} that another program made")
        }
        Some(first) if first > 1 => format!(
            "there are {first} to {last}; of those before {first} nothing is kept here, as another program made them"
        ),
        Some(_) => format!("there are 1 to {last}, and 0 is before the first one"),
        None if checkpoints.has(0) => "0 is before the first one".to_owned(),
        None => "nothing was attempted yet".to_owned(),
    };
    match dead {
        None => known,
        Some(dead) => format!(
            "{known}; {dead} was under way when the loop died, and the tree is as it left it"
        ),
    }
}

/// What somebody else changed since the loop looked last, of what would change. Of directories that are their modes, and
/// those that were made and hold nothing.
fn edited(seen: &Snapshot, now: &Snapshot, target: &Snapshot) -> BTreeSet<TreePath> {
    let mine = seen.changes(now);
    let mine: BTreeSet<TreePath> = mine.into_iter().map(|change| change.path).collect();
    let changes = target.changes(now).into_iter();
    let counts = |change: &Change| match (&change.before, &change.after) {
        (Some(_), Some(_)) => true,
        (None, _) => !change.is_of_dirs() || !now.holds(&change.path),
        (_, None) => !change.is_of_dirs(),
    };
    let changes = changes.filter(|change| counts(change) && mine.contains(&change.path));
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
        let hidden = self.target.changes(&now).into_iter();
        let hidden = hidden.filter(|change| self.is_hidden(change) && !self.is_as_then(change));
        let differs = self.left(&now).filter(|change| change.before.is_some());
        let differs = differs.chain(hidden);
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
        free.filter(|change| !self.stays(change, now) && !self.is_hidden(change))
            .collect()
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
        match (&change.before, &change.after) {
            (Some(_), None) => !spared.contains(&change.path),
            (None, Some(_)) => self.found(&change.path).is_none(),
            _ => true,
        }
    }

    /// Whether it was there then, and what stands there now is ignored.
    fn is_hidden(&self, change: &Change) -> bool {
        change.after.is_none() && self.found(&change.path).is_some()
    }

    /// Whether what stands there, ignored, is what stood there then.
    fn is_as_then(&self, change: &Change) -> bool {
        let path = self.place.root().join(change.path.as_path());
        let found = self.found(&change.path);
        let (Some(found), Some(then)) = (found, &change.before) else {
            return false;
        };
        let has_mode = found.permissions().mode() & 0o7777 == then.mode;
        match &then.what {
            What::Dir => found.is_dir() && has_mode,
            What::Link { to } => {
                std::fs::read_link(path).is_ok_and(|is| is.as_os_str().as_bytes() == to.0)
            }
            What::File { size, hash } if found.is_file() && has_mode && found.len() == *size => {
                read_plain(&path, *size)
                    .is_ok_and(|is| is.is_some_and(|is| Digest::of(&is) == *hash))
            }
            _ => false,
        }
    }

    /// What stands at a path, ignored or not; no link is followed.
    fn found(&self, path: &TreePath) -> Option<Metadata> {
        let mut dirs = std::iter::successors(path.parent(), TreePath::parent);
        let root = self.place.root();
        if dirs.any(|dir| root.join(dir.as_path()).is_symlink()) {
            return None;
        }
        root.join(path.as_path()).symlink_metadata().ok()
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
