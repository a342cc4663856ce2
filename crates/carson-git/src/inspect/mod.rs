//! What runs in the inspector: everything that reads what a session wrote.
//!
//! # Theory of operation
//!
//! A firing, `prune` and the daemon's recovery never read a bench. They ask one [`Look`](look::Look)
//! a session, and a confined child ([`carson_proc::inspector`]) answers it from what it sees: the
//! bench, the mirror's objects, and Carson's own notes of how the bench began. What it takes over
//! lies in its own directory afterwards, as one pack whose every object has been named anew and
//! checked.
//!
//! Even here nothing that a session chose is run or obeyed. Names of commits are read as text from
//! plain files (`git_dir.rs`). The session's objects are read by libgit2 through a directory of
//! links that has nothing but object files in it (`objects.rs`); no configuration, alternates,
//! grafts, commit graphs or hooks of a session are. The files of the worktree are walked by
//! ourselves (`files.rs`): a repository inside is a directory like any other, its `.git` is left
//! out, and git is given the names of plain files to hash, one by one. What changed is judged by
//! Carson's own copy of the index, never by the session's: its stat data can be written by hand.
//!
//! Every walk is bounded by entries, bytes and depth ([`bounds`]); what is beyond is said
//! ([`look::Found::trouble`]), and the bench stays where it is.
//!
//! Reading order: `look.rs`, `git_dir.rs`, `objects.rs`, `gather.rs`, `staged.rs`, `residue.rs`, `files.rs`, `edited_tree.rs`, `note_residue.rs`, `sieve.rs`,
//! `lower.rs`, `work.rs`, `nested_repos.rs`, `second_worktrees.rs`, `export.rs`, `changes.rs`, `diff.rs`, `drift.rs`, `changed_tests.rs`; then `checkout.rs`, `open_up.rs`,
//! `remove.rs`, `strip_setup.rs`; `touched.rs` alone is asked while a session works.

use carson_proc::inspector::Kind;

mod bounds;
pub(crate) mod changed_tests;
pub(crate) mod changes;
pub(crate) mod checkout;
mod closing;
pub(crate) mod diff;
pub(crate) mod drift;
mod edited_tree;
mod entry;
mod export;
mod files;
mod found;
mod gather;
mod generated;
mod git_dir;
mod hash;
mod ignored;
pub(crate) mod look;
mod lower;
mod nested_repos;
pub(crate) mod note_residue;
mod objects;
pub(crate) mod open_up;
pub(crate) mod outgoing;
pub(crate) mod remove;
pub(crate) mod residue;
mod safe_read;
mod second_worktrees;
mod sieve;
mod staged;
mod stat;
pub(crate) mod strip_setup;
mod submodules;
pub(crate) mod touched;
mod tree_diff;
mod work;

/// The questions about benches that an executable must be able to answer.
#[must_use]
pub fn questions() -> [Kind; 8] {
    [
        Kind::of::<look::Look>(),
        Kind::of::<checkout::Checkout>(),
        Kind::of::<open_up::OpenUp>(),
        Kind::of::<remove::Remove>(),
        Kind::of::<note_residue::NoteResidue>(),
        Kind::of::<strip_setup::Strip>(),
        Kind::of::<strip_setup::ShowsBase>(),
        Kind::of::<touched::LastTouched>(),
    ]
}
