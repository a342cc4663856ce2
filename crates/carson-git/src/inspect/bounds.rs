//! How much of a session's files is looked at. Beyond, the bench stays where it is, and says why.

/// Refs and entries of logs that are read.
pub(super) const NAMES: usize = 50_000;
/// Commits that the session moved away from and that are still kept.
pub(super) const REMEMBERED: usize = 1_000;
/// Commits before one that does not come in of which the newest that does is taken.
pub(super) const OLDER: usize = 20;
/// Branches of a session's own, with commits that are not in the base, that are looked at.
pub(super) const BRANCHES: usize = 50;
/// Newest commits of the work in which copies of others are looked for.
pub(super) const COPIES: usize = 50;
/// Bytes of a file of packed refs.
pub(super) const PACKED_REFS: u64 = 16 << 20;
/// Bytes of a log, from its end.
pub(super) const LOG: u64 = 4 << 20;
/// Bytes of the session's index. What is larger says nothing: it is read into memory.
pub(super) const INDEX: u64 = 256 << 20;
/// Packs of a session, in one of its repositories.
pub(super) const PACKS: usize = 200;
/// Time in which all of them are indexed anew.
pub(super) const INDEXING: std::time::Duration = std::time::Duration::from_secs(25);
/// Object files whose names are looked at.
pub(super) const OBJECT_FILES: usize = 1_000_000;
/// Objects that are taken over.
pub(super) const OBJECTS: usize = 1_000_000;
/// Commits that are taken over.
pub(super) const COMMITS: usize = 20_000;
/// Bytes of all objects that are taken over, unpacked.
pub(super) const BYTES: u64 = 4 << 30;
/// Bytes of one of them: it is read into memory.
pub(super) const OBJECT: u64 = 512 << 20;
/// Bytes of a commit or tag.
pub(super) const COMMIT: u64 = 4 << 20;
/// Bytes of a tree.
pub(super) const TREE: u64 = 64 << 20;
/// Trees in trees.
pub(super) const DEPTH: usize = 500;
/// Files and directories of a worktree.
pub(super) const ENTRIES: usize = 2_000_000;
/// Bytes of a path; the system takes no longer one.
pub(super) const PATH: usize = 4_000;
/// Bytes of all paths of a worktree, or of a change: each is held several times.
pub(super) const PATHS: usize = 96 << 20;
/// Files that only ignore rules of the session's own hide and that are kept.
pub(super) const HIDDEN: usize = 1_000;
/// Bytes of all of them.
pub(super) const HIDDEN_BYTES: u64 = 32 << 20;
/// Files and directories among which second worktrees are looked for that were moved.
pub(super) const ASIDE: usize = 20_000;
/// Second worktrees of a session's that are looked at.
pub(super) const SECOND_WORKTREES: usize = 50;
/// Repositories inside a worktree.
pub(super) const REPOSITORIES: usize = 2_000;
/// Of these, so many are read together.
pub(super) const TOGETHER: usize = 100;
/// Paths that a change may have before nobody lists, shows or checks them out any more.
pub(super) const CHANGED: usize = 200_000;
/// Things that are wrong and said one by one.
pub(super) const TROUBLE: usize = 20;
/// Letters of each.
pub(super) const TROUBLE_LETTERS: usize = 400;
