//! Mirrors, worktrees, snapshots, salvage.
//!
//! # Theory of operation
//!
//! Carson never works in the operator's checkout. It keeps a bare clone of each repository, the
//! [`Mirror`]; what the remote has lies under `refs/remotes/origin/*`, the firings' own branches
//! under `refs/heads/carson/*`, and kept work under `refs/carson/salvage/*`. A firing gets a
//! throwaway [`Worktree`] of the mirror.
//!
//! libgit2 *reads and judges* (refs, ancestry, blobs); the `git` program *writes*, through the one
//! wrapper in `git.rs`: fixed overrides, no hooks, no prompts, a deadline on every call. libgit2
//! runs no filters, so a tree it wrote could hold content that git would not.
//!
//! Nothing in the worktree is trusted, least of all its `.git` file: every command names the
//! mirror as its git directory and the worktree's path as its work tree. The mirror's own `config`
//! is within a session's reach too; it is put right before every command (`config.rs`).
//!
//! A [`snapshot`] is made with an index file of our own, so a lock that a killed tool left behind
//! does not matter. It takes up what is staged, what is changed, and what is untracked but not
//! ignored (`take.rs`), and it joins commits on which HEAD strayed away from the branch. A
//! repository inside the worktree comes in as ordinary files, and commits that only it has are
//! fetched to `refs/carson/nested/*` (`nested.rs`).
//!
//! [`Worktree::is_salvaged`] is the only gate to removal: the files must equal a saved tree, the
//! branch must be at its base, pushed, or under a kept ref, and whatever could not be taken up
//! keeps the directory where it is. Commits that the session amended or reset away are kept under
//! `refs/carson/abandoned/*` when git's log of them goes with the worktree (`admin.rs`).
//!
//! What is not guaranteed: a process that still writes while a snapshot is made can be seen half
//! way (the gate looks again before anything is removed), and until the kernel layer confines
//! sessions, one that means harm can write into the mirror's object store.
//!
//! Reading order: `mirror.rs`, `push.rs`, `worktree.rs`, `snapshot.rs`, `take.rs`, `salvaged.rs`.
//!
//! [`snapshot`]: Worktree::snapshot

mod admin;
mod branch;
mod config;
mod error;
mod git;
mod index;
mod mirror;
mod nested;
mod oid;
mod outgoing;
mod push;
mod remote;
mod salvaged;
mod scratch;
mod snapshot;
mod take;
mod version;
mod worktree;

#[cfg(test)]
mod fixture;

pub use branch::{branch_name, is_protected, matches};
pub use error::GitError;
pub use mirror::Mirror;
pub use oid::Oid;
pub use outgoing::{Brought, Outgoing, Part};
pub use push::Pushed;
pub use remote::{Credential, Remote};
pub use salvaged::Salvaged;
pub use version::{MINIMUM, check_version};
pub use worktree::{DiffText, TreeFacts, Worktree};
