//! What the session staged, by its own index: a file that it could write by hand, so nothing but
//! names of objects and paths is believed of it.

use std::path::Path;

use git2::{Index, IndexEntryExtendedFlag, Oid};

use super::bounds::INDEX;
use super::objects::Objects;
use super::tree_diff::changed;
use crate::paths::path_of;

/// The session's index, or what stands in for it.
pub(super) struct Staged {
    index: Index,
    is_own: bool,
}

impl Staged {
    /// Reads the index at `file`. Without one that can be read, the tree of `head` says which paths
    /// are tracked.
    pub(super) fn read(objects: &Objects, file: Option<&Path>, head: Oid) -> Self {
        let file = file.filter(|file| file.metadata().is_ok_and(|found| found.len() <= INDEX));
        if let Some(Ok(index)) = file.map(Index::open) {
            return Self {
                index,
                is_own: true,
            };
        }
        Self {
            index: index_of(objects, head).unwrap_or_else(empty),
            is_own: false,
        }
    }

    /// Writes its tree; `None` without an index that can be read, and during a conflict.
    ///
    /// # Errors
    /// When it names objects that make no tree.
    pub(super) fn tree(&mut self, objects: &Objects) -> Result<Option<Oid>, String> {
        if !self.is_own || self.index.has_conflicts() {
            return Ok(None);
        }
        let tree = self.index.write_tree_to(&objects.repo);
        tree.map(Some).map_err(|error| error.message().to_owned())
    }

    /// What the commit has and the session tracks no more, in the order of an index; nothing where that cannot be
    /// told.
    pub(super) fn let_go(&mut self, objects: &Objects, commit: Oid) -> Vec<Vec<u8>> {
        let of_commit = objects.commit(commit).map(|commit| commit.tree_id());
        let (Ok(Some(tree)), Ok(before)) = (self.tree(objects), of_commit) else {
            return Vec::new();
        };
        let went = changed(objects, tree, &[before]).unwrap_or_default();
        let went = went.into_iter().filter(|one| one.new.is_none());
        let mut paths: Vec<Vec<u8>> = went.map(|one| one.path).collect();
        paths.sort_unstable();
        paths
    }

    /// Whether a path is tracked: then no ignore rule counts.
    pub(super) fn tracks(&self, path: &[u8]) -> bool {
        let path = path_of(path);
        (0..4).any(|stage| self.index.get_path(&path, stage).is_some())
    }

    /// Whether something below a directory is tracked.
    pub(super) fn tracks_below(&self, dir: &[u8]) -> bool {
        let below = [dir, b"/"].concat();
        self.index.find_prefix(below).is_ok()
    }

    /// Every path, in the order of an index.
    pub(super) fn paths(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.index.iter().map(|entry| entry.path)
    }

    /// What it has at a path: object and mode.
    pub(super) fn at(&self, path: &[u8]) -> Option<(Oid, u32)> {
        let entry = self.index.get_path(&path_of(path), 0)?;
        Some((entry.id, entry.mode))
    }

    /// What the session left out of its directory on purpose (a sparse checkout): it is no deletion.
    pub(super) fn left_out(&self, path: &[u8]) -> Option<(Oid, u32)> {
        let entry = self.index.get_path(&path_of(path), 0)?;
        let skipped = IndexEntryExtendedFlag::SKIP_WORKTREE.bits();
        (entry.flags_extended & skipped != 0).then_some((entry.id, entry.mode))
    }
}

fn index_of(objects: &Objects, commit: Oid) -> Option<Index> {
    let tree = objects.commit(commit).ok()?.tree().ok()?;
    let mut index = Index::new().ok()?;
    index.read_tree(&tree).ok()?;
    Some(index)
}

#[expect(
    clippy::expect_used,
    reason = "an index in memory; there is none only where there is no memory"
)]
fn empty() -> Index {
    Index::new().expect("an index in memory")
}
