//! The names in a git index. Nothing else of it is read, and no git runs.

use std::collections::BTreeSet;
use std::path::Path;

use super::git_dir::{GitDir, read_plain};
use super::index_file::Index;

/// Bytes of an index: ten million files are less.
const INDEX: u64 = 1 << 30;

/// Every path that the index of a repository has, from the top of its work tree. What cannot be read has
/// none: then ignore rules count for all files.
#[must_use]
pub(crate) fn tracked(git: &GitDir) -> BTreeSet<Vec<u8>> {
    let Some(index) = of(&git.index()) else {
        return BTreeSet::new();
    };
    let shared = index.shared.clone();
    let mut paths = index.into_paths();
    if let Some(shared) = shared {
        // What the split index takes out of the shared one stays in here: it is there no more, or it
        // counts where it need not.
        let shared = of(&git.dir.join(format!("sharedindex.{shared}")));
        paths.extend(shared.map(Index::into_paths).unwrap_or_default());
    }
    paths.remove(b"".as_slice());
    paths
}

fn of(path: &Path) -> Option<Index> {
    Index::of(&read_plain(path, INDEX).ok()??)
}
