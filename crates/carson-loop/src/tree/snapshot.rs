//! A tree as it is at one time.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::Entry;
use super::path::TreePath;
use super::stat::Print;
use crate::digest::{Digest, Hasher};

/// A tree as it was when it was looked at.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(super) entries: BTreeMap<TreePath, Known>,
    pub(super) missed: Vec<Missed>,
    /// Where a `.git` stands, whatever it is: none of them is an entry of a tree.
    pub(super) repositories: BTreeSet<TreePath>,
    /// When the look began, in nanoseconds since 1970.
    pub(super) looked_at: i64,
}

/// An entry with what the system said of it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub entry: Entry,
    pub print: Option<Print>,
}

/// Something that a snapshot does not have, or not all of, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Where.
    pub path: TreePath,
    /// Why.
    pub why: String,
}

impl Snapshot {
    /// One that was written down.
    #[must_use]
    pub fn of_entries(entries: impl IntoIterator<Item = (TreePath, Entry)>) -> Self {
        let known = |(path, entry)| (path, Known { entry, print: None });
        Self {
            entries: entries.into_iter().map(known).collect(),
            ..Self::default()
        }
    }

    /// The same of a tree of which these were not looked at.
    #[must_use]
    pub fn missing(self, missed: Vec<Missed>) -> Self {
        Self { missed, ..self }
    }

    /// What stands where, in the order of the paths.
    pub fn entries(&self) -> impl Iterator<Item = (&TreePath, &Entry)> {
        self.entries
            .iter()
            .map(|(path, known)| (path, &known.entry))
    }

    /// What stands at a path.
    #[must_use]
    pub fn get(&self, path: &TreePath) -> Option<&Entry> {
        self.entries.get(path).map(|known| &known.entry)
    }

    /// Whether it has anything in a directory.
    #[must_use]
    pub fn holds(&self, dir: &TreePath) -> bool {
        // Names that go on with a letter before `/`, such as `a-b` beside `a`, stand between.
        let first = TreePath::in_dir(Some(dir), b"\0");
        let next = self.entries.range(first..).next();
        next.is_some_and(|(path, _)| path.is_in(dir))
    }

    /// How many entries it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What it does not have.
    #[must_use]
    pub fn missed(&self) -> &[Missed] {
        &self.missed
    }

    /// Where a `.git` stands: at its top, and in the repositories in it. What is in them it does not have.
    #[must_use]
    pub fn repositories(&self) -> &BTreeSet<TreePath> {
        &self.repositories
    }

    /// The same for equal trees, and for no others: of paths, kinds, modes, contents and targets.
    #[must_use]
    pub fn hash(&self) -> Digest {
        let mut hasher = Hasher::default();
        for (path, entry) in self.entries() {
            hasher.part(path.as_bytes());
            entry.hash_into(&mut hasher);
        }
        hasher.end()
    }
}
