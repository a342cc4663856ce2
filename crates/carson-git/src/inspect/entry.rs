//! Entries of an index.

use git2::{IndexEntry, IndexTime, Oid};

/// Mode of an entry that is the name of a commit: a submodule, or a repository of its own.
pub(super) const LINK: u32 = 0o160_000;
/// Mode of a symbolic link.
pub(super) const SYMLINK: u32 = 0o120_000;

/// An entry of an index: path, object, mode.
pub(super) type Entry = (Vec<u8>, Oid, u32);

/// A file that is to be hashed.
pub(super) struct Changed {
    /// Where it lies, from the top.
    pub path: Vec<u8>,
    /// Where it is kept, if not there.
    pub kept: Option<Vec<u8>>,
    pub mode: u32,
    pub size: u64,
}

/// An entry without stat data.
pub(super) fn bare(path: &[u8], oid: Oid, mode: u32) -> IndexEntry {
    IndexEntry {
        ctime: IndexTime::new(0, 0),
        mtime: IndexTime::new(0, 0),
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id: oid,
        flags: 0,
        flags_extended: 0,
        path: path.to_vec(),
    }
}
