//! What was there before any session and is nobody's work: what a setup left in a copy, and files of the operator's.
//!
//! Such a setup runs in the workspace itself, before any session, and what it leaves there and git does not
//! ignore is nobody's work. Its files are noted in an index of their own (`note_residue.rs`): what a later look finds as
//! it is there is passed over, unless the session tracks it. At the paths of the operator's files (`include`) whatever lies
//! there is passed over so: tests write to them, and they are private.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use git2::{Index, IndexEntry, Oid};

use super::stat;

/// The note of it, among those of how a worktree began.
pub(crate) const RESIDUE: &str = "residue";

/// The commits of repositories inside that the setup left, one in a line.
pub(crate) fn commits_beside(residue: &Path) -> PathBuf {
    residue.with_extension("commits")
}

/// The paths at which files of the operator's lie, each with a zero behind it.
pub(crate) fn given_beside(residue: &Path) -> PathBuf {
    residue.with_extension("given")
}

fn given(residue: &Path) -> HashSet<Vec<u8>> {
    let all = fs::read(given_beside(residue)).unwrap_or_default();
    let paths = all.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.map(<[u8]>::to_vec).collect()
}

/// Those that were noted.
pub(super) fn commits(residue: &Path) -> HashSet<Oid> {
    let text = fs::read_to_string(commits_beside(residue)).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// What lies there at a path, as it was when the setup had ended, and where the operator's files are.
#[derive(Default)]
pub(super) struct Residue {
    entries: HashMap<Vec<u8>, IndexEntry>,
    /// Files that changed after this are hashed; `None`: all of them.
    trusted: Option<(i64, i64)>,
    given: HashSet<Vec<u8>>,
}

impl Residue {
    /// Reads the note at `file`; without one, or where a power cut left half of one, nothing is known.
    pub(super) fn read(file: &Path, tree: &Path) -> Self {
        let given = given(file);
        let written = fs::metadata(file).ok();
        let Some((written, index)) = written.zip(Index::open(file).ok()) else {
            return Self {
                given,
                ..Self::default()
            };
        };
        let entries = index.iter().map(|entry| (entry.path.clone(), entry));
        Self {
            entries: entries.collect(),
            trusted: stat::times_are_kept(tree).then(|| stat::before(&written)),
            given,
        }
    }

    /// Whether nobody has touched the file at this path since, or it is the operator's.
    pub(super) fn is_untouched(&self, path: &[u8], found: &fs::Metadata) -> bool {
        if self.given.contains(path) {
            return true;
        }
        let noted = self.entries.get(path).zip(self.trusted);
        noted.is_some_and(|(entry, before)| stat::is_same(entry, found, before))
    }

    /// Whether the setup left this at this path.
    pub(super) fn has(&self, path: &[u8], oid: Oid, mode: u32) -> bool {
        let noted = self.entries.get(path);
        noted.is_some_and(|entry| entry.id == oid && entry.mode == mode)
    }
}
