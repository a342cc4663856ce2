//! All that an executor could have changed, as it was before and as it is after: the tree, git's own files, and ours.
//!
//! Of the tree everything counts, ignored or not, but for what git ignores in the usual build folders and under
//! `scope_ignore`. That takes two looks: one at everything without those, one at what git does not ignore.

use std::path::{Path, PathBuf};

use carson_proc::Cancel;

use super::error::StoriesError;
use super::others::{Others, is_ref};
use super::place::Place;
use crate::digest::Digest;
use crate::stories::scope::BUILD_FOLDERS;
use crate::tree::{
    Change, Contents, Entry, GitDir, Look, Missed, Rules, Snapshot, TreeError, TreePath, undo,
};

/// What of a repository's own files is no state that anybody set: objects are only added, logs tell what was. The log of
/// the stash is what is stashed.
const NOT_SET: [&str; 12] = [
    "/objects/",
    "/lfs/",
    "/logs/*",
    "!/logs/refs",
    "/logs/refs/*",
    "!/logs/refs/stash",
    "!/logs/refs/stash.lock",
    "/worktrees/",
    "/rr-cache/",
    "/modules/**/objects/",
    "/modules/**/logs/",
    "/fsmonitor--daemon*",
];
/// What the files that all work trees share have beside them of the one work tree that lies there (gitrepository-layout(5)):
/// in another one, nobody looks at it.
const OF_THE_MAIN_TREE: [&str; 22] = [
    "/*HEAD",
    "/*HEAD.lock",
    "/index*",
    "/next-index-*",
    "/sharedindex.*",
    "/MERGE_*",
    "/AUTO_MERGE",
    "/BISECT_*",
    "/NOTES_*",
    "/SQUASH_MSG",
    "/*_EDITMSG",
    "/.*_EDITMSG.sw?",
    "/EDIT_DESCRIPTION",
    "/ADD_EDIT.patch",
    "/rebase-*/",
    "/sequencer/",
    "/config.worktree",
    "/info/sparse-checkout",
    "/info/sparse-checkout.lock",
    "/refs/bisect/",
    "/refs/worktree/",
    "/refs/rewritten/",
];
/// Of Carson's own: contents are known by their hashes, a lock by whoever holds it, and of what was before one copy is in
/// memory.
const NOT_OURS_TO_JUDGE: [&str; 4] = [
    "/stories/contents/",
    "/stories/lock",
    "/stories/before.json",
    "/loop/checkpoints/",
];
/// So often a tree is looked at until an undone `.gitignore`, or a directory that was closed, shows nothing new.
const PASSES: usize = 8;

/// What an area is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Files that people work on.
    Tree,
    /// Git's own, of this work tree or of all.
    Git,
    /// Carson's own.
    Own,
}

/// One directory, and what counts in it.
#[derive(Clone, Debug)]
struct Area {
    kind: Kind,
    root: PathBuf,
    rules: Rules,
}

/// All of them.
#[derive(Clone, Debug)]
pub struct Areas {
    all: Vec<Area>,
}

/// How they were at one time.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    snapshots: Vec<Snapshot>,
}

/// What changed in one of them.
#[derive(Clone, Debug)]
pub struct Changed {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub root: PathBuf,
    /// What changed, in the order of the paths.
    pub changes: Vec<Change>,
}

/// What is not put back.
#[derive(Clone, Copy, Debug)]
pub struct Stays<'s> {
    /// Files of ours that came since.
    pub ours: &'s [PathBuf],
    /// Refs of others.
    pub others: &'s Others,
    /// Git has set the refs one by one: none is put back by its file.
    pub refs_are_set: bool,
}

/// Something that a look did not get.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unseen {
    /// Where, as people are told.
    pub shown: String,
    /// Why.
    pub why: String,
    /// Whether it is a file: that one changed is seen by its size and its times.
    pub is_file: bool,
}

impl Areas {
    /// Those of a plan. `ignore` are the plan's own patterns of what may be ignored, `global` the user's file of them.
    #[must_use]
    pub fn of(place: &Place, ignore: &[String], global: Option<&Path>) -> Self {
        let root = &place.root;
        let folders: Vec<String> = BUILD_FOLDERS
            .iter()
            .map(|name| format!("{name}/"))
            .collect();
        let left_out = folders.iter().chain(ignore).map(String::as_str);
        let plan = place.plan_in_tree();
        let tree = Rules::everything(root)
            .leaving_out(left_out)
            .with_inner()
            .without(plan.clone());
        let mut all = vec![Area {
            kind: Kind::Tree,
            root: root.clone(),
            rules: tree,
        }];
        if let Some(git) = GitDir::of(root) {
            all.push(Area {
                kind: Kind::Tree,
                root: root.clone(),
                rules: Rules::of_repository(root, global).without(plan),
            });
            let area = |root: &Path, left_out: &[&'static str]| Area {
                kind: Kind::Git,
                rules: Rules::everything(root).leaving_out(left_out.iter().copied()),
                root: root.to_owned(),
            };
            all.push(area(&git.dir, &NOT_SET));
            if git.common != git.dir {
                let left_out = [NOT_SET.as_slice(), &OF_THE_MAIN_TREE].concat();
                all.push(area(&git.common, &left_out));
            }
        }
        let own = place.own();
        all.push(Area {
            kind: Kind::Own,
            rules: Rules::everything(&own)
                .with_inner()
                .leaving_out(NOT_OURS_TO_JUDGE),
            root: own,
        });
        Self { all }
    }

    /// Looks at them. What was seen before saves reading what is the same; `keep` says of which kinds the contents of files
    /// are kept.
    ///
    /// # Errors
    /// When one of them cannot be looked at, or somebody asked to stop.
    pub fn look(
        &self,
        before: Option<&Seen>,
        contents: &mut Contents,
        keep: &[Kind],
        cancel: Option<&Cancel>,
    ) -> Result<Seen, TreeError> {
        let mut seen = Seen::default();
        for (index, area) in self.all.iter().enumerate() {
            let same_tree = index > 0 && self.all[index - 1].root == area.root;
            let known = before.and_then(|before| before.snapshots.get(index));
            let known = known.or_else(|| seen.snapshots.last().filter(|_| same_tree));
            let kept = keep.contains(&area.kind).then_some(&mut *contents);
            let snapshot = area.look(known, kept, cancel)?;
            seen.snapshots.push(snapshot);
        }
        Ok(seen)
    }

    /// Looks again at Carson's own: we wrote there ourselves since.
    ///
    /// # Errors
    /// When they cannot be looked at.
    pub fn look_at_own_again(
        &self,
        seen: &mut Seen,
        contents: &mut Contents,
    ) -> Result<(), TreeError> {
        for (area, snapshot) in self.all.iter().zip(&mut seen.snapshots) {
            if area.kind == Kind::Own {
                *snapshot = area.look(Some(snapshot), Some(contents), None)?;
            }
        }
        Ok(())
    }

    /// What changed between two looks, area by area; the two looks at the tree are one.
    #[must_use]
    pub fn changes(&self, before: &Seen, after: &Seen) -> Vec<Changed> {
        let mut changed: Vec<Changed> = Vec::new();
        for (index, area) in self.all.iter().enumerate() {
            let mut changes = before.snapshots[index].changes(&after.snapshots[index]);
            // What could not be looked at and now can has not come: nobody takes it away.
            changes.retain(|change| !was_hidden(&before.snapshots[index], &change.path));
            match changed.last_mut().filter(|last| last.root == area.root) {
                Some(tree) => {
                    tree.changes.extend(changes);
                    tree.changes.sort_by(|a, b| a.path.cmp(&b.path));
                    tree.changes.dedup_by(|a, b| a.path == b.path);
                }
                None => changed.push(Changed {
                    kind: area.kind,
                    root: area.root.clone(),
                    changes,
                }),
            }
        }
        changed
    }

    /// What a look did not get: a file that was not read, a directory that was not entered.
    #[must_use]
    pub fn unseen(&self, seen: &Seen) -> Vec<Unseen> {
        let mut unseen = Vec::new();
        for (area, snapshot) in self.all.iter().zip(&seen.snapshots) {
            let top = match area.kind {
                Kind::Tree => "",
                Kind::Git => ".git/",
                Kind::Own => ".carson/",
            };
            unseen.extend(snapshot.missed().iter().map(|missed| Unseen {
                shown: format!("{top}{}", missed.path),
                why: missed.why.clone(),
                is_file: snapshot.get(&missed.path).is_some_and(Entry::is_file),
            }));
        }
        unseen.sort();
        unseen.dedup();
        unseen
    }

    /// Makes them again what they were, but for what stays; what cannot be put back, with why, and how they are now.
    ///
    /// # Errors
    /// When one of them cannot be looked at.
    pub fn undo(
        &self,
        before: &Seen,
        contents: &mut Contents,
        stays: &Stays<'_>,
    ) -> Result<(Vec<Missed>, Seen), StoriesError> {
        let mut missed = Vec::new();
        let mut seen = self.look(Some(before), contents, &[], None)?;
        let changes = |seen: &Seen| -> Vec<Changed> {
            let changed = self.changes(before, seen);
            changed.iter().map(|area| area.without(stays)).collect()
        };
        for _ in 0..PASSES {
            let changed = changes(&seen);
            if changed.iter().all(|area| area.changes.is_empty()) {
                return Ok((Vec::new(), seen));
            }
            missed.clear();
            for area in &changed {
                missed.extend(area.undo(contents)?);
            }
            seen = self.look(Some(before), contents, &[], None)?;
        }
        // What is still not as it was, and nobody said why.
        for area in changes(&seen) {
            let told: Vec<_> = missed.iter().map(|missed| missed.path.clone()).collect();
            let untold = area
                .changes
                .into_iter()
                .filter(|change| !told.contains(&change.path));
            missed.extend(untold.map(|change| Missed {
                why: format!("it is still {}", change.kind()),
                path: change.path,
            }));
        }
        Ok((missed, seen))
    }
}

/// Whether something stands where an earlier look did not get: what was not entered or read itself was seen.
fn was_hidden(before: &Snapshot, path: &TreePath) -> bool {
    let mut missed = before.missed().iter().map(|missed| &missed.path);
    missed.any(|at| path.is_in(at)) && before.get(path).is_none()
}

impl Area {
    fn look(
        &self,
        before: Option<&Snapshot>,
        contents: Option<&mut Contents>,
        cancel: Option<&Cancel>,
    ) -> Result<Snapshot, TreeError> {
        if self.root.symlink_metadata().is_err() && self.kind != Kind::Tree {
            // Somebody took it away: it has nothing.
            return Ok(Snapshot::default());
        }
        let look = Look {
            before,
            cancel,
            ..Look::at(&self.root, &self.rules)
        };
        match contents {
            Some(contents) => look.keeping(contents),
            None => look.snapshot(),
        }
    }
}

impl Changed {
    /// Undoes these changes; what cannot be put back, with why.
    ///
    /// # Errors
    /// When the directory cannot be opened.
    pub fn undo(&self, contents: &Contents) -> Result<Vec<Missed>, StoriesError> {
        if self.changes.is_empty() {
            return Ok(Vec::new());
        }
        std::fs::create_dir_all(&self.root).map_err(StoriesError::io(&self.root))?;
        Ok(undo(&self.root, contents, &self.changes)?)
    }

    /// The same area without what stays.
    pub fn without(&self, stays: &Stays<'_>) -> Self {
        let is_ours = |change: &Change| stays.ours.contains(&self.root.join(change.path.as_path()));
        self.only(|change| match self.kind {
            Kind::Git => !(stays.others.leave(change) || stays.refs_are_set && is_ref(change)),
            Kind::Tree | Kind::Own => change.before.is_some() || !is_ours(change),
        })
    }

    /// The same area with some of its changes.
    #[must_use]
    pub fn only(&self, which: impl Fn(&Change) -> bool) -> Self {
        Self {
            changes: self
                .changes
                .iter()
                .filter(|change| which(change))
                .cloned()
                .collect(),
            ..self.clone()
        }
    }
}

impl Seen {
    /// The tree, as one number.
    #[must_use]
    pub fn tree_hash(&self) -> Option<Digest> {
        self.snapshots.first().map(Snapshot::hash)
    }

    /// Whether a look at the tree saw a path.
    #[must_use]
    pub fn has(&self, path: &Path) -> bool {
        let path = TreePath::new(path.as_os_str().as_encoded_bytes());
        path.is_ok_and(|path| {
            self.snapshots
                .iter()
                .any(|snapshot| snapshot.get(&path).is_some())
        })
    }

    /// What was seen, as it is written down.
    #[must_use]
    pub fn entries(&self) -> Vec<Vec<(TreePath, Entry)>> {
        let of = |snapshot: &Snapshot| {
            snapshot
                .entries()
                .map(|(path, entry)| (path.clone(), entry.clone()))
                .collect()
        };
        self.snapshots.iter().map(of).collect()
    }

    /// Where the looks did not get, as it is written down.
    #[must_use]
    pub fn hidden(&self) -> Vec<Vec<TreePath>> {
        let of = |snapshot: &Snapshot| {
            let missed = snapshot.missed().iter();
            missed.map(|missed| missed.path.clone()).collect()
        };
        self.snapshots.iter().map(of).collect()
    }

    /// What was written down; `None` when it is of other areas.
    #[must_use]
    pub fn of_entries(
        areas: &Areas,
        entries: Vec<Vec<(TreePath, Entry)>>,
        hidden: Vec<Vec<TreePath>>,
    ) -> Option<Self> {
        let fits = entries.len() == areas.all.len() && hidden.len() == entries.len();
        let missed = |path| Missed {
            path,
            why: "it could not be looked at".to_owned(),
        };
        let both = entries.into_iter().zip(hidden);
        let snapshots = both.map(|(entries, hidden)| {
            let missed = hidden.into_iter().map(missed).collect();
            Snapshot::of_entries(entries).missing(missed)
        });
        fits.then(|| Self {
            snapshots: snapshots.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Somebody opened a directory that was shut: what is in it is not new, and is not taken away.
    #[test]
    fn what_was_shut_and_is_open_has_not_come() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("tree");
        fs::create_dir_all(root.join("shut")).unwrap();
        fs::write(root.join("shut/precious"), "p").unwrap();
        let place = Place {
            plan: root.join("stories.json"),
            root: root.clone(),
        };
        let areas = Areas::of(&place, &[], None);
        let mut contents = Contents::open(&dir.path().join("kept")).unwrap();
        let mut entries = areas
            .look(None, &mut contents, &[], None)
            .unwrap()
            .entries();
        let shut = TreePath::new("shut").unwrap();
        entries[0].retain(|(path, _)| *path == shut || !path.is_in(&shut));
        let hidden = vec![vec![shut], Vec::new()];
        let before = Seen::of_entries(&areas, entries, hidden.clone()).unwrap();
        assert_eq!(before.hidden(), hidden);
        fs::write(root.join("new"), "x").unwrap();
        fs::set_permissions(root.join("shut"), PermissionsExt::from_mode(0o711)).unwrap();
        let now = areas.look(None, &mut contents, &[], None).unwrap();
        let changed = areas.changes(&before, &now);
        let changed: Vec<String> = changed[0].changes.iter().map(ToString::to_string).collect();
        assert_eq!(changed, ["new (added)", "shut (mode changed)"]);
        let stays = Stays {
            ours: &[],
            others: &Others::default(),
            refs_are_set: false,
        };
        let (missed, _) = areas.undo(&before, &mut contents, &stays).unwrap();
        assert!(missed.is_empty(), "{missed:?}");
        assert!(root.join("shut/precious").exists() && !root.join("new").exists());
    }
}
