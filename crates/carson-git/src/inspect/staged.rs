//! What the session staged, by its own index: a file that it could write by hand, so nothing but
//! names of objects and paths is believed of it.

use std::fs;
use std::path::Path;

use git2::{Index, IndexEntryExtendedFlag, Oid};

use super::bounds::INDEX;
use super::objects::Objects;
use super::safe_read::items;
use super::tree_diff::changed;
use crate::git::{Git, run_here};
use crate::paths::path_of;

/// How git names the shared part of a split index, and how many of them are looked at.
const SHARED: &[u8] = b"sharedindex.";
const PARTS: usize = 8;

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
        let opened = file.and_then(|file| {
            let index = Index::open(file).ok();
            index.or_else(|| plain(objects, file).ok())
        });
        if let Some(index) = opened {
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

/// One in a form that libgit2 does not read, sparse or split, as git writes it in the plain one: a sparse one names
/// directories that are left out, and where nobody knew that, all files in them would be deleted ones.
fn plain(objects: &Objects, file: &Path) -> Result<Index, String> {
    let fail = |error: std::io::Error| error.to_string();
    let copy = objects.dir().join("session.index");
    fs::copy(file, &copy).map_err(fail)?;
    // The other part of a split one lies beside it, and git looks for it in the repository.
    let beside = file.parent().map(items).into_iter().flatten();
    let is_part = |item: &fs::DirEntry| {
        let is_named = item.file_name().as_encoded_bytes().starts_with(SHARED);
        let small = |found: fs::Metadata| found.is_file() && found.len() <= INDEX;
        is_named && fs::symlink_metadata(item.path()).is_ok_and(small)
    };
    for part in beside.filter(is_part).take(PARTS) {
        fs::copy(part.path(), objects.dir().join(part.file_name())).map_err(fail)?;
    }
    let git = Git::new(objects.dir(), "update-index").arg("--force-write-index");
    let git = git
        .config("index.sparse", "false")
        .config("core.splitIndex", "false")
        .config("advice.sparseIndexExpanded", "false");
    run_here(git.env("GIT_INDEX_FILE", &copy))?;
    Index::open(&copy).map_err(|error| error.message().to_owned())
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
