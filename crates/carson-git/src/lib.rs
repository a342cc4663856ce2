//! Mirrors, worktrees, snapshots, salvage.
//!
//! # Theory of operation
//!
//! Carson never works in the operator's checkout. It keeps a bare clone of each repository, the
//! [`Mirror`]; what the remote has lies under `refs/remotes/origin/*`. Beside it lies a second one that
//! no session sees, [`Kept`]: the firings' own branches under `refs/heads/carson/*`, and kept work under
//! `refs/carson/salvage/*`. A firing gets a repository of its own that borrows the mirror's objects
//! (`private.rs`), and a throwaway [`Worktree`] of that. The mirror may be read-only for the session.
//!
//! libgit2 *reads and judges* (refs, ancestry, blobs); the `git` program *writes*, through the one
//! wrapper in `git.rs`: fixed overrides, no hooks, no prompts, a deadline on every call. libgit2
//! runs no filters, so a tree it wrote could hold content that git would not.
//!
//! Nothing that a session could write is trusted. Neither git nor libgit2 ever opens its
//! repository: names of commits are read as text from plain files (`inspect/git_dir.rs`), object
//! files through a directory of links to them (`inspect/objects.rs`), and they come into the store
//! as one pack that git names anew and checks (`inspect/export.rs`). What is known of a worktree
//! begins with that ([`Worktree::inspect`], `seen.rs`); this firing's branch follows the session's,
//! and no other ref moves. What would block git in there, pipes above all, is never shown to it: we
//! walk ourselves, and it hashes plain files by name (`inspect/files.rs`). Without a kernel layer
//! the mirror is within a session's reach by its path: its `config` is put right before every
//! command (`config.rs`).
//!
//! A [`snapshot`] is made with an index file of our own, so a lock that a killed tool left behind
//! does not matter. The work is the commit that has all others of the session in its history, on
//! whatever branch it was made (`inspect/work.rs`). It takes up what is staged, what is changed, and what is untracked but not
//! ignored (`inspect/files.rs`), and it joins commits on which HEAD strayed away from the branch. A
//! repository inside the worktree comes in as ordinary files, and commits that only it has are
//! kept under `refs/carson/nested/*` (`inspect/nested_repos.rs`).
//!
//! [`Seen::is_salvaged`] is the only gate to removal: the files must equal a saved tree, the
//! branch must be at its base, pushed, or under a kept ref, and whatever could not be taken up
//! keeps the directory where it is. Commits that the session amended, reset away, stashed or left
//! on other branches are kept under `refs/carson/abandoned/*` when its repository goes
//! (`unreferenced_commits.rs`).
//!
//! What is not guaranteed: a process that still writes while a snapshot is made can be seen half
//! way (the gate looks again before anything is removed).
//!
//! Reading order: `mirror.rs`, `push.rs`, `private.rs`, `worktree.rs`, `seen.rs`, `inspect/`,
//! `snapshot.rs`, `signed.rs`, `salvaged.rs`.
//!
//! [`snapshot`]: Seen::snapshot

mod bare;
mod beside;
mod branch;
mod changed_since;
mod cited;
mod clone_tree;
mod cloned;
mod config;
mod dated;
mod durable;
mod empty_room;
mod error;
mod file_at;
mod following;
mod force;
mod git;
mod heads;
mod idle_ref;
mod ignore_pattern;
mod inspect;
mod kept;
mod landed;
mod layered;
mod many_files;
mod merging;
mod mirror;
mod named;
mod newest;
mod nothing_new;
mod oid;
mod own_commit;
mod paths;
mod private;
mod push;
mod racy;
mod ref_change;
mod remote;
mod removal;
mod reverting;
mod room;
mod salvaged;
mod scratch;
mod seen;
mod setting_up;
mod signed;
mod skeleton;
mod snapshot;
mod stale;
mod stat_data;
mod tidy;
mod timeouts;
mod torn;
mod touched;
mod tree_walk;
mod unreferenced_commits;
mod version;
mod worktree;

#[cfg(test)]
mod fixture;

pub use branch::{branch_name, is_protected};
pub use cited::{Cited, FileNow};
pub use clone_tree::{can_clone, clone_tree};
pub use config::config_value;
pub use durable::file_system_of;
pub use empty_room::EmptyRoom;
pub use error::GitError;
pub use file_at::{AtPath, FileAt};
pub use git::program;
pub use heads::{Heads, origin_of};
pub use idle_ref::IdleRef;
pub use ignore_pattern::ignore_pattern;
pub use inspect::changed_tests::{ChangedTest, TestPart, TestRun, TestRunner};
pub use inspect::changes::{CI_LISTED, Change, UNCOMMITTED};
pub use inspect::diff::{Shown, Unshown};
pub use inspect::drift::Drift;
pub use inspect::outgoing::{Brought, Part, next_brought};
pub use inspect::questions;
pub use inspect::strip_setup::{Left, strip_setup};
pub use inspect::touched::Touched;
pub use kept::Kept;
pub use landed::{Landed, Offered, Worded};
pub use layered::{LAYER_BELOW, LAYER_BYTES, LAYER_INDEX, LAYER_TREE, Layered};
pub use merging::{Changed, Sides};
pub use mirror::Mirror;
pub use named::name_of;
pub use oid::Oid;
pub use own_commit::OwnCommit;
pub use private::{HOME, REPOSITORY, TEMPORARY};
pub use push::{Deleted, Pushed};
pub use remote::{Credential, Remote};
pub use removal::{remove_tree, remove_tree_after, remove_trees};
pub use reverting::TakenBack;
pub use room::Ground;
pub use salvaged::Salvaged;
pub use seen::{Seen, TreeFacts};
pub use setting_up::setup_runs_in;
pub use signed::{Signer, sign};
pub use version::{MINIMUM, check_version, is_new_enough};
pub use worktree::Worktree;
