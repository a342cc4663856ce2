//! Submodules of the base that the session checked out: one whose files are those of its own `HEAD`
//! stays the name of a commit.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use git2::Oid;

use super::bounds::CHANGED;
use super::edited_tree::Edits;
use super::entry::LINK;
use super::git_dir::GitDir;
use super::objects::Objects;
use super::safe_read::Within;
use crate::paths::path_of;
use crate::tree_walk::walk;

/// Those that were met.
pub(super) struct Submodules {
    within: Within,
    out: PathBuf,
    mirror: PathBuf,
    met: Vec<Submodule>,
}

struct Submodule {
    /// Where it lies, from the top.
    path: Vec<u8>,
    head: Oid,
    tree: Oid,
    /// Every file that its `HEAD` tracks, from the top.
    tracked: BTreeSet<Vec<u8>>,
}

impl Submodules {
    pub(super) fn new(within: &Within, out: &Path, mirror: &Path) -> Self {
        Self {
            within: within.clone(),
            out: out.to_owned(),
            mirror: mirror.to_owned(),
            met: Vec::new(),
        }
    }

    /// One of the base's submodules has files.
    pub(super) fn met(&mut self, path: &[u8], dir: &Path) {
        let found = GitDir::at(dir, &self.within).and_then(|own| self.read_submodule(path, &own));
        self.met.extend(found);
    }

    fn read_submodule(&self, path: &[u8], own: &GitDir) -> Option<Submodule> {
        let head = own.head()?.git2();
        let mut objects = Objects::open(&self.out, &self.mirror).ok()?;
        objects.borrow(own).ok()?;
        let tree = objects.repo.find_commit(head).ok()?.tree().ok()?;
        let mut tracked = BTreeSet::new();
        let walked = walk(&objects.repo, &tree, |below, _, _| {
            tracked.insert([path, b"/", below].concat());
            match tracked.len() > CHANGED {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        walked.ok().filter(|()| tracked.len() <= CHANGED)?;
        Some(Submodule {
            path: path.to_vec(),
            head,
            tree: tree.id(),
            tracked,
        })
    }

    /// Whether a path, or something below it, is a submodule's.
    pub(super) fn tracks(&self, path: &[u8]) -> bool {
        self.met.iter().any(|one| {
            let inside = path.strip_prefix(one.path.as_slice());
            let inside = inside.is_some_and(|rest| rest.first() == Some(&b'/'));
            let below = [path, b"/"].concat();
            let first = one.tracked.range(below.clone()..).next();
            let holds = first.is_some_and(|first| first.starts_with(&below));
            inside && (holds || one.tracked.contains(path))
        })
    }

    /// Puts the names of commits back where the files say the same; the tree.
    pub(super) fn put_back(&self, objects: &Objects, tree: Oid) -> Result<Oid, String> {
        let said = |error: git2::Error| error.message().to_owned();
        let top = objects.repo.find_tree(tree).map_err(said)?;
        let same = |one: &&Submodule| {
            let here = top.get_path(&path_of(&one.path));
            here.is_ok_and(|here| here.id() == one.tree)
        };
        let mut edits = Edits::default();
        for one in self.met.iter().filter(same) {
            edits.put((one.path.clone(), one.head, LINK));
        }
        edits.write(&objects.repo, Some(tree)).map_err(said)
    }
}
