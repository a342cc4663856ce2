//! Which objects are to be taken over: everything that a commit or tree leads to and the base does
//! not have, provided that all of it is there.

use std::collections::HashSet;

use git2::{ObjectType, Oid, Sort};

use super::bounds::{BYTES, COMMIT, COMMITS, DEPTH, OBJECT, OBJECTS, TREE};
use super::objects::Objects;

/// What was gathered so far.
pub(super) struct Gathered<'o> {
    objects: &'o Objects,
    base: Oid,
    all: Vec<Oid>,
    known: HashSet<Oid>,
    commits: usize,
    bytes: u64,
}

impl<'o> Gathered<'o> {
    pub(super) fn new(objects: &'o Objects, base: Oid) -> Self {
        Self {
            objects,
            base,
            all: Vec::new(),
            known: HashSet::new(),
            commits: 0,
            bytes: 0,
        }
    }

    /// The objects, each once.
    pub(super) fn all(&self) -> &[Oid] {
        &self.all
    }

    /// Adds a commit with everything that is new in its history; all of it or nothing.
    pub(super) fn commit(&mut self, tip: Oid) -> Result<(), String> {
        // A walk would take a tag for what it leads to.
        let (_, kind) = self.objects.header(tip)?;
        if kind != ObjectType::Commit {
            return Err(format!("{tip} is a {kind}, not a commit"));
        }
        self.whole(|this| {
            for oid in new_commits(this.objects, tip, this.base)? {
                this.one_commit(oid)?;
            }
            Ok(())
        })
    }

    /// Adds a tree with everything in it that is not in `beside`; all of it or nothing.
    pub(super) fn tree(&mut self, tree: Oid, beside: Option<Oid>) -> Result<(), String> {
        let beside: Vec<Oid> = beside.into_iter().collect();
        self.whole(|this| this.one_tree(tree, &beside, 0))
    }

    fn whole(&mut self, add: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        let (before, commits, bytes) = (self.all.len(), self.commits, self.bytes);
        let added = add(self);
        if added.is_err() {
            for oid in self.all.drain(before..) {
                self.known.remove(&oid);
            }
            (self.commits, self.bytes) = (commits, bytes);
        }
        added
    }

    fn one_commit(&mut self, oid: Oid) -> Result<(), String> {
        if self.known.contains(&oid) {
            return Ok(());
        }
        self.take(oid, ObjectType::Commit, COMMIT)?;
        self.commits += 1;
        if self.commits > COMMITS {
            return Err(format!("there are more than {COMMITS} commits"));
        }
        let commit = self.objects.commit(oid)?;
        let parents: Result<Vec<Oid>, String> = commit
            .parent_ids()
            .map(|parent| Ok(self.objects.commit(parent)?.tree_id()))
            .collect();
        self.one_tree(commit.tree_id(), &parents?, 0)
    }

    /// Each tree is read once, so trees of trees of trees cost no more than their number.
    fn one_tree(&mut self, oid: Oid, beside: &[Oid], depth: usize) -> Result<(), String> {
        if beside.contains(&oid) || self.known.contains(&oid) {
            return Ok(());
        }
        if depth > DEPTH {
            return Err(format!("directories lie deeper than {DEPTH}"));
        }
        self.take(oid, ObjectType::Tree, TREE)?;
        let objects = self.objects;
        let tree = objects.tree(oid)?;
        // A tree beside it that cannot be read makes more of this one new, and that is all.
        let beside: Vec<_> = beside
            .iter()
            .filter_map(|oid| objects.tree(*oid).ok())
            .collect();
        for entry in &tree {
            let same: Vec<Oid> = beside
                .iter()
                .filter_map(|tree| Some(tree.get_name_bytes(entry.name_bytes())?.id()))
                .collect();
            match entry.kind() {
                Some(ObjectType::Tree) => self.one_tree(entry.id(), &same, depth + 1)?,
                Some(ObjectType::Blob) if !same.contains(&entry.id()) => {
                    self.blob(entry.id())?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn blob(&mut self, oid: Oid) -> Result<(), String> {
        if self.known.contains(&oid) {
            return Ok(());
        }
        self.take(oid, ObjectType::Blob, OBJECT)
    }

    /// Looks at the header alone: an object may be as large as its author likes.
    fn take(&mut self, oid: Oid, kind: ObjectType, most: u64) -> Result<(), String> {
        let (size, found) = self.objects.header(oid)?;
        if found != kind {
            return Err(format!("{oid} is a {found}, not a {kind}"));
        }
        if size > most {
            let megabytes = size >> 20;
            return Err(format!(
                "{kind} {oid} has {megabytes} MB, which is too much"
            ));
        }
        self.bytes += size;
        if self.bytes > BYTES || self.all.len() >= OBJECTS {
            return Err(format!(
                "there is more than {} MB, or more than {OBJECTS} objects",
                BYTES >> 20
            ));
        }
        self.known.insert(oid);
        self.all.push(oid);
        Ok(())
    }
}

/// The commits of a history that the base does not have, parents first. What else the remote has is
/// left out, too, where the session took any of it over.
pub(super) fn new_commits(objects: &Objects, tip: Oid, base: Oid) -> Result<Vec<Oid>, String> {
    let found = walk(objects, tip, base, false)?;
    if found.iter().any(|oid| objects.mirror_has(*oid)) {
        return walk(objects, tip, base, true);
    }
    Ok(found)
}

fn walk(objects: &Objects, tip: Oid, base: Oid, remotes: bool) -> Result<Vec<Oid>, String> {
    let fail = |error: git2::Error| format!("{tip}: {}", error.message());
    let mut walk = objects.repo.revwalk().map_err(fail)?;
    let sorted = walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE);
    sorted.and_then(|()| walk.push(tip)).map_err(fail)?;
    if objects.commit(base).is_ok() {
        walk.hide(base).map_err(fail)?;
    }
    if remotes {
        walk.hide_glob("refs/remotes/origin/*").map_err(fail)?;
    }
    let commits: Result<Vec<Oid>, git2::Error> = walk.take(COMMITS + 1).collect();
    let commits = commits.map_err(fail)?;
    if commits.len() > COMMITS {
        return Err(format!("there are more than {COMMITS} commits"));
    }
    Ok(commits)
}
